// SPDX-License-Identifier: Apache-2.0
#include "core/operand_check.h"

namespace intarsia {
namespace {

/// An operand that is there.
Status check_operand(const KernelContext& context, const TensorView& view, KernelType type,
                     int operand) {
  if (!type.accepts(view.type)) {
    return context.fail(Code::kWrongType, "element type of the operand", type.code,
                        static_cast<int64_t>(view.type), operand);
  }
  return view.rank <= kMaxRank
             ? Status()
             : context.fail(Code::kWrongRank, "rank of the operand", kMaxRank, view.rank, operand);
}

Status check_list(const KernelContext& context, std::initializer_list<KernelType> types,
                  int required, bool outputs) {
  const int first = outputs ? context.input_count() : 0;
  const int count = outputs ? context.output_count() : context.input_count();
  const auto view = [&](int i) { return outputs ? context.output(i) : context.input(i); };
  for (int i = 0; i < required; ++i) {
    if (!view(i).present()) {
      return context.fail(Code::kCorruptPlan, "required operand is missing", required, i,
                          first + i);
    }
  }
  for (int i = 0; i < count; ++i) {
    if (!view(i).present()) continue;
    if (i >= static_cast<int>(types.size())) {
      return context.fail(Code::kCorruptPlan, "operands of the kernel",
                          static_cast<int64_t>(types.size()), count, first + i);
    }
    if (Status s = check_operand(context, view(i), types.begin()[i], first + i); !s) return s;
  }
  return {};
}

}  // namespace

Status check_operand_types(const KernelContext& context, const OperandTypes& types) {
  if (Status status = check_list(context, types.inputs, types.required_inputs, false); !status) {
    return status;
  }
  return check_list(context, types.outputs, types.required_outputs, true);
}

Status check_all_operands(const KernelContext& context, KernelType type, bool optional_outputs) {
  const int inputs = context.input_count();
  for (int i = 0; i < inputs + context.output_count(); ++i) {
    const TensorView& view = i < inputs ? context.input(i) : context.output(i - inputs);
    if (!view.present()) {
      if (i >= inputs && optional_outputs) continue;
      return context.fail(Code::kCorruptPlan, "required operand is missing", 1, 0, i);
    }
    if (Status s = check_operand(context, view, type, i); !s) return s;
  }
  return {};
}

}  // namespace intarsia
