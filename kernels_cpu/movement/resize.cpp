// SPDX-License-Identifier: Apache-2.0
//
// Resize by nearest, linear and cubic interpolation, along any number of axes.
//
// Each resized axis has a table of taps: for an output index the input indices that contribute and
// their weights (resize_taps.h). An output row is the weighted sum of the input rows that the outer
// axes' taps name, kept in a scratch row, and then interpolated along the innermost resized axis.
// Computes in float, in double for double and integers; integer results are rounded to nearest even
// and saturate, as in ONNX's reference implementation. Rows are spread over the caller's threads.
// https://onnx.ai/onnx/operators/onnx__Resize.html
#include <algorithm>
#include <cmath>

#include "core/kernel_list.h"
#include "core/operators/movement/resize.h"
#include "core/runtime/operand_check.h"
#include "intarsia/per_thread.h"
#include "kernels_cpu/common/accumulate.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/common/strided_copy.h"
#include "kernels_cpu/math/element.h"
#include "kernels_cpu/movement/resize_taps.h"

namespace intarsia::cpu {
namespace {

template <class T>
T store_real(Weighted<T> value) {
  if constexpr (std::is_integral_v<T>) {
    return saturate_cast<T>(std::nearbyint(value));
  } else {
    return Element<T>::store(value);
  }
}

/// Rows that are interpolated at once, if the plan has room for them.
constexpr int kRows = 4;

/// Elements of the scratch row if `last` is the innermost resized axis.
int64_t row_elements(const TensorView& x, int last) {
  return span_count(x, last, x.rank);
}

template <class T>
class Interpolation {
 public:
  using V = Weighted<T>;

  explicit Interpolation(const KernelContext& context)
      : context_(context),
        a_(context.attributes<ResizeAttributes>()),
        x_(context.input(0)),
        y_(context.output(0)) {}

  Status run() {
    read_resize_axes(context_, axes_);
    const bool crop = a_.coordinates == ResizeAttributes::kCropAndResize;
    std::span<std::byte> left = context_.workspace();
    for (int axis = 0; axis < x_.rank; ++axis) {
      if (x_.extents[axis] == 0) {
        return context_.fail(Code::kWrongExtent, "extent to enlarge", 1, 0, 0, axis);
      }
      if (!axes_[axis].listed || axes_[axis].identity(crop)) continue;
      if (Status s = add_table(axis, left); !s) return s;
      last_ = axis;
    }
    if (last_ < 0) {
      std::memcpy(y_.data, x_.data, static_cast<size_t>(x_.bytes()));
      return {};
    }
    // The plan provides a row for the axes that it expects to be resized; a longer one is cut at a
    // resized axis further in.
    const auto threads = static_cast<int64_t>(context_.threads());
    const auto fits = [&] {
      const int64_t bytes = row_elements(x_, last_) * static_cast<int64_t>(sizeof(V));
      return bytes <= static_cast<int64_t>(left.size()) / threads;
    };
    for (int axis = last_ + 1; axis < x_.rank && !fits(); ++axis) {
      if (!axes_[axis].listed) continue;
      if (Status s = add_table(axis, left); !s) return s;
      last_ = axis;
    }
    if (!fits()) {
      return context_.fail(Code::kCorruptPlan, "bytes of workspace", row_elements(x_, last_),
                           static_cast<int64_t>(left.size()));
    }
    dense_strides(x_, strides_);
    const int64_t elements = row_elements(x_, last_), bytes = elements * int64_t{sizeof(V)};
    const bool together = strides_[last_] == 1 && has_short_taps() &&
                          bytes * threads <= static_cast<int64_t>(left.size()) / kRows;
    const PerThread<V> rows(left, context_.threads(), together ? kRows * elements : elements);
    context_.parallel_for(span_count(y_, 0, last_), [&](int64_t begin, int64_t end, int thread) {
      Waiting some{.scratch = rows[thread], .most = together ? kRows : 1};
      for (int64_t row = begin; row < end; ++row) resize_row(row, some);
      finish(some);
    });
    return {};
  }

