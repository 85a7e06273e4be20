// SPDX-License-Identifier: Apache-2.0
//
// com.microsoft::Inverse: the inverses of square matrices, by elimination with partial pivoting.
// float16 is computed in float. The first of equal candidates is the pivot; products are rounded
// before they are subtracted, so that every device meets the same pivots. What becomes of a
// singular matrix is an option of the session (intarsia/services.h). Work units are matrices.
#include <cmath>
#include <limits>
#include <utility>

#include "core/kernel_list.h"
#include "core/operators/linear_algebra/inverse.h"
#include "core/runtime/operand_check.h"
#include "intarsia/per_thread.h"
#include "intarsia/services.h"
#include "kernels_cpu/common/first_failure.h"
#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {
namespace {

template <class T>
using Accumulator = typename Element<T>::Value;

int64_t order_of(const TensorView& matrices) {
  return matrices.rank < 2 ? 0 : matrices.extents[matrices.rank - 1];
}

/// Two square matrices: what is left of the input, and what becomes the inverse.
template <class T>
CheckedInt bytes_per_thread(const KernelContext& context) {
  const CheckedInt order = order_of(context.input(0));
  return order * order * 2 * sizeof(Accumulator<T>);
}

template <class A>
void swap_rows(A* matrix, int64_t n, int64_t i, int64_t k) {
  for (int64_t j = 0; j < n; ++j) std::swap(matrix[i * n + j], matrix[k * n + j]);
}

/// row_i -= factor * row_k
template <class A>
void eliminate(A* matrix, int64_t n, int64_t i, int64_t k, int64_t begin, A factor) {
  A* to = matrix + i * n;
  const A* from = matrix + k * n;
  INTARSIA_INDEPENDENT
  for (int64_t j = begin; j < n; ++j) to[j] -= factor * from[j];
}

/// Turns `a` into an upper triangle and the identity `b` into the inverse of what `a` was; false if
/// a pivot is 0.
template <class A>
bool invert(A* a, A* b, int64_t n) {
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; ++i) {
      if (std::fabs(a[i * n + k]) > std::fabs(a[pivot * n + k])) pivot = i;
    }
    if (a[pivot * n + k] == A(0)) return false;
    if (pivot != k) {
      swap_rows(a, n, pivot, k);
      swap_rows(b, n, pivot, k);
    }
    for (int64_t i = k + 1; i < n; ++i) {
      const A factor = a[i * n + k] / a[k * n + k];
      if (factor == A(0)) continue;
      eliminate(a, n, i, k, k + 1, factor);
      eliminate(b, n, i, k, 0, factor);
    }
  }
  for (int64_t k = n; k-- > 0;) {
    for (int64_t j = 0; j < n; ++j) b[k * n + j] /= a[k * n + k];
    for (int64_t i = 0; i < k; ++i) eliminate(b, n, i, k, 0, a[i * n + k]);
  }
  return true;
}

/// Inverts one matrix from `x` to `y` in scratch memory; NaN where there is no inverse.
template <class T>
bool invert_one(Isa isa, const T* x, T* y, int64_t n, Accumulator<T>* scratch) {
  using A = Accumulator<T>;
  A* a = scratch;
  A* b = scratch + n * n;
  for (int64_t i = 0; i < n * n; ++i) {
    a[i] = static_cast<A>(x[i]);
    b[i] = i / n == i % n ? A(1) : A(0);
  }
  bool regular = false;
  on_isa(isa, [&] { regular = invert(a, b, n); });
  for (int64_t i = 0; i < n * n; ++i) {
    y[i] = static_cast<T>(regular ? b[i] : std::numeric_limits<A>::quiet_NaN());
  }
  return regular;
}

SingularMatrix choice_of(const KernelContext& context) {
  const auto* choice = static_cast<const SingularMatrix*>(context.service(kSingularMatrixService));
  return choice != nullptr ? *choice : SingularMatrix::kFail;
}

template <class T>
struct Inverse {
  static constexpr KernelId id{"com.microsoft:Inverse", "", {kernel_type_of<T>}};

  static int64_t workspace(const KernelContext& context) {
    return (bytes_per_thread<T>(context) * context.threads()).value();
  }

  static Status check(const KernelContext& context) {
    constexpr KernelType t = kernel_type_of<T>;
    const OperandTypes types{.inputs = {t}, .outputs = {t}};
    if (Status status = check_operands<ops::Inverse>(context, types); !status) return status;
    return check_workspace(context, workspace(context));
  }

  static Status run(const KernelContext& context) {
    const TensorView& x = context.input(0);
    const int64_t n = order_of(x);
    if (x.count() == 0) return {};
    const int64_t count = x.count() / (n * n);
    FirstFailure singular;
    const PerThread<Accumulator<T>> memory(context.workspace(), context.threads(), 2 * n * n);
    context.parallel_for(count, [&](int64_t begin, int64_t end, int thread) {
      Accumulator<T>* scratch = memory[thread];
      for (int64_t i = begin; i < end; ++i) {
        const int64_t at = i * n * n;
        T* y = context.output(0).as<T>() + at;
        if (!invert_one(context.isa(), x.as<const T>() + at, y, n, scratch)) singular.note(i);
      }
    });
    if (!singular.any() || choice_of(context) == SingularMatrix::kFillNan) return {};
    return context.fail(Code::kInvalidValue, "matrix {} is singular", 0, singular.index(), 0);
  }
};

}  // namespace

extern const KernelList inverse_kernels;
constinit const KernelList inverse_kernels =
    kernel_list<Each<Inverse, Types<float, double, Float16>>>();

}  // namespace intarsia::cpu
