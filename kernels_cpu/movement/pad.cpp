// SPDX-License-Identifier: Apache-2.0
//
// Pad: the input with elements in front of and behind each listed axis; negative pads cut. Those
// elements are a constant, or the input continued: mirrored without repeating its edge (reflect),
// by its edge (edge), or from its other end (wrap), however wide they are. T is a Width; elements
// are copied as bytes. https://onnx.ai/onnx/operators/onnx__Pad.html
#include "core/operators/movement/pad.h"
#include "core/kernel_list.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/common/strided_copy.h"
#include "kernels_cpu/indexing/index_check.h"

namespace intarsia::cpu {
namespace {

/// Index in [0, extent) that position `index` of the continued axis repeats. REQUIRES: extent > 0.
int64_t continued(int64_t index, int64_t extent, int32_t mode) {
  if (mode == PadAttributes::kEdge) return index < 0 ? 0 : index < extent ? index : extent - 1;
  const int64_t period = mode == PadAttributes::kWrap ? extent : 2 * (extent - 1);
  if (period == 0) return 0;
  index %= period;
  if (index < 0) index += period;
  return index < extent ? index : period - index;
}

/// Walks the axes from the outermost on. Along each the output falls into three parts: in front of,
/// inside and behind the input.
template <class E>
class Padding {
 public:
  Padding(const TensorView& x, const TensorView& y, const int64_t (&before)[kMaxRank], int32_t mode,
          E value)
      : x_(x), y_(y), before_(before), mode_(mode), value_(value) {
    dense_strides(x, in_strides_);
    dense_strides(y, out_strides_);
    // Trailing axes without padding are one run.
    rank_ = y.rank;
    while (rank_ > 0 && before[rank_ - 1] == 0 && x.extents[rank_ - 1] == y.extents[rank_ - 1]) {
      --rank_;
    }
    run_ = span_count(y, rank_, y.rank);
  }

  /// Elements [begin, end) of the first padded axis, or everything if no axis is padded.
  int rank() const { return rank_; }
  int64_t run() const { return run_; }

  void fill(int axis, E* out, const E* in) const {
    if (axis == rank_) {
      copy_run(out, in, run_ * static_cast<int64_t>(sizeof(E)));
      return;
    }
    fill_range(axis, out, in, 0, y_.extents[axis]);
  }

  void fill_range(int axis, E* out, const E* in, int64_t begin, int64_t end) const {
    const int64_t extent = x_.extents[axis], before = before_[axis];
    const int64_t stride = out_strides_[axis];
    const int64_t first = clamp(before, begin, end), last = clamp(before + extent, first, end);
    pad(axis, out, in, begin, first);
    if (axis + 1 == rank_ && first < last) {  // an input without elements has no address
      copy_run(out + first * stride, in + (first - before) * in_strides_[axis],
               (last - first) * stride * static_cast<int64_t>(sizeof(E)));
    } else {
      for (int64_t i = first; i < last; ++i) {
        fill(axis + 1, out + i * stride, in + (i - before) * in_strides_[axis]);
      }
    }
    pad(axis, out, in, last, end);
  }

 private:
  static int64_t clamp(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value < high ? value : high;
  }
  void pad(int axis, E* out, const E* in, int64_t begin, int64_t end) const {
    const int64_t stride = out_strides_[axis];
    if (mode_ == PadAttributes::kConstant) {
      for (int64_t i = begin * stride; i < end * stride; ++i) out[i] = value_;
      return;
    }
    for (int64_t i = begin; i < end; ++i) {
      const int64_t from = continued(i - before_[axis], x_.extents[axis], mode_);
      fill(axis + 1, out + i * stride, in + from * in_strides_[axis]);
    }
  }

  const TensorView& x_;
  const TensorView& y_;
  const int64_t (&before_)[kMaxRank];
  int32_t mode_;
  E value_;
  int rank_ = 0;
  int64_t run_ = 1;
  int64_t in_strides_[kMaxRank] = {};
  int64_t out_strides_[kMaxRank] = {};
};

template <class T>
struct Pad {
  static constexpr KernelId id{"Pad", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context) {
    constexpr KernelType kType = kernel_type_of<T>;
    if (Status s = check_operand_types<ops::Pad>(
            context, {.inputs = {kType, DataType::kInt64, kType, index_type(context.input(3))},
                      .required_inputs = 2,
                      .outputs = {kType}});
        !s) {
      return s;
    }
    return check_scalars(context, {2});
  }
  static Status run(const KernelContext& context) {
    using E = typename T::Element;
    if (Status s = check_extents<ops::Pad>(context); !s) return s;
    const TensorView& x = context.input(0);
    const TensorView& y = context.output(0);
    const TensorView& constant = context.input(2);
    const int32_t mode = context.attributes<PadAttributes>().mode;
    const ShapeContext values(context);
    const int64_t count = context.input(1).count() / 2;
    int64_t before[kMaxRank] = {};
    for (int64_t i = 0; i < count; ++i) {
      int64_t axis = context.input(3).present() ? values.value(3, i).value() : i;
      if (axis < 0) axis += x.rank;
      before[axis] = values.value(1, i).value();
      if (mode != PadAttributes::kConstant && x.extents[axis] == 0 && y.extents[axis] > 0) {
        return context.fail(Code::kInvalidValue, "padding that continues an empty axis", 0,
                            y.extents[axis], 0, static_cast<int>(axis));
      }
    }
    if (y.count() == 0) return {};
    const E value = constant.present() ? *constant.as<const E>() : E{};
    const Padding<E> padding(x, y, before, mode, value);
    E* out = y.as<E>();
    const E* in = x.as<const E>();
    if (padding.rank() == 0) {
      padding.fill(0, out, in);
      return {};
    }
    // The outermost axis that is not 1 is spread over the threads.
    int axis = 0;
    while (axis + 1 < padding.rank() && y.extents[axis] == 1 && x.extents[axis] == 1 &&
           before[axis] == 0) {
      ++axis;
    }
    const int64_t bytes = span_count(y, axis + 1, y.rank) * static_cast<int64_t>(sizeof(E));
    for_items(context, y.extents[axis], bytes,
              [&](int64_t begin, int64_t end) { padding.fill_range(axis, out, in, begin, end); });
    return {};
  }
};

}  // namespace

extern const KernelList pad_kernels;
constinit const KernelList pad_kernels = kernel_list<Each<Pad, Widths>>();

}  // namespace intarsia::cpu
