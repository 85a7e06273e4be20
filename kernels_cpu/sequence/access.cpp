// SPDX-License-Identifier: Apache-2.0
//
// SequenceAt, SequenceLength, OptionalGetElement and OptionalHasElement: what a sequence or an
// optional value holds.
// https://onnx.ai/onnx/operators/onnx__SequenceAt.html
#include "core/kernel_list.h"
#include "kernels_cpu/sequence/sequence_operands.h"

namespace intarsia::cpu {
namespace {

/// Gives output 0 the extents and contents of `from`, whose type it must have.
Status copy_to_output(const KernelContext& context, const TensorView& from) {
  const TensorView& output = context.output(0);
  const int operand = context.input_count();
  if (from.type != output.type) {
    return context.fail(Code::kWrongType, "element type of an element",
                        static_cast<int64_t>(output.type), static_cast<int64_t>(from.type),
                        operand);
  }
  if (from.rank != output.rank) {
    return context.fail(Code::kWrongRank, "rank of an element", output.rank, from.rank, operand);
  }
  if (Status status = context.resize_output(0, from.dims()); !status) return status;
  copy_bytes(output.as<std::byte>(), from.as<const std::byte>(), static_cast<size_t>(from.bytes()));
  return {};
}

Status check_scalar_output(const KernelContext& context) {
  const int64_t count = context.output(0).count();
  if (count == 1) return {};
  return context.fail(Code::kWrongExtent, "elements of a scalar", 1, count, context.input_count());
}

struct SequenceAt {
  static constexpr KernelId id{"SequenceAt", "", {}};

  static Status check(const KernelContext& context) {
    Status status = check_operand_types(
        context, {.inputs = {kAnyType, kAnyType}, .required_inputs = 2, .outputs = {kAnyType}});
    if (status.ok()) status = check_sequence(context, 0);
    return status.ok() ? check_position(context, 1) : status;
  }

  static Status run(const KernelContext& context) {
    const int64_t position = position_of(context.input(1));
    if (position < 0) return from_end(context);
    // No more entries are looked at than lie before the element: loops take one after the other.
    const TensorView& input = context.input(0);
    std::span<const std::byte> rest{input.as<const std::byte>(),
                                    static_cast<size_t>(input.count())};
    if (reinterpret_cast<uintptr_t>(rest.data()) % kSequenceAlignment != 0)
      return no_sequence(context, 0);
    for (int64_t size = 0;; ++size) {
      if (rest.empty()) {
        return context.fail(Code::kIndexOutOfRange, "position in a sequence", size, position, 1);
      }
      const size_t entry = SequenceView::first_entry(rest);
      if (entry == 0) return no_sequence(context, 0);
      if (size == position) return copy_to_output(context, *SequenceView::Iterator(rest.data()));
      rest = rest.subspan(entry);
    }
  }

 private:
  static Status from_end(const KernelContext& context) {
    SequenceView sequence;
    if (Status status = read(context, 0, sequence); !status) return status;
    int64_t position = 0;
    Status status = read_position(context, 1, sequence.size(), sequence.size(), 0, position);
    return status.ok() ? copy_to_output(context, sequence[position]) : status;
  }
};

/// What is no optional value is its own element.
struct OptionalGetElement {
  static constexpr KernelId id{"OptionalGetElement", "", {}};

  static Status check(const KernelContext& context) {
    return check_operand_types(context, {.inputs = {kAnyType}, .outputs = {kAnyType}});
  }

  static Status run(const KernelContext& context) {
    const TensorView& input = context.input(0);
    if (input.type != DataType::kOptional) return copy_to_output(context, input);
    SequenceView optional;
    if (Status status = read(context, 0, optional); !status) return status;
    if (optional.size() == 0) {
      return context.fail(Code::kInvalidValue, "optional value without an element", 1, 0, 0);
    }
    return copy_to_output(context, optional[0]);
  }
};

/// What is no optional value has an element if it is there.
struct OptionalHasElement {
  static constexpr KernelId id{"OptionalHasElement", "", {}};

  static Status check(const KernelContext& context) {
    const Status status = check_operand_types(
        context, {.inputs = {kAnyType}, .required_inputs = 0, .outputs = {DataType::kBool}});
    return status.ok() ? check_scalar_output(context) : status;
  }

  static Status run(const KernelContext& context) {
    const TensorView& input = context.input(0);
    *context.output(0).as<bool>() =
        input.present() && (input.type != DataType::kOptional || input.count() != 0);
    return {};
  }
};

struct SequenceLength {
  static constexpr KernelId id{"SequenceLength", "", {}};

  static Status check(const KernelContext& context) {
    Status status =
        check_operand_types(context, {.inputs = {kAnyType}, .outputs = {DataType::kInt64}});
    if (status.ok()) status = check_sequence(context, 0);
    return status.ok() ? check_scalar_output(context) : status;
  }

  static Status run(const KernelContext& context) {
    SequenceView sequence;
    if (Status status = read(context, 0, sequence); !status) return status;
    *context.output(0).as<int64_t>() = sequence.size();
    return {};
  }
};

}  // namespace

extern const KernelList sequence_access_kernels;
constinit const KernelList sequence_access_kernels =
    kernel_list<SequenceAt, SequenceLength, OptionalGetElement, OptionalHasElement>();

}  // namespace intarsia::cpu
