// SPDX-License-Identifier: Apache-2.0
#include "kernels_cpu/indexing/scatter.h"

#include "kernels_cpu/common/width_instances.h"
#include "kernels_cpu/indexing/scatter_walk.h"

namespace intarsia::cpu {
namespace {

template <class A>
bool replaces(const KernelContext& context) {
  return context.attributes<A>().reduction == static_cast<int32_t>(ScatterReduction::kNone);
}

template <class Rule>
Status check_scatter(const KernelContext& context, KernelType type, KernelType index) {
  using A = typename Rule::Attributes;
  Status s = check_operands<Rule>(
      context, {.inputs = {type, index, type}, .required_inputs = 3, .outputs = {type}});
  if (!s || replaces<A>(context)) return s;
  return context.fail(Code::kUnsupported, "reduction in a kernel without", 0,
                      context.attributes<A>().reduction);
}

template <class E>
void put_run(E* to, const E* from, int64_t count) {
  copy_run(to, from, count * static_cast<int64_t>(sizeof(E)));
}

}  // namespace

template <class T, class I>
bool ScatterElements<T, I>::supports(const KernelContext& context) {
  return replaces<ScatterElementsAttributes>(context);
}

template <class T, class I>
Status ScatterElements<T, I>::check(const KernelContext& context) {
  return check_scatter<ops::ScatterElements>(context, kernel_type_of<T>, kernel_type_of<I>);
}

template <class T, class I>
Status ScatterElements<T, I>::run(const KernelContext& context) {
  using E = typename T::Element;
  return scatter_elements<I, E>(context, [](E* to, const E* from, int64_t) { *to = *from; });
}

template <class T>
bool ScatterND<T>::supports(const KernelContext& context) {
  return replaces<ScatterNDAttributes>(context);
}

template <class T>
Status ScatterND<T>::check(const KernelContext& context) {
  return check_scatter<ops::ScatterND>(context, kernel_type_of<T>, DataType::kInt64);
}

template <class T>
Status ScatterND<T>::run(const KernelContext& context) {
  using E = typename T::Element;
  return scatter_nd<E>(context, put_run<E>);
}

INTARSIA_FOR_WIDTHS_AND_INDICES(ScatterElements);
INTARSIA_FOR_WIDTHS(ScatterND);

}  // namespace intarsia::cpu
