// SPDX-License-Identifier: Apache-2.0
#include "core/runtime/operand_check.h"

#include "intarsia/internal/operator_binding.h"

namespace intarsia {
namespace {

bool is_integer(DataType type) {
  switch (type) {
    case DataType::kInt8:
    case DataType::kInt16:
    case DataType::kInt32:
    case DataType::kInt64:
    case DataType::kUint8:
    case DataType::kUint16:
    case DataType::kUint32:
    case DataType::kUint64:
      return true;
    default:
      return false;
  }
}

bool accepts(KernelType accepted, DataType type) {
  if (accepted == kAnyType) return element_bits(type) != 0;
  if (accepted == kAnyReal || accepted == kAnyNumber) {
    const bool real = type == DataType::kFloat || type == DataType::kDouble ||
                      type == DataType::kFloat16 || type == DataType::kBfloat16;
    return real || (accepted == kAnyNumber && is_integer(type));
  }
  return accepted.accepts(type);
}

struct OperandList {
  std::initializer_list<KernelType> types;
  int required;
  bool variadic;
  bool outputs;
};

/// `views` are the `count` operands of one side.
Status check_list(const KernelContext& context, const OperandList& list, const TensorView* views,
                  int count) {
  const int first = list.outputs ? context.input_count() : 0;
  const auto most = static_cast<int>(list.types.size());
  if (count < list.required || (count > most && !list.variadic)) {
    return context.fail(Code::kCorruptPlan, "number of operands",
                        count < list.required ? list.required : most, count, first);
  }
  for (int i = 0; i < count; ++i) {
    const TensorView& view = views[i];
    const int operand = first + i;
    if (!view.present()) {
      // Of a variadic operand only outputs may be left out.
      if (i >= list.required && (i < most || list.outputs)) continue;
      return context.fail(Code::kCorruptPlan, "required operand is missing", list.required, i,
                          operand);
    }
    const KernelType type = list.types.begin()[i < most ? i : most - 1];
    if (!accepts(type, view.type)) {
      return context.fail(Code::kWrongType, "element type of the operand", type.code,
                          static_cast<int64_t>(view.type), operand);
    }
    if (view.rank > kMaxRank) {
      return context.fail(Code::kWrongRank, "rank of the operand", kMaxRank, view.rank, operand);
    }
  }
  return {};
}

}  // namespace

Status check_operand_types(const KernelContext& context, const OperandTypes& types) {
  const OperandList inputs{types.inputs, types.required_inputs, types.variadic_inputs, false};
  const OperandList outputs{types.outputs, types.required_outputs, types.variadic_outputs, true};
  const int count = context.input_count();
  if (Status status = check_list(context, inputs, context.operands_, count); !status) {
    return status;
  }
  return check_list(context, outputs, context.operands_ + count, context.output_count());
}

Status check_copy(const KernelContext& context, const OperandTypes& types) {
  if (Status status = check_operand_types(context, types); !status) return status;
  const TensorView& input = context.input(0);
  const TensorView& output = context.output(0);
  if (input.type != output.type) {
    return context.fail(Code::kWrongType, "element type", static_cast<int64_t>(input.type),
                        static_cast<int64_t>(output.type), context.input_count());
  }
  if (input.count() != output.count()) {
    return context.fail(Code::kWrongExtent, "number of elements", input.count(), output.count(),
                        context.input_count());
  }
  return {};
}

Status check_scalars(const KernelContext& context, std::initializer_list<int> inputs) {
  for (int input : inputs) {
    const TensorView& view = context.input(input);
    if (!view.present() || view.count() == 1) continue;
    return context.fail(Code::kWrongExtent, "elements of a scalar operand", 1, view.count(), input);
  }
  return {};
}

namespace internal {
namespace {

/// The type that an operand of any type has to have: that of the first input of its variable.
DataType type_of(const KernelContext& context, std::span<const Operand> inputs,
                 const Operand& operand) {
  if (operand.type != DataType::kUndefined) return operand.type;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const TensorView& view = context.input(static_cast<int>(i));
    if (inputs[i].variable == operand.variable && view.present()) return view.type;
  }
  return DataType::kUndefined;
}

}  // namespace

Status check_signature(const KernelContext& context, std::span<const Operand> operands,
                       int inputs) {
  const auto split = static_cast<size_t>(inputs);
  for (const bool outputs : {false, true}) {
    const auto formal = outputs ? operands.subspan(split) : operands.first(split);
    const int given = outputs ? context.output_count() : context.input_count();
    const int first = outputs ? context.input_count() : 0;
    const auto named = static_cast<int>(formal.size());
    const bool variadic = named > 0 && is_variadic(formal.back().kind);
    if (given > named && !variadic) {
      return context.fail(Code::kCorruptPlan, "number of operands", named, given, first);
    }
    const int least = variadic ? named - 1 + formal.back().minimum : 0;
    if (variadic && formal.back().minimum > 0 && given < least) {
      return context.fail(Code::kCorruptPlan, "number of operands at least", least, given, first);
    }
    for (int i = 0; i < given || i < named; ++i) {
      const Operand& operand = formal[static_cast<size_t>(i < named ? i : named - 1)];
      const TensorView& view = outputs ? context.output(i) : context.input(i);
      if (!view.present()) {
        if (operand.may_lack || (i >= given && is_variadic(operand.kind))) continue;
        return context.fail(Code::kCorruptPlan, "required operand is missing", 1, 0, first + i);
      }
      if (outputs && operand.type == DataType::kUndefined) continue;  // the shape function tells
      if (operand.variable.empty()) continue;
      const DataType type = type_of(context, operands.first(split), operand);
      if (view.type == type) continue;
      return context.fail(Code::kWrongType, "element type", static_cast<int64_t>(type),
                          static_cast<int64_t>(view.type), first + i);
    }
  }
  return {};
}

}  // namespace internal
}  // namespace intarsia
