// SPDX-License-Identifier: Apache-2.0
//
// Det: the determinants of square matrices, by elimination with partial pivoting in double. Work
// units are matrices. A matrix without rows has the determinant 1.
// Specification: https://onnx.ai/onnx/operators/onnx__Det.html
#include <cmath>
#include <utility>

#include "core/kernel_list.h"
#include "core/operators/linear_algebra/inverse.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {
namespace {

/// Overwrites `a` with an upper triangle.
double determinant(double* a, int64_t n) {
  double product = 1;
  for (int64_t k = 0; k < n; ++k) {
    int64_t pivot = k;
    for (int64_t i = k + 1; i < n; ++i) {
      if (std::fabs(a[i * n + k]) > std::fabs(a[pivot * n + k])) pivot = i;
    }
    if (a[pivot * n + k] == 0) return 0;
    if (pivot != k) {
      for (int64_t j = k; j < n; ++j) std::swap(a[pivot * n + j], a[k * n + j]);
      product = -product;
    }
    product *= a[k * n + k];
    for (int64_t i = k + 1; i < n; ++i) {
      const double factor = a[i * n + k] / a[k * n + k];
      for (int64_t j = k + 1; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
    }
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
    const int64_t n = x.extents[x.rank - 1], size = n * n;
    const auto* from = x.as<const typename E::Stored>();
    auto* to = context.output(0).as<typename E::Stored>();
    context.parallel_for(context.output(0).count(), [&](int64_t begin, int64_t end, int thread) {
      double* a = reinterpret_cast<double*>(context.workspace().data()) + thread * size;
      for (int64_t matrix = begin; matrix < end; ++matrix) {
        for (int64_t i = 0; i < size; ++i) a[i] = E::load(from[matrix * size + i]);
        to[matrix] = E::store(static_cast<typename E::Value>(determinant(a, n)));
      }
    });
    return {};
  }
};

}  // namespace

extern const KernelList det_kernels;
constinit const KernelList det_kernels = kernel_list<Each<Det, Floats>>();

}  // namespace intarsia::cpu