 private:
  Status add_table(int axis, std::span<std::byte>& left) {
    taps_[axis] = resize_taps(a_, axes_[axis]);
    const auto most = static_cast<int64_t>(left.size() / sizeof(Tap<V>));
    if (taps_[axis] > most / axes_[axis].out) {
      return context_.fail(Code::kUnsupported, "taps for this scale", most, taps_[axis], 0, axis);
    }
    auto* table = reinterpret_cast<Tap<V>*>(left.data());
    context_.parallel_for(axes_[axis].out, [&](int64_t begin, int64_t end, int) {
      for (int64_t j = begin; j < end; ++j) {
        resize_taps_of(a_, axes_[axis], j, table + j * taps_[axis], taps_[axis]);
      }
    });
    tables_[axis] = table;
    left = left.subspan(static_cast<size_t>(axes_[axis].out * taps_[axis]) * sizeof(Tap<V>));
    return {};
  }

  /// Rows that wait for their interpolation along the innermost resized axis, which reads the table
  /// of taps once for all of them.
  struct Waiting {
    V* scratch;  ///< Of rows that come from several ones.
    int most, count = 0;
    T* out[kRows] = {};
    const V* from[kRows] = {};
  };

  bool has_short_taps() const {
    return a_.coordinates != ResizeAttributes::kCropAndResize &&
           (taps_[last_] == 2 || taps_[last_] == 4);
  }

  void finish(Waiting& some) const {
    const int64_t columns = y_.extents[last_];
    if (some.count == kRows && taps_[last_] == 2) {
      interpolate_rows<2, kRows>(some.out, some.from, tables_[last_], columns);
    } else if (some.count == kRows) {
      interpolate_rows<4, kRows>(some.out, some.from, tables_[last_], columns);
    } else {
      for (int i = 0; i < some.count; ++i) {
        interpolate(some.out[i], some.from[i], columns, strides_[last_]);
      }
    }
    some.count = 0;
  }

  void resize_row(int64_t row, Waiting& some) const {
    // The taps of each outer axis at this row; `fixed` is the offset along the others.
    const Tap<V>* taps[kMaxRank] = {};
    int64_t combinations = 1, fixed = 0, rest = row;
    bool outside = false;
    for (int axis = last_ - 1; axis >= 0; --axis) {
      const int64_t j = rest % y_.extents[axis];
      rest /= y_.extents[axis];
      if (tables_[axis] == nullptr) {
        fixed += j * strides_[axis];
        continue;
      }
      taps[axis] = tables_[axis] + j * taps_[axis];
      outside = outside || taps[axis]->index < 0;
      combinations *= taps_[axis];
    }
    const int64_t inner = strides_[last_];
    const int64_t columns = y_.extents[last_];
    T* out = y_.as<T>() + row * columns * inner;
    if (outside) {
      const T value = store_real<T>(static_cast<V>(a_.extrapolation_value));
      for (int64_t i = 0; i < columns * inner; ++i) out[i] = value;
      return;
    }
    const int64_t count = row_elements(x_, last_);
    V* const scratch = some.scratch + some.count * count;
    const V* source = scratch;
    bool first = true;
    for (int64_t c = 0; c < combinations; ++c) {
      V weight = 1;
      const T* in = x_.as<const T>() + fixed;
      int64_t tap = c;
      for (int axis = last_ - 1; axis >= 0; --axis) {
        if (taps[axis] == nullptr) continue;
        const Tap<V>& t = taps[axis][tap % taps_[axis]];
        tap /= taps_[axis];
        weight *= t.weight;
        in += t.index * strides_[axis];
      }
      if (weight == 0 && c + 1 < combinations) continue;
      if constexpr (std::is_same_v<T, V>) {
        if (combinations == 1) source = in;  // a single row as it is
      }
      if (source == scratch) add_row(scratch, in, weight, count, first);
      first = false;
    }
    some.out[some.count] = out;
    some.from[some.count++] = source;
    if (some.count == some.most) finish(some);
  }

  /// scratch = weight * in, or scratch += weight * in.
  static void add_row(V* scratch, const T* in, V weight, int64_t count, bool first) {
    if (first) {
      for (int64_t i = 0; i < count; ++i)
        scratch[i] = weight * static_cast<V>(Element<T>::load(in[i]));
    } else {
      for (int64_t i = 0; i < count; ++i)
        scratch[i] += weight * static_cast<V>(Element<T>::load(in[i]));
    }
  }

