// SPDX-License-Identifier: Apache-2.0
#include "kernels_cuda/indexing/scatter.h"

namespace intarsia::cuda {
namespace {

template <class A>
bool replaces(const KernelContext& context) {
  return context.attributes<A>().reduction == static_cast<int32_t>(ScatterReduction::kNone);
}

/// Updates of ScatterElements meet only along the axis.
int64_t meeting_elements(const KernelContext& context) {
  const TensorView& updates = context.input(2);
  const int axis = context.attributes<ScatterElementsAttributes>().axis;
  return updates.extents[axis < 0 ? axis + updates.rank : axis];
}
int64_t meeting_tuples(const KernelContext& context) {
  const TensorView& indices = context.input(1);
  int64_t tuples = 1;
  for (int i = 0; i + 1 < indices.rank; ++i) tuples *= indices.extents[i];
  return tuples;
}

template <class Rule>
Status check_scatter(const KernelContext& context, ElementWidth width, DataType index,
                     int64_t (*meeting)(const KernelContext&)) {
  using A = typename Rule::Attributes;
  const OperandTypes types{
      .inputs = {width, index, width}, .required_inputs = 3, .outputs = {width}};
  if (Status status = check_operands<Rule>(context, types); !status) return status;
  if (!replaces<A>(context)) {
    return context.fail(Code::kUnsupported, "reduction in a kernel without", 0,
                        context.attributes<A>().reduction);
  }
  const int64_t updates = meeting(context);
  return updates <= kMostUpdates
             ? Status()
             : context.fail(Code::kUnsupported, "updates that may meet", kMostUpdates, updates, 2);
}

}  // namespace

bool supports_scatter_elements(const KernelContext& context) {
  return replaces<ScatterElementsAttributes>(context) && meeting_elements(context) <= kMostUpdates;
}
bool supports_scatter_nd(const KernelContext& context) {
  return replaces<ScatterNDAttributes>(context) && meeting_tuples(context) <= kMostUpdates;
}

Status check_scatter_elements(const KernelContext& context, ElementWidth width, DataType index) {
  return check_scatter<ops::ScatterElements>(context, width, index, &meeting_elements);
}
Status check_scatter_nd(const KernelContext& context, ElementWidth width) {
  return check_scatter<ops::ScatterND>(context, width, DataType::kInt64, &meeting_tuples);
}

}  // namespace intarsia::cuda
