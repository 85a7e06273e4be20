// SPDX-License-Identifier: Apache-2.0
//
// Checks that kernels which move elements share.
//
// Where a shape rule reads elements (starts, pads, k, ...), extents can only be proved in `run`:
// `check` proves types and ranks, `check_extents<Rule>` is called first in `run`.
#pragma once

#include "kernels_cpu/operand_check.h"

namespace intarsia::cpu {

/// Fails unless the extents of the outputs are those that the rule computes from the elements.
template <class Rule>
Status check_extents(const KernelContext& context) {
  ShapeAgreement agreement(context);
  return Rule::infer(agreement);
}

template <class A>
Status check_attributes_present(const KernelContext& context) {
  return context.has_attributes<A>() ? Status()
                                     : context.fail(Code::kCorruptPlan, "bytes of attributes",
                                                    sizeof(A), context.attribute_bytes());
}

/// Fails unless every input and output, of which there may be any number, is present and of `type`;
/// `optional_outputs` may be absent.
inline Status check_all_operands(const KernelContext& context, KernelType type,
                                 bool optional_outputs = false) {
  const int inputs = context.input_count();
  for (int i = 0; i < inputs + context.output_count(); ++i) {
    const TensorView& view = i < inputs ? context.input(i) : context.output(i - inputs);
    if (!view.present()) {
      if (i >= inputs && optional_outputs) continue;
      return context.fail(Code::kCorruptPlan, "required operand is missing", 1, 0, i);
    }
    if (!type.accepts(view.type)) {
      return context.fail(Code::kWrongType, "element type of the operand", type.code,
                          static_cast<int64_t>(view.type), i);
    }
    if (view.rank > kMaxRank) {
      return context.fail(Code::kWrongRank, "rank of the operand", kMaxRank, view.rank, i);
    }
  }
  return {};
}

/// The type that a list of int32 or int64 must have: its own, or int64 if it is neither.
inline KernelType index_type(const TensorView& view) {
  return view.type == DataType::kInt32 ? DataType::kInt32 : DataType::kInt64;
}

/// Elements of `view` between neighbours along each axis.
inline void dense_strides(const TensorView& view, int64_t (&strides)[kMaxRank]) {
  int64_t stride = 1;
  for (int axis = view.rank - 1; axis >= 0; --axis) {
    strides[axis] = stride;
    stride *= view.extents[axis];
  }
}

}  // namespace intarsia::cpu
