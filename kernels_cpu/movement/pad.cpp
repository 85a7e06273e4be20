// SPDX-License-Identifier: Apache-2.0
//
// Pad: the input with elements in front of and behind each listed axis; negative pads cut. Those
// elements are a constant, or the input continued: mirrored without repeating its edge (reflect),
// by its edge (edge), or from its other end (wrap), however wide they are. T is a Width; elements
// are copied as bytes. https://onnx.ai/onnx/operators/onnx__Pad.html
#include <algorithm>

#include "core/kernel_list.h"
#include "core/operators/movement/padding.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/common/strided_copy.h"
#include "kernels_cpu/gemm/vector.h"
#include "kernels_cpu/indexing/index_check.h"

namespace intarsia::cpu {
namespace {

/// Neighbouring positions of a continued axis: what they repeat starts at index `from` of the input
/// and goes on in steps of 1, 0 or -1.
struct Stretch {
  int64_t from, step, length;
};

/// The stretch that begins at position `index`, counted from the input's first. REQUIRES: extent >
/// 0.
Stretch stretch_at(int64_t index, int64_t extent, int32_t mode) {
  if (mode == PadAttributes::kEdge) {
    if (index < 0) return {0, 0, -index};
    if (index >= extent) return {extent - 1, 0, INT64_MAX};
  }
  const int64_t period = mode == PadAttributes::kReflect ? 2 * (extent - 1) : extent;
  if (period == 0) return {0, 0, INT64_MAX};
  if (index < 0) index += period;
  if (index < 0 || index >= period) {  // further than most paddings are wide
    index %= period;
    if (index < 0) index += period;
  }
  if (index < extent) return {index, 1, extent - index};
  return {period - index, -1, period - index};
}

/// Walks the axes from the outermost on. Along each the output falls into three parts: in front of,
/// inside and behind the input.
template <class E>
class Padding {
 public:
  Padding(const TensorView& x, const TensorView& y, const Pads& pads, int32_t mode, E value)
      : y_(y), before_(pads.before), extents_(pads.extent), mode_(mode), value_(value) {
    dense_strides(x, in_strides_);
    dense_strides(y, out_strides_);
    for (int axis = 0; axis < x.rank; ++axis) skipped_ += pads.first[axis] * in_strides_[axis];
    // Trailing axes without padding are one run.
    rank_ = y.rank;
    while (rank_ > 0 && keeps(rank_ - 1)) --rank_;
    run_ = span_count(y, rank_, y.rank);
    if (rank_ > 0 && run_ == 1) list_border();
  }

  /// How many axes are walked: those behind them are copied as they are.
  int rank() const { return rank_; }
  /// True if all of the input's axis is all of the output's.
  bool keeps(int axis) const { return before_[axis] == 0 && extents_[axis] == y_.extents[axis]; }
  /// True if no element of the input is one of the output.
  bool shows_nothing() const {
    return std::any_of(extents_, extents_ + y_.rank, [](int64_t extent) { return extent == 0; });
  }
  /// How many elements of the input come before the first that is read.
  int64_t skipped() const { return skipped_; }

  void fill(int axis, E* out, const E* in) const {
    if (axis == rank_) {
      copy_run(out, in, run_ * static_cast<int64_t>(sizeof(E)));
      return;
    }
    fill_range(axis, out, in, 0, y_.extents[axis]);
  }

