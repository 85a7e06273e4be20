// SPDX-License-Identifier: Apache-2.0
//
// ScatterElements and ScatterND without a reduction, for elements of a Width (scatter_walk.h).
// https://onnx.ai/onnx/operators/onnx__ScatterElements.html and onnx__ScatterND.html
#include "core/kernel_list.h"
#include "kernels_cpu/common/kernel_types.h"
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

template <class T, class I>
struct ScatterElements {
  static constexpr KernelId id{"ScatterElements", "", {kernel_type_of<T>, kernel_type_of<I>}};
  static constexpr InPlace in_place{0};
  static bool supports(const KernelContext& context) {
    return replaces<ScatterElementsAttributes>(context);
  }
  static Status check(const KernelContext& context) {
    return check_scatter<ops::ScatterElements>(context, kernel_type_of<T>, kernel_type_of<I>);
  }
  static Status run(const KernelContext& context) {
    using E = typename T::Element;
    return scatter_elements<I, E>(context, [](E* to, const E* from, int64_t) { *to = *from; });
  }
};

/// Indices are int64.
template <class T>
struct ScatterND {
  static constexpr KernelId id{"ScatterND", "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{0};
  static bool supports(const KernelContext& context) {
    return replaces<ScatterNDAttributes>(context);
  }
  static Status check(const KernelContext& context) {
    return check_scatter<ops::ScatterND>(context, kernel_type_of<T>, DataType::kInt64);
  }
  static Status run(const KernelContext& context) {
    using E = typename T::Element;
    return scatter_nd<E>(context, put_run<E>);
  }
};

}  // namespace

extern const KernelList scatter_kernels;
constinit const KernelList scatter_kernels =
    kernel_list<EachPair<ScatterElements, Widths, Indices>, Each<ScatterND, Widths>>();

}  // namespace intarsia::cpu
