// SPDX-License-Identifier: Apache-2.0
//
// ConcatFromSequence: the elements one behind another along an axis, which may be a new one.
// https://onnx.ai/onnx/operators/onnx__ConcatFromSequence.html
#include "core/kernel_list.h"
#include "core/operators/sequence/sequence.h"
#include "kernels_cpu/sequence/sequence_operands.h"

namespace intarsia::cpu {
namespace {

struct ConcatFromSequence {
  static constexpr KernelId id{"ConcatFromSequence", "", {}};

  static Status check(const KernelContext& context) {
    Status status = check_attributes<ConcatFromSequenceAttributes>(context);
    if (status.ok()) {
      status = check_operand_types(context, {.inputs = {kAnyType}, .outputs = {kAnyType}});
    }
    if (status.ok()) status = check_sequence(context, 0);
    if (!status) return status;
    const TensorView& output = context.output(0);
    const int32_t axis = context.attributes<ConcatFromSequenceAttributes>().axis;
    if (axis < -output.rank || axis >= output.rank) {
      return context.fail(Code::kIndexOutOfRange, "axis out of range", output.rank, axis, 1);
    }
    if (element_bits(output.type) % 8 == 0) return {};
    return context.fail(Code::kUnsupported, "bits of an element that is joined with others", 8,
                        element_bits(output.type), 1);
  }

  static Status run(const KernelContext& context) {
    const auto& attributes = context.attributes<ConcatFromSequenceAttributes>();
    const bool new_axis = attributes.new_axis != 0;
    const TensorView& output = context.output(0);
    const int axis = attributes.axis + (attributes.axis < 0 ? output.rank : 0);
    SequenceView sequence;
    if (Status status = read(context, 0, sequence); !status) return status;
    if (sequence.size() == 0) {
      return context.fail(Code::kInvalidValue, "elements of a sequence that are joined", 1, 0, 0);
    }
    int32_t extents[kMaxRank] = {};
    int64_t along = 0;
    if (Status status = join(context, sequence, axis, new_axis, extents, along); !status) {
      return status;
    }
    extents[axis] = static_cast<int32_t>(along);
    const auto rank = static_cast<size_t>(output.rank);
    if (Status status = context.resize_output(0, {extents, rank}); !status) return status;

    int64_t outer = 1, inner = element_bits(output.type) / 8;
    for (int i = 0; i < axis; ++i) outer *= extents[i];
    for (int i = axis + 1; i < output.rank; ++i) inner *= extents[i];
    const int64_t row = along * inner;
    std::byte* out = output.as<std::byte>();
    for (const TensorView& element : sequence) {
      const int64_t bytes = (new_axis ? 1 : element.extents[axis]) * inner;
      const auto* from = element.as<const std::byte>();
      for (int64_t i = 0; bytes > 0 && i < outer; ++i) {
        copy_bytes(out + i * row, from + i * bytes, static_cast<size_t>(bytes));
      }
      out += bytes;
    }
    return {};
  }

 private:
  /// Extents of the result, which all elements must agree on but for the axis, and their sum there.
  static Status join(const KernelContext& context, const SequenceView& sequence, int axis,
                     bool new_axis, int32_t (&extents)[kMaxRank], int64_t& along) {
    const TensorView& output = context.output(0);
    const int rank = output.rank - (new_axis ? 1 : 0);
    bool first = true;
    for (const TensorView& element : sequence) {
      if (element.type != output.type) {
        return context.fail(Code::kWrongType, "element type of an element",
                            static_cast<int64_t>(output.type), static_cast<int64_t>(element.type),
                            0);
      }
      if (element.rank != rank) {
        return context.fail(Code::kWrongRank, "rank of an element", rank, element.rank, 0);
      }
      for (int i = 0; i < rank; ++i) {
        const int place = new_axis && i >= axis ? i + 1 : i;
        if (place == axis) continue;
        if (first) extents[place] = element.extents[i];
        if (element.extents[i] != extents[place]) {
          return context.fail(Code::kWrongExtent, "extent that the first element has",
                              extents[place], element.extents[i], 0, i);
        }
      }
      along += new_axis ? 1 : element.extents[axis];
      first = false;
    }
    if (along <= INT32_MAX) return {};
    return context.fail(Code::kWrongExtent, "extent of the joined axis", INT32_MAX, along, 1, axis);
  }
};

}  // namespace

extern const KernelList concat_from_sequence_kernels;
constinit const KernelList concat_from_sequence_kernels = kernel_list<ConcatFromSequence>();

}  // namespace intarsia::cpu
