// SPDX-License-Identifier: Apache-2.0
//
// ArgMax, ArgMin: the index of the extreme element along one axis, as int64. Of equal elements the
// first counts, or the last (select_last_index); NaN counts as more extreme than any number. An
// axis of extent 0 is an error unless the result is empty too. Specification:
// https://onnx.ai/onnx/operators/onnx__ArgMax.html
#pragma once

#include "core/operators/reduction/reduction.h"
#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

template <class Op, class T>
struct ArgReduce {
  static constexpr KernelId id{Op::name, "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

struct ArgMaxOp {
  static constexpr std::string_view name = "ArgMax";
};
struct ArgMinOp {
  static constexpr std::string_view name = "ArgMin";
};

template <class T>
using ArgMax = ArgReduce<ArgMaxOp, T>;
template <class T>
using ArgMin = ArgReduce<ArgMinOp, T>;

}  // namespace intarsia::cpu
