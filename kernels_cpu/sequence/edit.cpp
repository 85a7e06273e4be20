// SPDX-License-Identifier: Apache-2.0
//
// SequenceInsert and SequenceErase: a copy of a sequence with an element more or less.
// https://onnx.ai/onnx/operators/onnx__SequenceInsert.html
#include "core/kernel_list.h"
#include "kernels_cpu/sequence/sequence_operands.h"

namespace intarsia::cpu {
namespace {

/// Input 0 and output 0 are sequences; a position may be given.
Status check_edit(const KernelContext& context, Status status, int position) {
  if (status.ok()) status = check_sequence(context, 0);
  if (status.ok()) status = check_position(context, position);
  return status.ok() ? check_sequence(context, context.input_count()) : status;
}

struct SequenceInsert {
  static constexpr KernelId id{"SequenceInsert", "", {}};

  static Status check(const KernelContext& context) {
    const Status status = check_operand_types(
        context,
        {.inputs = {kAnyType, kAnyType, kAnyType}, .required_inputs = 2, .outputs = {kAnyType}});
    return check_edit(context, status, 2);
  }

  static Status run(const KernelContext& context) {
    SequenceView sequence;
    if (Status status = read(context, 0, sequence); !status) return status;
    const int64_t size = sequence.size();
    int64_t position = 0;
    Status status = read_position(context, 2, size, size + 1, size, position);
    if (!status) return status;
    const TensorView& element = context.input(1);
    const std::span<const std::byte> old = sequence.bytes();
    const auto added = static_cast<size_t>(sequence_entry_bytes(element.bytes()));
    status = resize_sequence(context, static_cast<int64_t>(old.size() + added));
    if (!status) return status;
    std::byte* out = context.output(0).as<std::byte>();
    const auto before = static_cast<size_t>(sequence.at(position).entry() - old.data());
    copy_bytes(out, old.data(), before);
    static_cast<void>(SequenceWriter({out + before, added}).append(element));
    copy_bytes(out + before + added, old.data() + before, old.size() - before);
    return {};
  }
};

struct SequenceErase {
  static constexpr KernelId id{"SequenceErase", "", {}};

  static Status check(const KernelContext& context) {
    const Status status = check_operand_types(
        context, {.inputs = {kAnyType, kAnyType}, .required_inputs = 1, .outputs = {kAnyType}});
    return check_edit(context, status, 1);
  }

  static Status run(const KernelContext& context) {
    SequenceView sequence;
    if (Status status = read(context, 0, sequence); !status) return status;
    const int64_t size = sequence.size();
    int64_t position = 0;
    Status status = read_position(context, 1, size, size, size - 1, position);
    if (!status) return status;
    const std::span<const std::byte> old = sequence.bytes();
    auto erased = sequence.at(position);
    const auto before = static_cast<size_t>(erased.entry() - old.data());
    const auto after = static_cast<size_t>((++erased).entry() - old.data());
    status = resize_sequence(context, static_cast<int64_t>(before + old.size() - after));
    if (!status) return status;
    std::byte* out = context.output(0).as<std::byte>();
    copy_bytes(out, old.data(), before);
    copy_bytes(out + before, old.data() + after, old.size() - after);
    return {};
  }
};

}  // namespace

extern const KernelList sequence_edit_kernels;
constinit const KernelList sequence_edit_kernels = kernel_list<SequenceInsert, SequenceErase>();

}  // namespace intarsia::cpu
