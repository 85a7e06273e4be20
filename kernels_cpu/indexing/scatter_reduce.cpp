// SPDX-License-Identifier: Apache-2.0
//
// ScatterElements and ScatterND with a reduction: the element becomes its sum with the update, or
// product, maximum, minimum. Integers wrap around, NaN prevails (scatter_walk.h).
// https://onnx.ai/onnx/operators/onnx__ScatterElements.html and onnx__ScatterND.html
#include "core/kernel_list.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/indexing/scatter_walk.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {
namespace {

template <class V>
V combine(ScatterReduction reduction, V a, V b) {
  switch (reduction) {
    case ScatterReduction::kAdd:
      return add_wrapped(a, b);
    case ScatterReduction::kMul:
      return multiply_wrapped(a, b);
    case ScatterReduction::kMax:
      return b > a || b != b ? b : a;
    case ScatterReduction::kMin:
      return b < a || b != b ? b : a;
    case ScatterReduction::kNone:
      break;
  }
  return b;
}

/// Writes runs of updates, combined with what they meet.
template <class T>
struct PutCombined {
  ScatterReduction reduction;
  void operator()(T* to, const T* from, int64_t count) const {
    using E = Element<T>;
    for (int64_t i = 0; i < count; ++i) {
      to[i] = E::store(combine(reduction, E::load(to[i]), E::load(from[i])));
    }
  }
};

template <class T, class I>
struct ScatterElementsReduce {
  static constexpr KernelId id{"ScatterElements", "reduce", {kernel_type_of<T>, kernel_type_of<I>}};
  static constexpr int cost = kReferenceCost;
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context) {
    constexpr KernelType kType = kernel_type_of<T>;
    return check_operands<ops::ScatterElements>(
        context,
        {.inputs = {kType, kernel_type_of<I>, kType}, .required_inputs = 3, .outputs = {kType}});
  }
  static Status run(const KernelContext& context) {
    const auto reduction = context.attributes<ScatterElementsAttributes>().reduction;
    return scatter_elements<I, T>(context,
                                  PutCombined<T>{static_cast<ScatterReduction>(reduction)});
  }
};

template <class T>
struct ScatterNDReduce {
  static constexpr KernelId id{"ScatterND", "reduce", {kernel_type_of<T>}};
  static constexpr int cost = kReferenceCost;
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context) {
    constexpr KernelType kType = kernel_type_of<T>;
    return check_operands<ops::ScatterND>(
        context,
        {.inputs = {kType, DataType::kInt64, kType}, .required_inputs = 3, .outputs = {kType}});
  }
  static Status run(const KernelContext& context) {
    const auto reduction = context.attributes<ScatterNDAttributes>().reduction;
    return scatter_nd<T>(context, PutCombined<T>{static_cast<ScatterReduction>(reduction)});
  }
};

}  // namespace

extern const KernelList scatter_reduce_kernels;
constinit const KernelList scatter_reduce_kernels =
    kernel_list<EachPair<ScatterElementsReduce, Numbers, Indices>,
                Each<ScatterNDReduce, Numbers>>();

}  // namespace intarsia::cpu
