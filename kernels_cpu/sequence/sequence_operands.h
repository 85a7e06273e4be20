// SPDX-License-Identifier: Apache-2.0
//
// What the kernels of sequences share: operands that are sequences, positions in them, and outputs
// that are as long as the elements need.
//
// The bytes of a sequence come from the host program where it is an input, so no kernel relies on
// them: `read` looks at every entry before anything is taken from one.
#pragma once

#include "core/runtime/operand_check.h"
#include "intarsia/sequence.h"

namespace intarsia::cpu {

/// Fails unless the operand (inputs, then outputs) is there and the bytes of a sequence or of an
/// optional value.
inline Status check_sequence(const KernelContext& context, int operand) {
  const TensorView& view = operand < context.input_count()
                               ? context.input(operand)
                               : context.output(operand - context.input_count());
  if (!holds_elements(view.type)) {
    return context.fail(Code::kWrongType, "element type of the operand",
                        static_cast<int64_t>(DataType::kSequence), static_cast<int64_t>(view.type),
                        operand);
  }
  return view.rank == 1
             ? Status()
             : context.fail(Code::kWrongRank, "rank of a sequence's bytes", 1, view.rank, operand);
}

/// Fails if a position is given that is no scalar of int32 or int64.
inline Status check_position(const KernelContext& context, int input) {
  const TensorView& position = context.input(input);
  if (!position.present()) return {};
  if (position.type != DataType::kInt32 && position.type != DataType::kInt64) {
    return context.fail(Code::kWrongType, "element type of the operand",
                        static_cast<int64_t>(DataType::kInt64), static_cast<int64_t>(position.type),
                        input);
  }
  return check_scalars(context, {input});
}

inline Status no_sequence(const KernelContext& context, int input) {
  return context.fail(Code::kInvalidValue, "bytes that are no sequence", 0, 0, input);
}

/// Reads an input, each of whose entries is proved to lie inside of it.
inline Status read(const KernelContext& context, int input, SequenceView& sequence) {
  const auto found = SequenceView::of(context.input(input));
  if (!found) return no_sequence(context, input);
  sequence = *found;
  return {};
}

inline int64_t position_of(const TensorView& view) {
  return view.type == DataType::kInt32 ? *view.as<const int32_t>() : *view.as<const int64_t>();
}

/// The position that an input says, negative ones counted from the end; `otherwise` where it is
/// absent. Fails unless it lies in [0, end).
inline Status read_position(const KernelContext& context, int input, int64_t size, int64_t end,
                            int64_t otherwise, int64_t& position) {
  const TensorView& view = context.input(input);
  position = otherwise;
  if (view.present()) {
    position = position_of(view);
    if (position < -size || position >= end) {
      return context.fail(Code::kIndexOutOfRange, "position in a sequence", size, position, input);
    }
    if (position < 0) position += size;
    return {};
  }
  return position >= 0 && position < end
             ? Status()
             : context.fail(Code::kIndexOutOfRange, "position in a sequence", size, position, 0);
}

/// Gives an output, a sequence, this many bytes.
inline Status resize_sequence(const KernelContext& context, int64_t bytes, int output = 0) {
  if (bytes > INT32_MAX) {
    return context.fail(Code::kWrongExtent, "bytes of a sequence", INT32_MAX, bytes,
                        context.input_count() + output);
  }
  const int32_t extents[] = {static_cast<int32_t>(bytes)};
  return context.resize_output(output, extents);
}

/// The bytes of output 0.
inline std::span<std::byte> bytes_of_output(const KernelContext& context) {
  const TensorView& output = context.output(0);
  return {output.as<std::byte>(), static_cast<size_t>(output.count())};
}

/// Copies bytes, of which there may be none.
inline void copy_bytes(std::byte* to, const std::byte* from, size_t bytes) {
  if (bytes != 0) std::memmove(to, from, bytes);
}

}  // namespace intarsia::cpu
