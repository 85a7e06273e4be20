// SPDX-License-Identifier: Apache-2.0
//
// ScatterElements and ScatterND with a reduction: the element becomes its sum with the update, or
// product, maximum, minimum. Integers wrap around, NaN prevails (scatter_walk.h).
// https://onnx.ai/onnx/operators/onnx__ScatterElements.html and onnx__ScatterND.html
#include "core/kernel_list.h"
#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/indexing/scatter_walk.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {
namespace {

/// Two choices in turn, of which neither becomes a jump: nothing can predict which is larger.
template <ScatterReduction kReduction, class V>
V combine(V a, V b) {
  if constexpr (kReduction == ScatterReduction::kAdd) return add_wrapped(a, b);
  if constexpr (kReduction == ScatterReduction::kMul) return multiply_wrapped(a, b);
  if constexpr (kReduction == ScatterReduction::kMax) a = b > a ? b : a;
  if constexpr (kReduction == ScatterReduction::kMin) a = b < a ? b : a;
  constexpr bool kChosen = kReduction != ScatterReduction::kNone;
  return kChosen && b == b ? a : b;  // NaN stays
}

/// Writes runs of updates, combined with what they meet.
template <class T, ScatterReduction kReduction>
struct PutCombined {
  Isa isa;
  static void put(T* to, const T* from, int64_t count) {
    using E = Element<T>;
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) {
      to[i] = E::store(combine<kReduction>(E::load(to[i]), E::load(from[i])));
    }
  }
  void operator()(T* to, const T* from, int64_t count) const {
    if (count == 1) return put(to, from, 1);
    on_isa(isa, [=] { put(to, from, count); });
  }
};

/// Calls body(put) with that of the attribute.
template <class T, class Body>
Status with_reduction(const KernelContext& context, int32_t reduction, const Body& body) {
  switch (static_cast<ScatterReduction>(reduction)) {
    case ScatterReduction::kAdd:
      return body(PutCombined<T, ScatterReduction::kAdd>{context.isa()});
    case ScatterReduction::kMul:
      return body(PutCombined<T, ScatterReduction::kMul>{context.isa()});
    case ScatterReduction::kMax:
      return body(PutCombined<T, ScatterReduction::kMax>{context.isa()});
    case ScatterReduction::kMin:
      return body(PutCombined<T, ScatterReduction::kMin>{context.isa()});
    case ScatterReduction::kNone:
      break;
  }
  return body(PutCombined<T, ScatterReduction::kNone>{context.isa()});
}

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
    return with_reduction<T>(context, reduction,
                             [&](auto put) { return scatter_elements<I, T>(context, put); });
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
    return with_reduction<T>(context, reduction,
                             [&](auto put) { return scatter_nd<T>(context, put); });
  }
};

}  // namespace

extern const KernelList scatter_reduce_kernels;
constinit const KernelList scatter_reduce_kernels =
    kernel_list<EachPair<ScatterElementsReduce, Numbers, Indices>,
                Each<ScatterNDReduce, Numbers>>();

}  // namespace intarsia::cpu