  void fill_range(int axis, E* out, const E* in, int64_t begin, int64_t end) const {
    if (has_border_ && axis + 1 == rank_ && end - begin == y_.extents[axis]) {
      return fill_line(out, in);
    }
    const int64_t extent = extents_[axis], before = before_[axis];
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
  /// A position of a line that is no element of the input, and the index that it repeats.
  struct Border {
    int32_t to, from;
  };
  static constexpr int kMostBorder = INTARSIA_HAS_VECTORS ? 128 : 0;

  /// Lists those of the innermost axis, if they are few: they are the same for all lines.
  void list_border() {
    const int axis = rank_ - 1;
    const int64_t whole = y_.extents[axis], extent = extents_[axis];
    first_ = clamp(before_[axis], 0, whole);
    last_ = clamp(before_[axis] + extent, first_, whole);
    if (first_ == last_ || whole - (last_ - first_) > kMostBorder) return;
    has_border_ = true;
    for (int64_t to = first_ > 0 ? 0 : last_; to < whole; to = to + 1 == first_ ? last_ : to + 1) {
      const int64_t from = mode_ == PadAttributes::kConstant
                               ? 0
                               : stretch_at(to - before_[axis], extent, mode_).from;
      border_[borders_++] = {static_cast<int32_t>(to), static_cast<int32_t>(from)};
    }
  }
  void fill_line(E* out, const E* in) const {
    const int64_t start = first_ - before_[rank_ - 1];
    copy_run(out + first_, in + start, (last_ - first_) * static_cast<int64_t>(sizeof(E)));
    if (mode_ == PadAttributes::kConstant) {
      for (int i = 0; i < borders_; ++i) out[border_[i].to] = value_;
    } else {
      for (int i = 0; i < borders_; ++i) out[border_[i].to] = in[border_[i].from];
    }
  }

  static int64_t clamp(int64_t value, int64_t low, int64_t high) {
    return value < low ? low : value < high ? value : high;
  }
  void pad(int axis, E* out, const E* in, int64_t begin, int64_t end) const {
    const int64_t stride = out_strides_[axis];
    if (mode_ == PadAttributes::kConstant) {
      std::fill(out + begin * stride, out + end * stride, value_);
      return;
    }
    const int64_t in_stride = in_strides_[axis];
    const bool elements = axis + 1 == rank_ && run_ == 1;
    for (int64_t i = begin; i < end;) {
      const Stretch stretch = stretch_at(i - before_[axis], extents_[axis], mode_);
      const int64_t count = stretch.length < end - i ? stretch.length : end - i;
      const E* from = in + stretch.from * in_stride;
      if (elements && stretch.step != 1) {
        for (int64_t k = 0; k < count; ++k) out[i + k] = from[k * stretch.step];
      } else if (elements) {
        copy_run(out + i, from, count * static_cast<int64_t>(sizeof(E)));
      } else {
        for (int64_t k = 0; k < count; ++k) {
          fill(axis + 1, out + (i + k) * stride, from + k * stretch.step * in_stride);
        }
      }
      i += count;
    }
  }

  const TensorView& y_;
  const int64_t (&before_)[kMaxRank];
  const int64_t (&extents_)[kMaxRank];
  int32_t mode_;
  E value_;
  int rank_ = 0;
  int64_t run_ = 1, skipped_ = 0;
  int64_t in_strides_[kMaxRank] = {};
  int64_t out_strides_[kMaxRank] = {};
  bool has_border_ = false;
  int borders_ = 0;
  int64_t first_ = 0, last_ = 0;  ///< Of a line, the elements of the input.
  Border border_[kMostBorder + 1];
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
    Pads pads;
    if (Status s = pads.read(context, ShapeContext(context)); !s) return s;
    if (y.count() == 0) return {};
    const E value = constant.present() ? *constant.as<const E>() : E{};
    const Padding<E> padding(x, y, pads, mode, value);
    E* out = y.as<E>();
    const E* in = x.as<const E>() + padding.skipped();
    if (padding.rank() == 0) {
      padding.fill(0, out, in);
      return {};
    }
    if (mode == PadAttributes::kConstant && padding.shows_nothing()) {
      for_items(context, y.count(), static_cast<int64_t>(sizeof(E)),
                [=](int64_t begin, int64_t end) { std::fill(out + begin, out + end, value); });
      return {};
    }
    // The outermost axis that is not 1 is spread over the threads.
    int axis = 0;
    while (axis + 1 < padding.rank() && y.extents[axis] == 1 && padding.keeps(axis)) ++axis;
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
