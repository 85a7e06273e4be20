// SPDX-License-Identifier: Apache-2.0
//
// SplitToSequence: the parts of a tensor along an axis as elements: of equal size, the last one
// perhaps smaller, of listed sizes, or slices without the axis.
// https://onnx.ai/onnx/operators/onnx__SplitToSequence.html
#include <new>

#include "core/kernel_list.h"
#include "core/operators/sequence/sequence.h"
#include "kernels_cpu/sequence/sequence_operands.h"

namespace intarsia::cpu {
namespace {

struct SplitToSequence {
  static constexpr KernelId id{"SplitToSequence", "", {}};

  static Status check(const KernelContext& context) {
    Status status = check_attributes<SplitToSequenceAttributes>(context);
    if (status.ok()) {
      status = check_operand_types(
          context, {.inputs = {kAnyType, kAnyType}, .required_inputs = 1, .outputs = {kAnyType}});
    }
    if (status.ok()) status = check_sequence(context, context.input_count());
    if (!status) return status;
    const TensorView &x = context.input(0), &split = context.input(1);
    const int32_t axis = context.attributes<SplitToSequenceAttributes>().axis;
    if (axis < -x.rank || axis >= x.rank) {
      return context.fail(Code::kIndexOutOfRange, "axis out of range", x.rank, axis, 0);
    }
    if (element_bits(x.type) % 8 != 0) {
      return context.fail(Code::kUnsupported, "bits of an element that is split off", 8,
                          element_bits(x.type), 0);
    }
    if (!split.present()) return {};
    if (split.type != DataType::kInt32 && split.type != DataType::kInt64) {
      return context.fail(Code::kWrongType, "element type of the operand",
                          static_cast<int64_t>(DataType::kInt64), static_cast<int64_t>(split.type),
                          1);
    }
    return split.rank <= 1 ? Status()
                           : context.fail(Code::kWrongRank, "rank of split", 1, split.rank, 1);
  }

  static Status run(const KernelContext& context) {
    const auto& attributes = context.attributes<SplitToSequenceAttributes>();
    const TensorView& x = context.input(0);
    const int axis = attributes.axis + (attributes.axis < 0 ? x.rank : 0);
    const bool drop = !context.input(1).present() && attributes.keepdims == 0;
    Parts parts(context, x.extents[axis]);
    if (Status status = parts.check(); !status) return status;

    int64_t outer = 1, inner = element_bits(x.type) / 8;
    for (int i = 0; i < axis; ++i) outer *= x.extents[i];
    for (int i = axis + 1; i < x.rank; ++i) inner *= x.extents[i];
    // Parts without elements may be as many as an extent says, so no more are counted than fit.
    int64_t total = 0;
    const int64_t room = context.planned_extents(context.input_count())[0];
    for (int64_t i = 0; i < parts.count && total <= room; ++i) {
      total += sequence_entry_bytes(outer * parts.size(i) * inner);
    }
    if (Status status = resize_sequence(context, total); !status) return status;

    const auto* from = x.as<const std::byte>();
    std::byte* out = context.output(0).as<std::byte>();
    const int64_t row = x.extents[axis] * inner;
    for (int64_t i = 0; i < parts.count; ++i) {
      const int64_t size = parts.size(i), bytes = size * inner;
      SequenceEntry& entry = *new (out) SequenceEntry;
      entry.bytes = outer * bytes;
      entry.type = static_cast<uint8_t>(x.type);
      for (int k = 0; k < x.rank; ++k) {
        if (k == axis && drop) continue;
        entry.extents[entry.rank++] = k == axis ? static_cast<int32_t>(size) : x.extents[k];
      }
      std::byte* data = out + sizeof(entry);
      for (int64_t k = 0; bytes > 0 && k < outer; ++k) {
        copy_bytes(data + k * bytes, from + k * row, static_cast<size_t>(bytes));
      }
      out += sequence_entry_bytes(entry.bytes);
      for (std::byte* padding = data + entry.bytes; padding != out; ++padding) *padding = {};
      from += bytes;
    }
    return {};
  }

 private:
  /// The sizes of the parts.
  struct Parts {
    Parts(const KernelContext& context, int64_t extent)
        : context_(context), split_(context.input(1)), extent_(extent), count(extent) {}

    Status check() {
      if (!split_.present()) return {};
      if (split_.rank == 1) {
        count = split_.extents[0];
        int64_t sum = 0;
        for (int64_t i = 0; i < count; ++i) {
          if (number(i) < 0 || number(i) > extent_ - sum) {
            return context_.fail(Code::kInvalidValue, "sum of the parts", extent_, sum + number(i),
                                 1);
          }
          sum += number(i);
        }
        if (sum == extent_) return {};
        return context_.fail(Code::kInvalidValue, "sum of the parts", extent_, sum, 1);
      }
      if (number(0) <= 0) {
        return context_.fail(Code::kInvalidValue, "size of the parts", 1, number(0), 1);
      }
      count = extent_ / number(0) + (extent_ % number(0) != 0 ? 1 : 0);
      return {};
    }

    int64_t size(int64_t i) const {
      if (!split_.present()) return 1;
      if (split_.rank == 1) return number(i);
      return i + 1 < count ? number(0) : extent_ - i * number(0);
    }

   private:
    int64_t number(int64_t i) const {
      return split_.type == DataType::kInt32 ? split_.as<const int32_t>()[i]
                                             : split_.as<const int64_t>()[i];
    }

    const KernelContext& context_;
    const TensorView& split_;
    int64_t extent_;

   public:
    int64_t count;
  };
};

}  // namespace

extern const KernelList split_to_sequence_kernels;
constinit const KernelList split_to_sequence_kernels = kernel_list<SplitToSequence>();

}  // namespace intarsia::cpu
