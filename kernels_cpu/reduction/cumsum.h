// SPDX-License-Identifier: Apache-2.0
//
// CumSum, CumProd: running sums and products along one axis, which is a scalar input (int32 or
// int64, read at run time), forwards or backwards, with or without the element itself. Float sums
// accumulate in double, integers wrap around. The output may be the input.
// Specification: https://onnx.ai/onnx/operators/onnx__CumSum.html
#pragma once

#include "core/operators/reduction/reduction.h"
#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

template <class Op, class T>
struct Cumulative {
  static constexpr KernelId id{Op::name, "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

struct CumSumOp {
  static constexpr std::string_view name = "CumSum";
};
struct CumProdOp {
  static constexpr std::string_view name = "CumProd";
};

template <class T>
using CumSum = Cumulative<CumSumOp, T>;
template <class T>
using CumProd = Cumulative<CumProdOp, T>;

}  // namespace intarsia::cpu
