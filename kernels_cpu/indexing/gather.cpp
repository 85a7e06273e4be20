// SPDX-License-Identifier: Apache-2.0
//
// Operators that read at indices (int32 or int64, type I; negative ones count from the back):
//   Gather           y[o, j..., i] = x[o, indices[j...], i]           along one axis
//   GatherElements   y[p] = x[p with the coordinate of the axis replaced by indices[p]]
//   GatherND         y[b, j..., i...] = x[b, indices[b, j..., :], i...]
// An index out of range is reported; Gather and GatherND have written nothing then. T is a Width;
// runs are copied as bytes, on the caller's threads.
// https://onnx.ai/onnx/operators/onnx__Gather.html and following
#include "core/operators/indexing/gather.h"

#include <atomic>

#include "core/kernel_list.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/common/strided_copy.h"
#include "kernels_cpu/indexing/index_check.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {
namespace {

template <class T, class I>
struct Gather {
  static constexpr KernelId id{"Gather", "", {kernel_type_of<T>, kernel_type_of<I>}};
  static Status check(const KernelContext& context) {
    constexpr KernelType kType = kernel_type_of<T>;
    return check_operands<ops::Gather>(
        context, {.inputs = {kType, kernel_type_of<I>}, .required_inputs = 2, .outputs = {kType}});
  }
  static Status run(const KernelContext& context) {
    using E = typename T::Element;
    const TensorView& x = context.input(0);
    int axis = context.attributes<AxisAttributes>().axis;
    if (axis < 0) axis += x.rank;
    const int64_t extent = x.extents[axis];
    const int64_t outer = span_count(x, 0, axis);
    const int64_t run = span_count(x, axis + 1, x.rank);
    const int64_t count = context.input(1).count();
    const I* indices = context.input(1).as<const I>();
    if (outer * run == 0) return {};
    if (Status s = check_indices(context, indices, count, 1, extent, axis); !s) return s;

    const E* in = x.as<const E>();
    E* out = context.output(0).as<E>();
    if (count == 1) {  // a slice
      StridedCopy copy;
      copy.add(outer, run, extent * run);
      copy.add(run, 1, 1);
      strided_copy(context, copy, out, in + from_front(indices[0], extent) * run);
      return {};
    }
    const int64_t bytes = run * static_cast<int64_t>(sizeof(E));
    for_items(context, outer * count, bytes, [&](int64_t begin, int64_t end) {
      int64_t o = begin / count, j = begin % count;
      for (int64_t item = begin, n = 0; item < end; item += n, j = 0, ++o) {
        n = count - j < end - item ? count - j : end - item;
        const I* at = indices + j;
        const E* from = in + o * extent * run;
        E* to = out + item * run;
        if (run == 1) {
          for (int64_t i = 0; i < n; ++i) to[i] = from[from_front(at[i], extent)];
        } else {
          for (int64_t i = 0; i < n; ++i, to += run) {
            copy_run(to, from + from_front(at[i], extent) * run, bytes);
          }
        }
      }
    });
    return {};
  }
};

/// to[i] = base[i * step + the place * along]; the step is 0 where the place stands in for it.
template <class E>
void pick_elements(const E* base, int64_t step, const int32_t* places, int64_t along, E* to,
                   int64_t n) {
  if (step == 0 && along == 1) {
    for (int64_t i = 0; i < n; ++i) to[i] = base[places[i]];
  } else {
    for (int64_t i = 0; i < n; ++i, base += step) to[i] = base[places[i] * along];
  }
}

template <class T, class I>
struct GatherElements {
  static constexpr KernelId id{"GatherElements", "", {kernel_type_of<T>, kernel_type_of<I>}};
  static Status check(const KernelContext& context) {
    constexpr KernelType kType = kernel_type_of<T>;
    return check_operands<ops::GatherElements>(
        context, {.inputs = {kType, kernel_type_of<I>}, .required_inputs = 2, .outputs = {kType}});
  }
  static Status run(const KernelContext& context) {
    using E = typename T::Element;
    const TensorView& x = context.input(0);
    const TensorView& y = context.output(0);
    int axis = context.attributes<AxisAttributes>().axis;
    if (axis < 0) axis += x.rank;
    const int64_t extent = x.extents[axis];
    const I* indices = context.input(1).as<const I>();
    if (y.count() == 0) return {};

    const E* in = x.as<const E>();
    E* out = y.as<E>();
    int64_t strides[kMaxRank];
    dense_strides(x, strides);
    const int64_t along = strides[axis];
    strides[axis] = 0;  // the index stands in for this coordinate
    const int last = y.rank - 1;
    const int64_t columns = y.extents[last];
    const int64_t step = strides[last];
    const Isa isa = context.isa();
    const int64_t bytes = columns * static_cast<int64_t>(sizeof(E));
    std::atomic<bool> outside{false};
    for_items(context, y.count() / columns, bytes, [&](int64_t begin, int64_t end) {
      int32_t places[kIndexBlock];
      const int64_t stop = end * columns;
      for (int64_t at = begin * columns, n = 0; at < stop; at += n) {
        n = stop - at < kIndexBlock ? stop - at : kIndexBlock;
        if (!place_indices(isa, indices + at, n, extent, places)) {
          outside.store(true, std::memory_order_relaxed);
          return;
        }
        for (int64_t k = 0, piece = 0; k < n; k += piece) {
          const int64_t column = (at + k) % columns;
          piece = columns - column < n - k ? columns - column : n - k;
          const E* base = in + column * step;
          int64_t rest = (at + k) / columns;
          for (int i = last - 1; i >= 0; --i) {
            base += rest % y.extents[i] * strides[i];
            rest /= y.extents[i];
          }
          pick_elements(base, step, places + k, along, out + at + k, piece);
        }
      }
    });
    if (outside.load(std::memory_order_relaxed)) {
      return check_indices(context, indices, y.count(), 1, extent, axis);
    }
    return {};
  }
};

/// Indices are int64.
template <class T>
struct GatherND {
  static constexpr KernelId id{"GatherND", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context) {
    constexpr KernelType kType = kernel_type_of<T>;
    return check_operands<ops::GatherND>(
        context, {.inputs = {kType, DataType::kInt64}, .required_inputs = 2, .outputs = {kType}});
  }
  static Status run(const KernelContext& context) {
    using E = typename T::Element;
    const TensorView& x = context.input(0);
    const TensorView& indices = context.input(1);
    const int batch = context.attributes<GatherNDAttributes>().batch_dims;
    const int tuple = indices.extents[indices.rank - 1];
    const int64_t tuples = span_count(indices, 0, indices.rank - 1);
    const int64_t batches = span_count(x, 0, batch);
    const int64_t run = span_count(x, batch + tuple, x.rank);
    if (tuples * run == 0) return {};
    const auto* index = indices.as<const int64_t>();
    for (int i = 0; i < tuple; ++i) {
      const int64_t extent = x.extents[batch + i];
      if (Status s = check_indices(context, index + i, tuples, tuple, extent, batch + i); !s)
        return s;
    }
    const E* in = x.as<const E>();
    E* out = context.output(0).as<E>();
    const int64_t per_batch = tuples / batches;
    const int64_t bytes = run * static_cast<int64_t>(sizeof(E));
    for_items(context, tuples, bytes, [&](int64_t begin, int64_t end) {
      for (int64_t item = begin; item < end; ++item) {
        int64_t slice = item / per_batch;
        for (int i = 0; i < tuple; ++i) {
          const int64_t extent = x.extents[batch + i];
          slice = slice * extent + from_front(index[item * tuple + i], extent);
        }
        copy_run(out + item * run, in + slice * run, bytes);
      }
    });
    return {};
  }
};

}  // namespace

extern const KernelList gather_kernels;
constinit const KernelList gather_kernels =
    kernel_list<EachPair<Gather, Widths, Indices>, EachPair<GatherElements, Widths, Indices>,
                Each<GatherND, Widths>>();

}  // namespace intarsia::cpu
