// SPDX-License-Identifier: Apache-2.0
//
// OneHot: values[1] where the coordinate along the new axis is the index, values[0] elsewhere; an
// index outside [-depth, depth) selects nothing. Indices may be of any numeric type; reals are
// truncated. T is the Width of the values. https://onnx.ai/onnx/operators/onnx__OneHot.html
#include "core/operators/indexing/one_hot.h"
#include "core/kernel_list.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/common/repeat.h"
#include "kernels_cpu/common/strided_copy.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {
namespace {

template <class I>
int64_t whole(I index) {
  const auto value = Element<I>::load(index);
  if constexpr (std::is_floating_point_v<decltype(value)>) {
    // -2^31 lies outside every depth, as do all numbers beyond the range of int64.
    return value > -0x1p62f && value < 0x1p62f ? static_cast<int64_t>(value) : -ops::kBeyondExtents;
  } else if constexpr (std::is_same_v<I, uint64_t>) {
    return value < uint64_t{1} << 62 ? static_cast<int64_t>(value) : -ops::kBeyondExtents;
  } else {
    return static_cast<int64_t>(value);
  }
}

template <class E>
struct Marks {
  static constexpr int64_t kMarkBytes = 64;  // each on a cache line of its own

  const KernelContext& context;
  E* out;
  E on;
  int64_t outer, depth, inner;

  template <class I>
  void set(const TensorView& indices) const {
    const I* all = indices.as<const I>();
    for_items(context, outer * inner, kMarkBytes, [&](int64_t begin, int64_t end) {
      const I* index = all + begin;
      int64_t o = begin / inner, i = begin % inner;
      for (int64_t left = end - begin; left > 0; ++o, i = 0) {
        for (; i < inner && left > 0; ++i, --left) {
          const int64_t value = whole(*index++);
          const int64_t at = value < 0 && value >= -depth ? value + depth : value;
          if (at >= 0 && at < depth) out[(o * depth + at) * inner + i] = on;
        }
      }
    });
  }
  void set_any(const TensorView& indices) const {
    switch (indices.type) {
      case DataType::kFloat:
        return set<float>(indices);
      case DataType::kDouble:
        return set<double>(indices);
      case DataType::kFloat16:
        return set<Float16>(indices);
      case DataType::kBfloat16:
        return set<BFloat16>(indices);
      case DataType::kInt8:
        return set<int8_t>(indices);
      case DataType::kInt16:
        return set<int16_t>(indices);
      case DataType::kInt32:
        return set<int32_t>(indices);
      case DataType::kInt64:
        return set<int64_t>(indices);
      case DataType::kUint8:
        return set<uint8_t>(indices);
      case DataType::kUint16:
        return set<uint16_t>(indices);
      case DataType::kUint32:
        return set<uint32_t>(indices);
      case DataType::kUint64:
        return set<uint64_t>(indices);
      default:
        return;
    }
  }
};

template <class T>
struct OneHot {
  static constexpr KernelId id{"OneHot", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context) {
    constexpr KernelType kType = kernel_type_of<T>;
    return check_operand_types<ops::OneHot>(
        context,
        {.inputs = {kAnyNumber, kAnyNumber, kType}, .required_inputs = 3, .outputs = {kType}});
  }
  static Status run(const KernelContext& context) {
    using E = typename T::Element;
    if (Status s = check_extents<ops::OneHot>(context); !s) return s;
    const TensorView& y = context.output(0);
    int axis = context.attributes<OneHotAttributes>().axis;
    if (axis < 0) axis += y.rank;
    const E* values = context.input(2).as<const E>();
    E* out = y.as<E>();
    const E off = values[0];
    const int64_t count = y.count();
    for_items(context, count, sizeof(E), [&](int64_t begin, int64_t end) {
      repeat_each(out + begin, &off, 1, end - begin, sizeof(E));
    });
    const Marks<E> marks{context,         out,
                         values[1],       span_count(y, 0, axis),
                         y.extents[axis], span_count(y, axis + 1, y.rank)};
    marks.set_any(context.input(0));
    return {};
  }
};

}  // namespace

extern const KernelList one_hot_kernels;
constinit const KernelList one_hot_kernels = kernel_list<Each<OneHot, Widths>>();

}  // namespace intarsia::cpu
