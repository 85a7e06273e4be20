// SPDX-License-Identifier: Apache-2.0
//
// ArgMax, ArgMin: the index of the extreme element along one axis, as int64. Of equal elements the
// first counts, or the last (select_last_index); NaN counts as more extreme than any number. An
// axis of extent 0 is an error unless the result is empty too. Specification:
// https://onnx.ai/onnx/operators/onnx__ArgMax.html
#include "core/kernel_list.h"
#include "core/operators/reduction/reduction.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/math/element.h"
#include "kernels_cpu/reduction/reduce_axis.h"

namespace intarsia::cpu {
namespace {

struct ArgMaxOp {
  static constexpr std::string_view name = "ArgMax";
  template <class V>
  static bool better(V a, V b) {
    return a > b;
  }
};
struct ArgMinOp {
  static constexpr std::string_view name = "ArgMin";
  template <class V>
  static bool better(V a, V b) {
    return a < b;
  }
};

/// True if `value` takes the place of `best`, found before it.
template <class Op, class V>
bool replaces(V value, V best, bool last) {
  if (value != value) return last || best == best;
  if (last && value == best) return true;
  return Op::better(value, best);
}

template <class Op, class T>
struct ArgReduce {
  static constexpr KernelId id{Op::name, "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context) {
    if (Status s = check_operands<ops::ArgReduce>(
            context, {.inputs = {kernel_type_of<T>}, .outputs = {DataType::kInt64}});
        !s) {
      return s;
    }
    const AxisLoop loop(context.input(0), context.attributes<ArgReduceAttributes>().axis);
    if (loop.length == 0 && loop.lines() > 0) {
      return context.fail(Code::kWrongExtent, "extent of the axis to search", 1, 0, 0);
    }
    return {};
  }
  static Status run(const KernelContext& context) {
    using E = Element<T>;
    const auto& attributes = context.attributes<ArgReduceAttributes>();
    const bool last = attributes.select_last_index != 0;
    const AxisLoop loop(context.input(0), attributes.axis);
    const auto* x = context.input(0).as<typename E::Stored>();
    auto* y = context.output(0).as<int64_t>();
    if (loop.length == 0) return {};
    loop.for_lines(context, [&](int64_t first, int64_t line, int lanes) {
      typename E::Value best[kAxisLanes];
      int64_t index[kAxisLanes] = {};
      for (int lane = 0; lane < lanes; ++lane) best[lane] = E::load(x[first + lane]);
      for (int64_t k = 1; k < loop.length; ++k) {
        for (int lane = 0; lane < lanes; ++lane) {
          const auto value = E::load(x[first + k * loop.inner + lane]);
          if (replaces<Op>(value, best[lane], last)) {
            best[lane] = value;
            index[lane] = k;
          }
        }
      }
      for (int lane = 0; lane < lanes; ++lane) y[line + lane] = index[lane];
    });
    return {};
  }
};

}  // namespace

extern const KernelList arg_reduce_kernels;
constinit const KernelList arg_reduce_kernels =
    kernel_list<EachPair<ArgReduce, Types<ArgMaxOp, ArgMinOp>,
                         Join<WideNumbers, Types<int8_t, uint8_t, int16_t, uint16_t>>>>();

}  // namespace intarsia::cpu
