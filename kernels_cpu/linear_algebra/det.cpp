// SPDX-License-Identifier: Apache-2.0
//
// Det: the determinants of square matrices, by elimination with partial pivoting in double. Work
// units are matrices, or the rows of one if there are fewer matrices than threads. A matrix without
// rows has the determinant 1.
// Columns are eliminated and exchanged, as rows are what lies together: a determinant is that of
// the transposed matrix. Rows are taken in blocks: within a block one by one, from what lies below
// all at once (Golub and Van Loan, Matrix Computations, section 3.2.11).
// Specification: https://onnx.ai/onnx/operators/onnx__Det.html
#include <algorithm>
#include <cmath>

#include "core/kernel_list.h"
#include "core/operators/linear_algebra/inverse.h"
#include "core/runtime/operand_check.h"
#include "intarsia/per_thread.h"
#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/common/unrolled.h"
#include "kernels_cpu/gemm/vector.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {
namespace {

constexpr int64_t kBlock = 8;  // rows

/// Rows [begin, end), at most kBlock, of a matrix of n by n, of which those before are done.
struct Block {
  double* a;
  int64_t n, begin, end;
  int64_t pivots[kBlock] = {};  // the column that each row's was exchanged with

  double* row(int64_t i) const { return a + i * n; }

  /// x[i] -= factor * y[i] for columns [first, n).
  INTARSIA_INLINE void subtract(double* x, double factor, const double* y, int64_t first) const {
    const int64_t columns = n;
    INTARSIA_INDEPENDENT
    for (int64_t j = first; j < columns; ++j) x[j] -= factor * y[j];
  }

  /// Leaves in each row, right of its pivot, the factors of its columns. Gives the product of the
  /// pivots, 0 if a row has none.
  INTARSIA_INLINE double factor() {
    double product = 1;
    for (int64_t k = begin; k < end; ++k) {
      double* const own = row(k);
      int64_t pivot = k;
      double most = std::fabs(own[k]);
      for (int64_t j = k + 1; j < n; ++j) {
        const double size = std::fabs(own[j]);
        if (size > most) {
          most = size;
          pivot = j;
        }
      }
      pivots[k - begin] = pivot;
      if (own[pivot] == 0) return 0;
      if (pivot != k) product = -product;
      for (int64_t i = begin; pivot != k && i < end; ++i) std::swap(row(i)[k], row(i)[pivot]);
      const double by = own[k];
      product *= by;
      const int64_t columns = n;
      INTARSIA_INDEPENDENT
      for (int64_t j = k + 1; j < columns; ++j) own[j] /= by;
      for (int64_t i = k + 1; i < end; ++i) subtract(row(i), row(i)[k], own, k + 1);
    }
    return product;
  }

  /// Eliminates the block, a whole one, from rows [first, last) below it: an element is read once
  /// for all of its rows.
  INTARSIA_INLINE void update(int64_t first, int64_t last) const {
    const int64_t columns = n, right = end;
    const double* const from = row(begin);
    for (int64_t i = first; i < last; ++i) {
      double* const to = row(i);
      double factors[kBlock];
      for (int64_t k = 0; k < kBlock; ++k) std::swap(to[begin + k], to[pivots[k]]);
      for (int64_t k = 0; k < kBlock; ++k) factors[k] = to[begin + k];
      for (int64_t k = 0; k < kBlock; ++k) {
        for (int64_t j = k + 1; j < kBlock; ++j) {
          factors[j] -= factors[k] * from[k * columns + begin + j];
        }
      }
      INTARSIA_INDEPENDENT
      for (int64_t j = right; j < columns; ++j) {
        double x = to[j];
        INTARSIA_UNROLLED
        for (int64_t k = 0; k < kBlock; ++k) x -= factors[k] * from[k * columns + j];
        to[j] = x;
      }
    }
  }
};

/// Overwrites `a`. `share(count, body)` calls body(begin, end) for parts of [0, count).
template <class Share>
double determinant(Isa isa, double* a, int64_t n, const Share& share) {
  double product = 1;
  for (int64_t k = 0; k < n; k += kBlock) {
    Block block{a, n, k, n - k < kBlock ? n : k + kBlock};
    double pivots = 0;
    on_widest_isa(isa, [&] { pivots = block.factor(); });
    if (pivots == 0) return 0;
    product *= pivots;
    share(n - block.end, [&](int64_t begin, int64_t end) {
      on_widest_isa(isa, [&] { block.update(block.end + begin, block.end + end); });
    });
  }
  return product;
}

template <class T>
struct Det {
  static constexpr KernelId id{"Det", "", {kernel_type_of<T>}};

  static CheckedInt elements(const KernelContext& context) {
    const TensorView& x = context.input(0);
    const CheckedInt order = x.rank < 2 ? 0 : x.extents[x.rank - 1];
    return order * order;
  }
  static int64_t workspace(const KernelContext& context) {
    return (elements(context) * int64_t{sizeof(double)} * context.threads()).value();
  }
  static Status check(const KernelContext& context) {
    constexpr KernelType t = kernel_type_of<T>;
    Status status = check_operands<ops::Det>(context, {.inputs = {t}, .outputs = {t}});
    return status ? check_workspace(context, workspace(context)) : status;
  }
  static Status run(const KernelContext& context) {
    using E = Element<T>;
    const TensorView& x = context.input(0);
    const int64_t n = x.extents[x.rank - 1], size = n * n, count = context.output(0).count();
    const auto* from = x.as<const typename E::Stored>();
    auto* to = context.output(0).as<typename E::Stored>();
    const PerThread<double> memory(context.workspace(), context.threads(), size);
    const auto compute = [&](int64_t matrix, int thread, const auto& share) {
      double* a = memory[thread];
      for (int64_t i = 0; i < size; ++i) a[i] = E::load(from[matrix * size + i]);
      to[matrix] =
          E::store(static_cast<typename E::Value>(determinant(context.isa(), a, n, share)));
    };
    if (count >= context.threads()) {
      context.parallel_for(count, [&](int64_t begin, int64_t end, int thread) {
        for (; begin < end; ++begin) {
          compute(begin, thread, [](int64_t rows, const auto& body) { body(0, rows); });
        }
      });
      return {};
    }
    for (int64_t i = 0; i < count; ++i) {
      compute(i, 0, [&](int64_t rows, const auto& body) {
        context.parallel_for(rows, [&](int64_t begin, int64_t end, int) { body(begin, end); });
      });
    }
    return {};
  }
};

}  // namespace

extern const KernelList det_kernels;
constinit const KernelList det_kernels = kernel_list<Each<Det, Floats>>();

}  // namespace intarsia::cpu
