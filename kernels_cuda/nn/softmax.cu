// SPDX-License-Identifier: Apache-2.0
//
// A block takes a line: its threads share the elements, find the largest one, then the sum, each
// by shuffles within warps and shared memory between them.
#include "kernels_cuda/nn/softmax.h"

#include <cmath>

#include "core/kernel_list.h"
#include "kernels_cuda/common/launch.h"

namespace intarsia::cuda {
namespace {

constexpr int kBlock = 128;
constexpr int kWarps = kBlock / 32;

/// NaN counts as largest.
struct Larger {
  INTARSIA_DEVICE static float join(float a, float b) { return a > b || a != a ? a : b; }
};
struct Total {
  INTARSIA_DEVICE static float join(float a, float b) { return a + b; }
};

/// The values of all threads of the block joined in a fixed order; every thread gets the result.
/// A block calls it once for each Op, which has a part of shared memory of its own.
template <class Op>
INTARSIA_DEVICE float over_block(float value) {
  INTARSIA_SHARED(float, parts, kWarps);
  for (unsigned mask = 16; mask > 0; mask /= 2) value = Op::join(value, shuffle_xor(value, mask));
  if (thread_x() % 32 == 0) parts[thread_x() / 32] = value;
  sync_threads();
  value = parts[0];
  for (int warp = 1; warp < kWarps; ++warp) value = Op::join(value, parts[warp]);
  return value;
}

/// x is [outer][length][inner]; a line's elements are `inner` apart.
template <bool Logarithm>
INTARSIA_GLOBAL softmax_kernel(Global<const float> x, Global<float> y, int64_t length,
                               int64_t inner) {
  const int64_t line = block_x();
  const int64_t first = line / inner * length * inner + line % inner;
  float largest = -INFINITY;
  for (int64_t k = thread_x(); k < length; k += kBlock) {
    largest = Larger::join(largest, x[first + k * inner]);
  }
  largest = over_block<Larger>(largest);
  float sum = 0;
  for (int64_t k = thread_x(); k < length; k += kBlock) {
    sum += expf(x[first + k * inner] - largest);
  }
  sum = over_block<Total>(sum);
  const float log_sum = logf(sum);
  for (int64_t k = thread_x(); k < length; k += kBlock) {
    const int64_t at = first + k * inner;
    const float shifted = x[at] - largest;
    y[at] = Logarithm ? shifted - log_sum : expf(shifted) / sum;
  }
}

template <bool Logarithm>
Status run_softmax(const KernelContext& context) {
  const TensorView& x = context.input(0);
  if (x.count() == 0) return {};
  int axis = context.attributes<SoftmaxAttributes>().axis;
  if (axis < 0) axis += x.rank;
  int64_t length = 1, inner = 1;
  for (int i = 0; i < x.rank; ++i) {
    if (i == axis) length = x.extents[i];
    if (i > axis) inner *= x.extents[i];
  }
  const int64_t lines = x.count() / length;
  return launched(context, launch(static_cast<unsigned>(lines), kBlock, stream_of(context),
                                  softmax_kernel<Logarithm>, elements<float>(x),
                                  writable<float>(context.output(0)), length, inner));
}

}  // namespace

template <>
Status SoftmaxLike<SoftmaxOp>::run(const KernelContext& context) {
  return run_softmax<false>(context);
}

template <>
Status SoftmaxLike<LogSoftmaxOp>::run(const KernelContext& context) {
  return run_softmax<true>(context);
}

extern const KernelList softmax_kernels;
constinit const KernelList softmax_kernels = kernel_list<SoftmaxKernels>();

}  // namespace intarsia::cuda
