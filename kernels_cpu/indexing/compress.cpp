// SPDX-License-Identifier: Apache-2.0
//
// Compress: the slices along an axis (without axis: the elements) whose condition is true; what
// lies beyond the condition's length is dropped. The output is resized to what was selected. T is a
// Width; slices are copied as bytes. https://onnx.ai/onnx/operators/onnx__Compress.html
#include "core/kernel_list.h"
#include "core/operators/indexing/selection.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/common/strided_copy.h"

namespace intarsia::cpu {
namespace {

int32_t count_true(const uint8_t* condition, int64_t length) {
  int32_t count = 0;
  for (int64_t i = 0; i < length; ++i) count += condition[i] != 0 ? 1 : 0;
  return count;
}

template <class T>
struct Compress {
  static constexpr KernelId id{"Compress", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context) {
    constexpr KernelType kType = kernel_type_of<T>;
    if (Status s = check_operand_types<ops::Compress>(
            context,
            {.inputs = {kType, DataType::kBool}, .required_inputs = 2, .outputs = {kType}});
        !s) {
      return s;
    }
    const int32_t axis = context.attributes<CompressAttributes>().axis;
    const TensorView& x = context.input(0);
    if (context.input(1).rank != 1) {
      return context.fail(Code::kWrongRank, "rank of condition", 1, context.input(1).rank, 1);
    }
    if (axis != kNoAxis && (axis < -x.rank || axis >= x.rank)) {
      return context.fail(Code::kIndexOutOfRange, "axis out of range", x.rank, axis, 0);
    }
    const int rank = axis == kNoAxis ? 1 : x.rank;
    if (context.output(0).rank == rank) return {};
    return context.fail(Code::kWrongRank, "output rank", rank, context.output(0).rank, 2);
  }
  static Status run(const KernelContext& context) {
    using E = typename T::Element;
    const TensorView& x = context.input(0);
    int axis = context.attributes<CompressAttributes>().axis;
    const bool flat = axis == kNoAxis;
    if (flat) {
      axis = 0;
    } else if (axis < 0) {
      axis += x.rank;
    }
    const int64_t outer = flat ? 1 : span_count(x, 0, axis);
    const int64_t extent = flat ? x.count() : x.extents[axis];
    const int64_t inner = flat ? 1 : span_count(x, axis + 1, x.rank);
    const auto* condition = context.input(1).as<const uint8_t>();
    const int64_t length =
        context.input(1).extents[0] < extent ? context.input(1).extents[0] : extent;
    const int32_t selected = count_true(condition, length);

    int32_t extents[kMaxRank];
    const int rank = flat ? 1 : x.rank;
    for (int i = 0; i < rank; ++i) extents[i] = i == axis ? selected : x.extents[i];
    if (Status s = context.resize_output(0, {extents, static_cast<size_t>(rank)}); !s) return s;
    if (context.output(0).count() == 0) return {};
    const E* in = x.as<const E>();
    E* out = context.output(0).as<E>();
    const int64_t bytes = inner * static_cast<int64_t>(sizeof(E));
    for_items(context, outer * length, bytes, [=](int64_t begin, int64_t end) {
      int64_t o = begin / length, i = begin % length;
      E* to = out + (o * selected + count_true(condition, i)) * inner;
      for (int64_t left = end - begin; left > 0; ++o, i = 0) {
        const E* from = in + o * extent * inner;
        const int64_t last = length - i < left ? length : i + left;
        left -= last - i;
        for (; i < last; ++i) {
          if (condition[i] == 0) continue;
          copy_run(to, from + i * inner, bytes);
          to += inner;
        }
      }
    });
    return {};
  }
};

}  // namespace

extern const KernelList compress_kernels;
constinit const KernelList compress_kernels = kernel_list<Each<Compress, Widths>>();

}  // namespace intarsia::cpu
