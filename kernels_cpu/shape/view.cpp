// SPDX-License-Identifier: Apache-2.0
//
// Operators whose output holds the bytes of their input under other extents: Identity, Reshape,
// Squeeze, Unsqueeze, Flatten; BitCast; and Dropout outside training, with a mask that is all true.
//
// One kernel per operator serves every element type. The planner usually lets input and output
// share memory; then there is nothing to copy.
#include <cstring>

#include "core/kernel_list.h"
#include "core/operators/shape/dropout.h"
#include "core/operators/shape/reshape.h"
#include "core/runtime/operand_check.h"

namespace intarsia::cpu {
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

/// Copies input 0 to output 0 unless they are the same memory.
struct CopyBytes {
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context) {
    return check_copy(context, {.inputs = {kAnyType}, .outputs = {kAnyType}});
  }
  static Status run(const KernelContext& context) {
    const TensorView& input = context.input(0);
    const TensorView& output = context.output(0);
    const int64_t bytes = input.bytes();
    if (output.data != input.data && bytes > 0) {
      std::memcpy(output.data, input.data, static_cast<size_t>(bytes));
    }
    return {};
  }
};
/// The same, with a list of extents or axes that the shape rule has read.
struct CopyListed : CopyBytes {
  static Status check(const KernelContext& context) {
    return check_copy(
        context,
        {.inputs = {kAnyType, DataType::kInt64}, .required_inputs = 2, .outputs = {kAnyType}});
  }
};

struct Identity : CopyBytes {
  static constexpr KernelId id{"Identity", "", {}};
};
struct Reshape : CopyListed {
  static constexpr KernelId id{"Reshape", "", {}};
};
struct Squeeze : CopyBytes {
  static constexpr KernelId id{"Squeeze", "", {}};
  static Status check(const KernelContext& context) {
    return check_copy(context, {.inputs = {kAnyType, DataType::kInt64}, .outputs = {kAnyType}});
  }
};
struct Unsqueeze : CopyListed {
  static constexpr KernelId id{"Unsqueeze", "", {}};
};
struct Flatten : CopyBytes {
  static constexpr KernelId id{"Flatten", "", {}};
};

struct BitCast : CopyBytes {
  static constexpr KernelId id{"BitCast", "", {}};
  static Status check(const KernelContext& context) {
    Status status =
        check_operands<ops::BitCast>(context, {.inputs = {kAnyType}, .outputs = {kAnyType}});
    if (!status) return status;
    const DataType from = context.input(0).type, to = context.output(0).type;
    if (element_bits(from) == element_bits(to) && !holds_elements(from) && !holds_elements(to)) {
      return {};
    }
    return context.fail(Code::kWrongType, "bits of an element", element_bits(from),
                        element_bits(to), 0);
  }
};

struct Dropout {
  static constexpr KernelId id{"Dropout", "", {}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context) {
    constexpr KernelType kFlag = DataType::kBool;
    const OperandTypes types{.inputs = {kAnyType, kAnyReal, kFlag}, .outputs = {kAnyType, kFlag}};
    if (Status status = check_copy(context, types); !status) return status;
    if (Status status = check_scalars(context, {1, 2}); !status) return status;
    return check_extents<ops::Dropout>(context);
  }
  static Status run(const KernelContext& context) {
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
};

}  // namespace

extern const KernelList view_kernels;
constinit const KernelList view_kernels =
    kernel_list<Identity, Reshape, Squeeze, Unsqueeze, Flatten, BitCast, Dropout>();

}  // namespace intarsia::cpu
