// SPDX-License-Identifier: Apache-2.0
//
// Reduce* over any axes, and ArgMax and ArgMin over one, as on the CPU: Max and Min propagate NaN,
// no elements give the neutral element; of equal extremes the first counts, or the last if asked
// for. Floating-point types in float, in a fixed order.
//
// Where the axes are an input, which lies in device memory, they follow from the extents of input
// and output; nodes whose extents leave a choice are the CPU's.
// Specification: https://onnx.ai/onnx/operators/onnx__ReduceSum.html and its relatives
#pragma once

#include "core/operators/reduction/reduction.h"
#include "kernels_cuda/common/kernel.h"

namespace intarsia::cuda {

/// The axes that are reduced. Those of extent 1 count as kept: it makes no difference.
struct ReducedAxes {
  bool reduced[kMaxRank] = {};
  bool known = false;  ///< The extents admit them, and no others.

  ReducedAxes(const TensorView& x, const TensorView& y, bool keeps);
};

template <class Op, class T>
struct Reduce : DeviceKernel {
  static constexpr KernelId id{Op::name, kVariant, {data_type_of<T>}};
  static bool supports(const KernelContext& context) {
    const bool keeps = context.attributes<ReduceAttributes>().keepdims != 0;
    return ReducedAxes(context.input(0), context.output(0), keeps).known;
  }
  static Status check(const KernelContext& context) {
    constexpr KernelType t = data_type_of<T>;
    const OperandTypes types{.inputs = {t, DataType::kInt64}, .outputs = {t}};
    if (Status s = check_operand_types<ops::Reduce>(context, types); !s) return s;
    return supports(context)
               ? Status()
               : context.fail(Code::kUnsupported, "rank of a result that does not tell the axes", 0,
                              context.output(0).rank, context.input_count());
  }
  static Status run(const KernelContext& context);
};

template <class Op, class T>
struct ArgReduce : DeviceKernel {
  static constexpr KernelId id{Op::name, kVariant, {data_type_of<T>}};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

/// An Op's name; reduce.cu has the arithmetic.
struct ReduceL1Op {
  static constexpr std::string_view name = "ReduceL1";
};
struct ReduceL2Op {
  static constexpr std::string_view name = "ReduceL2";
};
struct ReduceLogSumOp {
  static constexpr std::string_view name = "ReduceLogSum";
};
struct ReduceLogSumExpOp {
  static constexpr std::string_view name = "ReduceLogSumExp";
};
struct ReduceMaxOp {
  static constexpr std::string_view name = "ReduceMax";
};
struct ReduceMeanOp {
  static constexpr std::string_view name = "ReduceMean";
};
struct ReduceMinOp {
  static constexpr std::string_view name = "ReduceMin";
};
struct ReduceProdOp {
  static constexpr std::string_view name = "ReduceProd";
};
struct ReduceSumOp {
  static constexpr std::string_view name = "ReduceSum";
};
struct ReduceSumSquareOp {
  static constexpr std::string_view name = "ReduceSumSquare";
};
struct ArgMaxOp {
  static constexpr std::string_view name = "ArgMax";
};
struct ArgMinOp {
  static constexpr std::string_view name = "ArgMin";
};

template <class Op, class T>
Status ArgReduce<Op, T>::check(const KernelContext& context) {
  if (Status s = check_operands<ops::ArgReduce>(
          context, {.inputs = {data_type_of<T>}, .outputs = {DataType::kInt64}});
      !s) {
    return s;
  }
  const TensorView &x = context.input(0), &y = context.output(0);
  if (x.count() == 0 && y.count() > 0) {
    return context.fail(Code::kWrongExtent, "extent of the axis to search", 1, 0, 0);
  }
  return {};
}

using ReduceOperators =
    Types<ReduceL1Op, ReduceL2Op, ReduceLogSumOp, ReduceLogSumExpOp, ReduceMaxOp, ReduceMeanOp,
          ReduceMinOp, ReduceProdOp, ReduceSumOp, ReduceSumSquareOp>;
using ReduceKernels =
    Join<EachPair<Reduce, ReduceOperators, Reals>,
         EachPair<Reduce, Types<ReduceMaxOp, ReduceMinOp, ReduceSumOp>, Types<int32_t, int64_t>>,
         EachPair<ArgReduce, Types<ArgMaxOp, ArgMinOp>, Reals>>;

}  // namespace intarsia::cuda
