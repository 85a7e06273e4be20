// SPDX-License-Identifier: Apache-2.0
//
// Resize by the nearest element, for any mode of coordinates but tf_crop_and_resize: moves elements
// of a Width by a table of input indices for each axis. Equal rows are copied. Rows are spread over
// the caller's threads. https://onnx.ai/onnx/operators/onnx__Resize.html
#include "core/kernel_list.h"
#include "core/operators/movement/resize.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/common/repeat.h"
#include "kernels_cpu/common/strided_copy.h"
#include "kernels_cpu/movement/resize_taps.h"

namespace intarsia::cpu {
namespace {

/// How often each element stands in a row, if it is the same for all from the first on; else 0.
int64_t repetitions(const int32_t* index, int64_t count) {
  int64_t times = 1;
  while (times < count && index[times] == index[0]) ++times;
  if (count % times != 0) return 0;
  for (int64_t j = 0; j < count; ++j) {
    if (index[j] != j / times) return 0;
  }
  return times;
}

template <class T>
struct ResizeNearest {
  static constexpr KernelId id{"Resize", "nearest", {kernel_type_of<T>}};
  static bool supports(const KernelContext& context) {
    const auto& a = context.attributes<ResizeAttributes>();
    return a.mode == ResizeAttributes::kNearest &&
           a.coordinates != ResizeAttributes::kCropAndResize;
  }
  static Status check(const KernelContext& context) {
    if (Status s = check_resize(context, kernel_type_of<T>); !s) return s;
    if (!supports(context)) {
      return context.fail(Code::kUnsupported, "mode in a kernel for nearest",
                          ResizeAttributes::kNearest, context.attributes<ResizeAttributes>().mode);
    }
    return check_workspace(context, workspace(context));
  }
  static int64_t workspace(const KernelContext& context) {
    return (resize_taps_bound(context) * sizeof(int32_t)).value();
  }
  static Status run(const KernelContext& context) {
    using E = typename T::Element;
    if (Status s = check_extents<ops::Resize>(context); !s) return s;
    const auto& a = context.attributes<ResizeAttributes>();
    const TensorView& x = context.input(0);
    const TensorView& y = context.output(0);
    if (y.count() == 0) return {};
    ResizeAxis axes[kMaxRank];
    read_resize_axes(context, axes);

    // indices[axis]: input index of each output index; null where they are the same.
    const int32_t* indices[kMaxRank] = {};
    auto* table = reinterpret_cast<int32_t*>(context.workspace().data());
    int last = -1;
    for (int axis = 0; axis < x.rank; ++axis) {
      if (x.extents[axis] == 0) {
        return context.fail(Code::kWrongExtent, "extent to enlarge", 1, 0, 0, axis);
      }
      if (axes[axis].identity(false)) continue;
      for (int64_t j = 0; j < axes[axis].out; ++j) {
        table[j] = static_cast<int32_t>(resize_nearest(a, axes[axis], j));
      }
      indices[axis] = table;
      table += axes[axis].out;
      last = axis;
    }
    const E* in = x.as<const E>();
    E* out = y.as<E>();
    if (last < 0) {
      std::memcpy(static_cast<void*>(out), in, static_cast<size_t>(x.bytes()));
      return {};
    }
    int64_t strides[kMaxRank];
    dense_strides(x, strides);
    const int64_t inner = strides[last], columns = y.extents[last], row_size = columns * inner;
    const int32_t* column = indices[last];
    const int64_t times = inner == 1 ? repetitions(column, columns) : 0;
    constexpr auto kBytes = static_cast<int64_t>(sizeof(E));
    for_items(context, span_count(y, 0, last), row_size * kBytes, [&](int64_t begin, int64_t end) {
      const E* previous = nullptr;
      const E* plane = in;  // of the rows along the axis before the last one
      const int64_t extent = last > 0 ? y.extents[last - 1] : 1;
      const int32_t* const lines = last > 0 ? indices[last - 1] : nullptr;
      const int64_t line = last > 0 ? strides[last - 1] : 0;
      int64_t place = extent;
      for (int64_t row = begin; row < end; ++row) {
        if (++place >= extent) {
          int64_t rest = row / extent;
          place = row % extent;
          plane = in;
          for (int axis = last - 2; axis >= 0; --axis) {
            const int64_t j = rest % y.extents[axis];
            rest /= y.extents[axis];
            plane += (indices[axis] != nullptr ? indices[axis][j] : j) * strides[axis];
          }
        }
        const E* from = plane + (lines != nullptr ? lines[place] : place) * line;
        E* to = out + row * row_size;
        if (from == previous) {  // enlarged: the same row again
          copy_run(to, to - row_size, row_size * kBytes);
        } else if (times > 0) {
          repeat_each(to, from, columns / times, times, sizeof(E));
        } else if (inner == 1) {
          for (int64_t j = 0; j < columns; ++j) to[j] = from[column[j]];
        } else {
          for (int64_t j = 0; j < columns; ++j) {
            copy_run(to + j * inner, from + column[j] * inner, inner * kBytes);
          }
        }
        previous = from;
      }
    });
    return {};
  }
};

}  // namespace

extern const KernelList resize_nearest_kernels;
constinit const KernelList resize_nearest_kernels = kernel_list<Each<ResizeNearest, Widths>>();

}  // namespace intarsia::cpu