  /// Rows of single elements, all inside of the input.
  template <int64_t kTaps, int kCount>
  static void interpolate_rows(T* const* to, const V* const* from, const Tap<V>* tap,
                               int64_t columns) {
    T* out[kCount];
    const V* row[kCount];
    std::copy_n(to, kCount, out);
    std::copy_n(from, kCount, row);
    INTARSIA_INDEPENDENT
    for (int64_t j = 0; j < columns; ++j) {
      const Tap<V>* at = tap + j * kTaps;
      V sum[kCount];
      for (int r = 0; r < kCount; ++r) sum[r] = at[0].weight * row[r][at[0].index];
      for (int64_t t = 1; t < kTaps; ++t) {
        for (int r = 0; r < kCount; ++r) sum[r] += at[t].weight * row[r][at[t].index];
      }
      for (int r = 0; r < kCount; ++r) out[r][j] = store_real<T>(sum[r]);
    }
  }

  void interpolate(T* out, const V* row, int64_t columns, int64_t inner) const {
    const int64_t count = taps_[last_];
    const Tap<V>* tap = tables_[last_];
    if (inner == 1 && has_short_taps()) {
      if (count == 2) return interpolate_rows<2, 1>(&out, &row, tap, columns);
      return interpolate_rows<4, 1>(&out, &row, tap, columns);
    }
    for (int64_t j = 0; j < columns; ++j, tap += count, out += inner) {
      if (tap->index < 0) {
        const T value = store_real<T>(static_cast<V>(a_.extrapolation_value));
        for (int64_t i = 0; i < inner; ++i) out[i] = value;
      } else if (count == 2) {
        const V* a = row + tap[0].index * inner;
        const V* b = row + tap[1].index * inner;
        for (int64_t i = 0; i < inner; ++i) {
          out[i] = store_real<T>(tap[0].weight * a[i] + tap[1].weight * b[i]);
        }
      } else {
        for (int64_t i = 0; i < inner; ++i) {
          V sum = 0;
          for (int64_t t = 0; t < count; ++t) sum += tap[t].weight * row[tap[t].index * inner + i];
          out[i] = store_real<T>(sum);
        }
      }
    }
  }

  const KernelContext& context_;
  const ResizeAttributes& a_;
  const TensorView& x_;
  const TensorView& y_;
  ResizeAxis axes_[kMaxRank];
  const Tap<V>* tables_[kMaxRank] = {};  // null for axes that stay as they are
  int64_t taps_[kMaxRank] = {};
  int64_t strides_[kMaxRank] = {};
  int last_ = -1;
};

template <class T>
struct Resize {
  static constexpr KernelId id{"Resize", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context) {
    return check_resize(context, kernel_type_of<T>);  // `run` sees how far the workspace goes
  }
  static int64_t workspace(const KernelContext& context) {
    using V = Weighted<T>;
    const TensorView& x = context.input(0);
    const TensorView& y = context.output(0);
    const auto& a = context.attributes<ResizeAttributes>();
    // The row starts at the innermost axis whose extent changes; if none does, it may be any axis.
    int last = -1;
    int listed = 0;
    for (int axis = 0; axis < x.rank; ++axis) {
      if (!is_resized(a, x.rank, axis)) continue;
      listed = axis;
      if (x.extents[axis] != y.extents[axis]) last = axis;
    }
    if (last < 0) last = listed;
    const CheckedInt row = CheckedInt(row_elements(x, last)) * (last == x.rank - 1 ? kRows : 1);
    const CheckedInt rows = row * context.threads() * sizeof(V);
    return (resize_taps_bound(context) * sizeof(Tap<V>) + rows).value();
  }
  static Status run(const KernelContext& context) {
    if (Status s = check_extents<ops::Resize>(context); !s) return s;
    if (context.output(0).count() == 0) return {};
    return Interpolation<T>(context).run();
  }
};

}  // namespace

extern const KernelList resize_kernels;
constinit const KernelList resize_kernels = kernel_list<Each<Resize, Numbers>>();

}  // namespace intarsia::cpu
