// SPDX-License-Identifier: Apache-2.0
#include "kernels_cpu/shape/view.h"

#include <cstring>

#include "core/runtime/operand_check.h"

namespace intarsia::cpu {

namespace {

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

}  // namespace

Status CopyBytes::check(const KernelContext& context) {
  return check_copy(context, {.inputs = {kAnyType}, .outputs = {kAnyType}});
}

Status CopyListed::check(const KernelContext& context) {
  return check_copy(
      context,
      {.inputs = {kAnyType, DataType::kInt64}, .required_inputs = 2, .outputs = {kAnyType}});
}

Status Squeeze::check(const KernelContext& context) {
  return check_copy(context, {.inputs = {kAnyType, DataType::kInt64}, .outputs = {kAnyType}});
}

Status CopyBytes::run(const KernelContext& context) {
  const TensorView& input = context.input(0);
  const TensorView& output = context.output(0);
  const int64_t bytes = input.bytes();
  if (output.data != input.data && bytes > 0) {
    std::memcpy(output.data, input.data, static_cast<size_t>(bytes));
  }
  return {};
}

namespace {

/// True for a zero of any floating-point type: nothing set but perhaps the sign. An absent ratio is
/// not zero, its default is 0.5.
bool is_zero(const TensorView& ratio) {
  if (!ratio.present()) return false;
  const auto* bytes = ratio.as<const uint8_t>();
  const int64_t last = ratio.bytes() - 1;
  uint8_t bits = static_cast<uint8_t>(bytes[last] & 0x7f);
  for (int64_t i = 0; i < last; ++i) bits |= bytes[i];
  return bits == 0;
}

}  // namespace

Status Dropout::check(const KernelContext& context) {
  constexpr KernelType kFlag = DataType::kBool;
  const OperandTypes types{.inputs = {kAnyType, kAnyReal, kFlag}, .outputs = {kAnyType, kFlag}};
  if (Status status = check_copy(context, types); !status) return status;
  for (int i : {1, 2}) {
    const TensorView& scalar = context.input(i);
    if (!scalar.present() || scalar.count() == 1) continue;
    return context.fail(Code::kWrongExtent, "number of elements of ratio and training_mode", 1,
                        scalar.count(), i);
  }
  const TensorView& mask = context.output(1);
  if (mask.present() && mask.count() != context.input(0).count()) {
    return context.fail(Code::kWrongExtent, "number of elements of the mask",
                        context.input(0).count(), mask.count(), context.input_count() + 1);
  }
  return {};
}

Status Dropout::run(const KernelContext& context) {
  const TensorView& training = context.input(2);
  if (training.present() && *training.as<const uint8_t>() != 0 && !is_zero(context.input(1))) {
    return context.fail(Code::kUnsupported, "training_mode with a ratio above 0", 0, 1, 2);
  }
  const TensorView& mask = context.output(1);
  if (mask.present() && mask.count() > 0) {
    std::memset(mask.data, 1, static_cast<size_t>(mask.count()));
  }
  return CopyBytes::run(context);
}

}  // namespace intarsia::cpu
