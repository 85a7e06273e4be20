// SPDX-License-Identifier: Apache-2.0
//
// SequenceAt, SequenceLength, OptionalGetElement and OptionalHasElement: what a sequence or an
// optional value holds.
// https://onnx.ai/onnx/operators/onnx__SequenceAt.html
#include <algorithm>

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

/// Number of elements, then where each of their entries begins.
struct SequenceIndex {
  static constexpr KernelId id{"intarsia:SequenceIndex", "", {}};

  static Status check(const KernelContext& context) {
    if (Status status =
            check_operand_types(context, {.inputs = {kAnyType}, .outputs = {DataType::kInt32}});
        !status) {
      return status;
    }
    if (Status status = check_sequence(context, 0); !status) return status;
    return check_index(context, 1, context.output(0));
  }

  static Status run(const KernelContext& context) {
    SequenceView sequence;
    if (Status status = read(context, 0, sequence); !status) return status;
    const TensorView& index = context.output(0);
    auto* numbers = index.as<int32_t>();
    const int64_t room = index.count() - 1;
    if (sequence.size() > room || sequence.bytes().size() > INT32_MAX) {
      return context.fail(Code::kWrongExtent, "elements of a sequence", room, sequence.size(), 0);
    }
    *numbers++ = static_cast<int32_t>(sequence.size());
    for (auto at = sequence.begin(); at != sequence.end(); ++at) {
      *numbers++ = static_cast<int32_t>(at.entry() - sequence.bytes().data());
    }
    return {};
  }

  static Status check_index(const KernelContext& context, int operand, const TensorView& index) {
    if (index.rank != 1) return context.fail(Code::kWrongRank, "rank", 1, index.rank, operand);
    if (index.extents[0] >= 1) return {};
    return context.fail(Code::kWrongExtent, "elements of an index", 1, 0, operand, 0);
  }
};

/// SequenceAt of a sequence whose entries an index names.
struct SequenceElement {
  static constexpr KernelId id{"intarsia:SequenceElement", "", {}};

  static Status check(const KernelContext& context) {
    Status status = check_operand_types(context, {.inputs = {kAnyType, kAnyType, DataType::kInt32},
                                                  .required_inputs = 3,
                                                  .outputs = {kAnyType}});
    if (status.ok()) status = check_sequence(context, 0);
    if (status.ok()) status = check_position(context, 1);
    return status.ok() ? SequenceIndex::check_index(context, 2, context.input(2)) : status;
  }

  static Status run(const KernelContext& context) {
    const TensorView &sequence = context.input(0), &index = context.input(2);
    const auto* numbers = index.as<const int32_t>();
    const int64_t size = std::min<int64_t>(numbers[0], index.count() - 1);
    int64_t position = 0;
    if (Status s = read_position(context, 1, size, size, 0, position); !s) return s;
    const int64_t offset = numbers[1 + position];
    const std::span<const std::byte> bytes{sequence.as<const std::byte>(),
                                           static_cast<size_t>(sequence.count())};
    // The index may be anybody's: what it names is no entry before it has been looked at.
    if (offset < 0 || offset > sequence.count()) return no_sequence(context, 0);
    const std::byte* entry = bytes.data() + offset;
    if (reinterpret_cast<uintptr_t>(entry) % kSequenceAlignment != 0 ||
        SequenceView::first_entry(bytes.subspan(static_cast<size_t>(offset))) == 0) {
      return no_sequence(context, 0);
    }
    return copy_to_output(context, *SequenceView::Iterator(entry));
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
    kernel_list<SequenceAt, SequenceIndex, SequenceElement, SequenceLength, OptionalGetElement,
                OptionalHasElement>();

}  // namespace intarsia::cpu
