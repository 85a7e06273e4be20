// SPDX-License-Identifier: Apache-2.0
//
// Pooling, both layouts, computed in float: over windows of one or two spatial axes (ONNX MaxPool
// without Indices, AveragePool), and over all spatial axes (GlobalAveragePool, GlobalMaxPool).
#pragma once

#include "core/operators/nn/pool.h"
#include "kernels_cuda/common/kernel.h"

namespace intarsia::cuda {

/// An Op gives the ONNX name, the attributes and the shape rule; pool.cu has the arithmetic.
template <class Op, class T>
struct WindowPool : DeviceKernel {
  static constexpr KernelId id{Op::name, kVariant, {data_type_of<T>}};
  static bool supports(const KernelContext& context) {
    const int rank = context.input(0).rank;
    return (rank == 3 || rank == 4) && !context.output(1).present();
  }
  static Status check(const KernelContext& context) {
    if (Status status = check_operands<typename Op::Rule>(
            context, {.inputs = {data_type_of<T>}, .outputs = {data_type_of<T>}});
        !status) {
      return status;
    }
    return supports(context) ? Status()
                             : context.fail(Code::kUnsupported, "rank of a pooled input", 4,
                                            context.input(0).rank, 0);
  }
  static Status run(const KernelContext& context);
};

struct MaxPoolOp {
  static constexpr std::string_view name = "MaxPool";
  using Attributes = MaxPoolAttributes;
  using Rule = ops::MaxPool;
};
struct AveragePoolOp {
  static constexpr std::string_view name = "AveragePool";
  using Attributes = AveragePoolAttributes;
  using Rule = ops::AveragePool;
};

template <class Op, class T>
struct GlobalPool : DeviceKernel {
  static constexpr KernelId id{Op::name, kVariant, {data_type_of<T>}};
  static Status check(const KernelContext& context) {
    return check_operands<ops::GlobalPool>(
        context, {.inputs = {data_type_of<T>}, .outputs = {data_type_of<T>}});
  }
  static Status run(const KernelContext& context);
};

struct GlobalAverageOp {
  static constexpr std::string_view name = "GlobalAveragePool";
};
struct GlobalMaxOp {
  static constexpr std::string_view name = "GlobalMaxPool";
};

using WindowPoolKernels = EachPair<WindowPool, Types<MaxPoolOp, AveragePoolOp>, Reals>;
using GlobalPoolKernels = EachPair<GlobalPool, Types<GlobalAverageOp, GlobalMaxOp>, Reals>;

}  // namespace intarsia::cuda
