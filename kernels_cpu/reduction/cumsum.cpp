// SPDX-License-Identifier: Apache-2.0
//
// CumSum, CumProd: running sums and products along one axis, which is a scalar input (int32 or
// int64, read at run time), forwards or backwards, with or without the element itself. Float sums
// accumulate in double, integers wrap around. The output may be the input.
// Specification: https://onnx.ai/onnx/operators/onnx__CumSum.html
#include "core/kernel_list.h"
#include "core/operators/reduction/reduction.h"
#include "kernels_cpu/common/accumulate.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/elementwise/binary_broadcast.h"
#include "kernels_cpu/indexing/index_check.h"
#include "kernels_cpu/reduction/reduce_axis.h"

namespace intarsia::cpu {
namespace {

struct CumSumOp {
  static constexpr std::string_view name = "CumSum";
  static constexpr int kNeutral = 0;
  template <class A>
  static A step(A sum, A value) {
    return sum + value;
  }
};
struct CumProdOp {
  static constexpr std::string_view name = "CumProd";
  static constexpr int kNeutral = 1;
  template <class A>
  static A step(A product, A value) {
    return product * value;
  }
};

template <class Op, class T>
struct Cumulative {
  static constexpr KernelId id{Op::name, "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context) {
    constexpr KernelType t = kernel_type_of<T>;
    const KernelType axis = index_type(context.input(1));
    if (Status s = check_attributes<CumulativeAttributes>(context); !s) return s;
    if (Status s =
            check_elementwise(context, {.inputs = {t, axis}, .required_inputs = 2, .outputs = {t}});
        !s) {
      return s;
    }
    return check_scalars(context, {1});
  }
  static Status run(const KernelContext& context) {
    using E = Element<T>;
    using A = AxisAccumulator<T>;
    const auto& attributes = context.attributes<CumulativeAttributes>();
    const TensorView& operand = context.input(1);
    const int64_t axis =
        operand.type == DataType::kInt64 ? *operand.as<int64_t>() : *operand.as<int32_t>();
    if (!axis_in_range(context.input(0), axis)) {
      return context.fail(Code::kIndexOutOfRange, "axis out of range", context.input(0).rank, axis,
                          1);
    }
    const AxisLoop loop(context.input(0), axis);
    const bool exclusive = attributes.exclusive != 0;
    const bool reverse = attributes.reverse != 0;
    const auto* x = context.input(0).as<typename E::Stored>();
    auto* y = context.output(0).as<typename E::Stored>();
    loop.for_lines(context, [&](int64_t first, int64_t, int lanes) {
      A running[kAxisLanes];
      for (A& value : running) value = Op::kNeutral;
      for (int64_t k = 0; k < loop.length; ++k) {
        const int64_t row = first + (reverse ? loop.length - 1 - k : k) * loop.inner;
        for (int lane = 0; lane < lanes; ++lane) {
          const A before = running[lane];
          running[lane] = Op::step(before, static_cast<A>(E::load(x[row + lane])));
          y[row + lane] =
              E::store(static_cast<typename E::Value>(exclusive ? before : running[lane]));
        }
      }
    });
    return {};
  }
};

}  // namespace

extern const KernelList cumsum_kernels;
constinit const KernelList cumsum_kernels =
    kernel_list<EachPair<Cumulative, Types<CumSumOp, CumProdOp>, WideNumbers>>();

}  // namespace intarsia::cpu
