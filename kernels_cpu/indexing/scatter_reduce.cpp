// SPDX-License-Identifier: Apache-2.0
//
// The kernels of scatter.h that combine each update with the element that it meets.
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

}  // namespace

template <class T, class I>
Status ScatterElementsReduce<T, I>::check(const KernelContext& context) {
  constexpr KernelType kType = kernel_type_of<T>;
  return check_operands<ops::ScatterElements>(
      context,
      {.inputs = {kType, kernel_type_of<I>, kType}, .required_inputs = 3, .outputs = {kType}});
}

template <class T, class I>
Status ScatterElementsReduce<T, I>::run(const KernelContext& context) {
  const auto reduction = context.attributes<ScatterElementsAttributes>().reduction;
  return scatter_elements<I, T>(context, PutCombined<T>{static_cast<ScatterReduction>(reduction)});
}

template <class T>
Status ScatterNDReduce<T>::check(const KernelContext& context) {
  constexpr KernelType kType = kernel_type_of<T>;
  return check_operands<ops::ScatterND>(
      context,
      {.inputs = {kType, DataType::kInt64, kType}, .required_inputs = 3, .outputs = {kType}});
}

template <class T>
Status ScatterNDReduce<T>::run(const KernelContext& context) {
  const auto reduction = context.attributes<ScatterNDAttributes>().reduction;
  return scatter_nd<T>(context, PutCombined<T>{static_cast<ScatterReduction>(reduction)});
}

// Explicit instantiation cannot be written as a list of types.
#define INTARSIA_SCATTER(T)                          \
  template struct ScatterElementsReduce<T, int32_t>; \
  template struct ScatterElementsReduce<T, int64_t>; \
  template struct ScatterNDReduce<T>
INTARSIA_SCATTER(float);
INTARSIA_SCATTER(double);
INTARSIA_SCATTER(Float16);
INTARSIA_SCATTER(BFloat16);
INTARSIA_SCATTER(int8_t);
INTARSIA_SCATTER(int16_t);
INTARSIA_SCATTER(int32_t);
INTARSIA_SCATTER(int64_t);
INTARSIA_SCATTER(uint8_t);
INTARSIA_SCATTER(uint16_t);
INTARSIA_SCATTER(uint32_t);
INTARSIA_SCATTER(uint64_t);

}  // namespace intarsia::cpu
