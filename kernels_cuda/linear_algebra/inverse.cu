// SPDX-License-Identifier: Apache-2.0
//
// A block takes a matrix: it holds [A | I] in shared memory, and for each column swaps the row of
// the largest element into place, subtracts it from every other row, and scales it.
#include "kernels_cuda/linear_algebra/inverse.h"

#include <cmath>

#include "core/kernel_list.h"
#include "kernels_cuda/common/launch.h"
#include "kernels_cuda/common/report.h"

namespace intarsia::cuda {
namespace {

constexpr int kBlock = 128;

template <class T>
struct Computed {
  using Type = T;
};
template <>
struct Computed<Float16> {
  using Type = float;
};

template <class T>
INTARSIA_GLOBAL inverse_kernel(Global<const T> x, Global<T> y, int n,
                               Global<unsigned long long> report, int node) {
  using V = typename Computed<T>::Type;
  constexpr int kLargest = Inverse<T>::kLargest;
  INTARSIA_SHARED(V, left, kLargest * kLargest);   // A, in the end the identity
  INTARSIA_SHARED(V, right, kLargest * kLargest);  // the identity, in the end the inverse
  INTARSIA_SHARED(V, factors, kLargest);
  INTARSIA_SHARED(int, pivot_row, 1);
  const int thread = static_cast<int>(thread_x());
  const int64_t start = static_cast<int64_t>(block_x()) * n * n;
  for (int i = thread; i < n * n; i += kBlock) {
    left[i] = static_cast<V>(x[start + i]);
    right[i] = static_cast<V>(i / n == i % n ? 1 : 0);
  }
  sync_threads();
  bool singular = false;
  for (int k = 0; k < n; ++k) {
    if (thread == 0) {
      int best = k;
      V largest = left[k * n + k];
      largest = largest < 0 ? -largest : largest;
      for (int row = k + 1; row < n; ++row) {
        V size = left[row * n + k];
        size = size < 0 ? -size : size;
        if (size > largest) {
          best = row;
          largest = size;
        }
      }
      pivot_row[0] = best;
    }
    sync_threads();
    const int from = pivot_row[0];
    const V pivot = left[from * n + k];
    // Every thread sees the same pivot, so that all leave together.
    singular = pivot == static_cast<V>(0);
    if (singular) break;
    if (from != k) {
      sync_threads();
      for (int column = thread; column < n; column += kBlock) {
        const V a = left[k * n + column];
        const V b = right[k * n + column];
        left[k * n + column] = static_cast<V>(left[from * n + column]);
        right[k * n + column] = static_cast<V>(right[from * n + column]);
        left[from * n + column] = a;
        right[from * n + column] = b;
      }
      sync_threads();
    }
    for (int row = thread; row < n; row += kBlock) factors[row] = left[row * n + k] / pivot;
    sync_threads();
    // Columns of A up to this one are done with. Rounded as on the CPU, for the same pivots.
    for (int i = thread; i < n * n; i += kBlock) {
      const int row = i / n;
      const int column = i % n;
      if (row == k) continue;
      const V factor = factors[row];
      if (column > k) left[i] = left[i] - rounded_product(factor, left[k * n + column]);
      right[i] = right[i] - rounded_product(factor, right[k * n + column]);
    }
    sync_threads();
    for (int column = thread; column < n; column += kBlock) {
      if (column > k) left[k * n + column] = left[k * n + column] / pivot;
      right[k * n + column] = right[k * n + column] / pivot;
    }
  }
  sync_threads();
  if (singular && thread == 0) report_failure(report, node, block_x());
  for (int i = thread; i < n * n; i += kBlock) {
    y[start + i] = static_cast<T>(singular ? static_cast<V>(NAN) : static_cast<V>(right[i]));
  }
}

}  // namespace

template <class T>
Status Inverse<T>::run(const KernelContext& context) {
  const TensorView& x = context.input(0);
  const int64_t count = x.count();
  if (count == 0) return {};
  const int n = x.extents[x.rank - 1];
  return launched(context, launch<inverse_kernel<T>>(static_cast<unsigned>(count / n / n), kBlock,
                                                     stream_of(context), elements<T>(x),
                                                     writable<T>(context.output(0)), n,
                                                     report_of(context), context.node()));
}

extern const KernelList inverse_kernels;
constinit const KernelList inverse_kernels = kernel_list<InverseKernels>();

}  // namespace intarsia::cuda
