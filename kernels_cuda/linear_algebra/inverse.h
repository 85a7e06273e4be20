// SPDX-License-Identifier: Apache-2.0
//
// com.microsoft Inverse: the inverse of each matrix of [..., n, n], by elimination with partial
// pivoting in shared memory; float16 computes in float. n is at most kLargest.
//
// A matrix is singular if a pivot is exactly zero at the precision of the elimination. Its result
// is NaN; what the session's run makes of it is an option (intarsia/services.h), as on the CPU.
#pragma once

#include "core/operators/linear_algebra/inverse.h"
#include "kernels_cuda/common/kernel.h"

namespace intarsia::cuda {

template <class T>
struct Inverse : DeviceKernel {
  static constexpr KernelId id{"com.microsoft:Inverse", kVariant, {data_type_of<T>}};
  /// Two matrices' worth of double fit a block's shared memory.
  static constexpr int kLargest = 48;

  static bool supports(const KernelContext& context) {
    const TensorView& x = context.input(0);
    return x.rank >= 2 && x.extents[x.rank - 1] <= kLargest;
  }
  static Status check(const KernelContext& context) {
    constexpr KernelType t = data_type_of<T>;
    const OperandTypes types{.inputs = {t}, .outputs = {t}};
    if (Status status = check_operands<ops::Inverse>(context, types); !status) return status;
    const int32_t order = context.input(0).extents[context.input(0).rank - 1];
    if (order > kLargest) {
      return context.fail(Code::kUnsupported, "extent of a matrix", kLargest, order, 0);
    }
    return {};
  }
  static Status run(const KernelContext& context);
};

using InverseKernels = Each<Inverse, Types<float, double, Float16>>;

}  // namespace intarsia::cuda
