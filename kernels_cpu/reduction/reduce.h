// SPDX-License-Identifier: Apache-2.0
//
// Reduce*: y[kept] = finish(sum over the reduced axes of step(x)), over any set of axes.
//
// Axes are an optional input whose values are read at run time; where they were not known to the
// converter the output's extents are set then. Float sums accumulate in double; integers wrap
// around. No elements give the neutral element (0, 1, the type's limit, -inf), NaN for a
// floating-point mean; an integer mean of nothing is an error. Max and Min propagate NaN. Every
// output is computed by one thread in a fixed order: results do not depend on the number of
// threads. Specification: https://onnx.ai/onnx/operators/onnx__ReduceSum.html and its relatives
#pragma once

#include "core/operators/reduction/reduction.h"
#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

template <class Op, class T>
struct Reduce {
  static constexpr KernelId id{Op::name, "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

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

template <class T>
using ReduceL1 = Reduce<ReduceL1Op, T>;
template <class T>
using ReduceL2 = Reduce<ReduceL2Op, T>;
template <class T>
using ReduceLogSum = Reduce<ReduceLogSumOp, T>;
template <class T>
using ReduceLogSumExp = Reduce<ReduceLogSumExpOp, T>;
template <class T>
using ReduceMax = Reduce<ReduceMaxOp, T>;
template <class T>
using ReduceMean = Reduce<ReduceMeanOp, T>;
template <class T>
using ReduceMin = Reduce<ReduceMinOp, T>;
template <class T>
using ReduceProd = Reduce<ReduceProdOp, T>;
template <class T>
using ReduceSum = Reduce<ReduceSumOp, T>;
template <class T>
using ReduceSumSquare = Reduce<ReduceSumSquareOp, T>;

}  // namespace intarsia::cpu
