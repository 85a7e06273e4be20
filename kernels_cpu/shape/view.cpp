// SPDX-License-Identifier: Apache-2.0
//
// Operators whose output holds the bytes of their input under other extents: Identity, Reshape,
// Squeeze, Unsqueeze, Flatten; BitCast; Reinterpret.
//
// One kernel per operator serves every element type. The planner usually lets input and output
// share memory; then there is nothing to copy.
#include "core/kernel_list.h"
#include "core/operators/shape/reshape.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/strided_copy.h"

namespace intarsia::cpu {
namespace {

/// Copies input 0 to output 0 unless they are the same memory.
struct CopyBytes {
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context) {
    return check_copy(context, {.inputs = {kAnyType}, .outputs = {kAnyType}});
  }
  static Status run(const KernelContext& context) {
    copy_tensor(context, context.output(0), context.input(0));
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

struct Reinterpret : CopyBytes {
  static constexpr KernelId id{"intarsia:Reinterpret", "", {}};
  static Status check(const KernelContext& context) {
    Status status =
        check_operands<ops::Reinterpret>(context, {.inputs = {kAnyType}, .outputs = {kAnyType}});
    if (!status) return status;
    const DataType from = context.input(0).type, to = context.output(0).type;
    if (!holds_elements(from) && !holds_elements(to)) return {};
    return context.fail(Code::kWrongType, "bits of an element", element_bits(from),
                        element_bits(to), 0);
  }
};

}  // namespace

extern const KernelList view_kernels;
constinit const KernelList view_kernels =
    kernel_list<Identity, Reshape, Squeeze, Unsqueeze, Flatten, BitCast, Reinterpret>();

}  // namespace intarsia::cpu
