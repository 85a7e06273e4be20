// SPDX-License-Identifier: Apache-2.0
//
// Unique: the different elements, or slices along an axis, in ascending order or in that of their
// first occurrence; with the index of the first occurrence, the result's index for each element,
// and how often it occurs. Slices compare element by element; NaN counts as largest and equals NaN.
// The outputs are resized to what was found. https://onnx.ai/onnx/operators/onnx__Unique.html
#include "core/kernel_list.h"
#include "core/operators/indexing/selection.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/strided_copy.h"
#include "kernels_cpu/indexing/element_order.h"
#include "kernels_cpu/indexing/radix_sort.h"

namespace intarsia::cpu {
namespace {

constexpr int64_t kRecordBytes = 16;  // what one index of a list has read and written
constexpr int32_t kLeastRadix = 128;  // of fewer elements, comparing takes less time

/// The input as outer x count x inner: what is compared is one index of the middle axis.
struct Slices {
  int axis = -1;  // -1: the elements of the flattened input
  int64_t outer = 1, count = 0, inner = 1;

  explicit Slices(const KernelContext& context) {
    const TensorView& x = context.input(0);
    const int32_t attribute = context.attributes<UniqueAttributes>().axis;
    if (attribute == kNoAxis) {
      count = x.count();
      return;
    }
    axis = attribute < 0 ? attribute + x.rank : attribute;
    if (axis < 0 || axis >= x.rank) return;
    outer = span_count(x, 0, axis);
    count = x.extents[axis];
    inner = span_count(x, axis + 1, x.rank);
    if (inner == 0) outer = 0;  // slices without elements are alike, however many rows they have
  }
};

template <class T>
struct Compare {
  using E = OrderedElement<T>;
  const KernelContext* context;
  const typename E::Stored* x;
  Slices slices;

  /// Whether slice a is before slice b, where slices are one element.
  bool before(int32_t a, int32_t b) const { return E::before(*context, x[a], x[b]); }

  /// Negative, 0 or positive as slice a is before, like or after slice b.
  int order(int32_t a, int32_t b) const {
    for (int64_t o = 0; o < slices.outer; ++o) {
      const auto* base = x + o * slices.count * slices.inner;
      for (int64_t i = 0; i < slices.inner; ++i) {
        const auto &u = base[a * slices.inner + i], &v = base[b * slices.inner + i];
        if (E::before(*context, u, v)) return -1;
        if (E::before(*context, v, u)) return 1;
      }
    }
    return 0;
  }
};

/// list = the slices in order; equal ones stay in theirs. `scratch` has as much room.
template <class T>
void sort(const KernelContext& context, const Compare<T>& compare, int32_t* list, int32_t* scratch,
          int32_t count) {
  const bool single = compare.slices.outer == 1 && compare.slices.inner == 1;
  if constexpr (std::is_arithmetic_v<typename OrderedElement<T>::Number>) {
    if (single && count >= kLeastRadix) {
      radix_sort(list, scratch, count,
                 [x = compare.x](int64_t i) { return sort_key(OrderedElement<T>::number(x[i])); });
      return;
    }
  }
  for (int32_t i = 0; i < count; ++i) list[i] = i;
  if (single) {
    merge_sort(context, list, scratch, count,
               [=](int32_t a, int32_t b) { return compare.before(a, b); });
  } else {
    merge_sort(context, list, scratch, count,
               [=](int32_t a, int32_t b) { return compare.order(a, b) < 0; });
  }
}

template <class T>
struct Unique {
  static constexpr KernelId id{"Unique", "", {OrderedElement<T>::type}};
  static Status check(const KernelContext& context) {
    constexpr KernelType kType = OrderedElement<T>::type, kIndex = DataType::kInt64;
    if (Status s = check_operand_types<ops::Unique>(
            context, {.inputs = {kType}, .outputs = {kType, kIndex, kIndex, kIndex}});
        !s) {
      return s;
    }
    const TensorView& x = context.input(0);
    const Slices slices(context);
    if (slices.axis >= x.rank || slices.axis < -1 ||
        (slices.axis == -1 && context.attributes<UniqueAttributes>().axis != kNoAxis)) {
      return context.fail(Code::kIndexOutOfRange, "axis out of range", x.rank, slices.axis, 0);
    }
    if (slices.count > INT32_MAX) {
      return context.fail(Code::kUnsupported, "elements", INT32_MAX, slices.count, 0);
    }
    for (int i = 0; i < context.output_count(); ++i) {
      const TensorView& y = context.output(i);
      const int rank = i == 0 && slices.axis >= 0 ? x.rank : 1;
      if (y.present() && y.rank != rank) {
        return context.fail(Code::kWrongRank, "output rank", rank, y.rank, 1 + i);
      }
    }
    return check_workspace(context, workspace(context));
  }
  static int64_t workspace(const KernelContext& context) {
    return (CheckedInt(Slices(context).count) * 4 * sizeof(int32_t)).value();
  }
  static Status run(const KernelContext& context) {
    using Stored = typename OrderedElement<T>::Stored;
    const TensorView& x = context.input(0);
    const Slices slices(context);
    const auto count = static_cast<int32_t>(slices.count);
    const Compare<T> compare{&context, x.as<const Stored>(), slices};
    auto* order = reinterpret_cast<int32_t*>(context.workspace().data());
    int32_t* group = order + count;   // of each slice
    int32_t* first = group + count;   // slice of each group
    int32_t* result = first + count;  // group of each result

    sort(context, compare, order, group, count);
    int32_t groups = 0;
    for (int32_t i = 0; i < count; ++i) {
      if (i == 0 || compare.order(order[i - 1], order[i]) != 0) first[groups++] = order[i];
      group[order[i]] = groups - 1;
    }

    int32_t extents[kMaxRank];
    const int rank = slices.axis >= 0 ? x.rank : 1;
    const int axis = slices.axis >= 0 ? slices.axis : 0;
    for (int i = 0; i < rank; ++i) extents[i] = i == axis ? groups : x.extents[i];
    if (Status s = context.resize_output(0, {extents, static_cast<size_t>(rank)}); !s) return s;
    const int32_t lengths[4] = {groups, groups, count, groups};
    for (int i = 1; i < context.output_count(); ++i) {
      if (!context.output(i).present()) continue;
      if (Status s = context.resize_output(i, {&lengths[i], 1}); !s) return s;
    }

    // Results in the order of groups, or in that of their first occurrence.
    const bool sorted = context.attributes<UniqueAttributes>().sorted != 0;
    for (int32_t i = 0, next = 0; i < count && next < groups; ++i) {
      if (sorted) {
        result[i] = i;
        ++next;
      } else if (first[group[i]] == i) {
        result[next++] = group[i];
      }
    }
    auto* y = context.output(0).as<Stored>();
    int64_t* indices = context.output(1).as<int64_t>();
    int64_t* inverse = context.output(2).as<int64_t>();
    int64_t* counts = context.output(3).as<int64_t>();
    const int64_t bytes = slices.inner * static_cast<int64_t>(sizeof(Stored));
    // This thread has the groups, which it has just found, in its caches, others have not.
    constexpr int64_t kNearBytes = 1 << 18;
    const auto share = [&](int64_t items, int64_t item_bytes, const auto& write) {
      if (items <= kNearBytes / item_bytes) return write(0, items);
      for_items(context, items, item_bytes, write);
    };
    share(groups, slices.outer * bytes + kRecordBytes, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const int32_t slice = first[result[r]];
        for (int64_t o = 0; o < slices.outer; ++o) {
          copy_run(y + (o * groups + r) * slices.inner,
                   compare.x + (o * slices.count + slice) * slices.inner, bytes);
        }
        if (indices != nullptr) indices[r] = slice;
        if (counts != nullptr) counts[r] = 0;
        order[result[r]] = static_cast<int32_t>(r);  // from here on the result of each group
      }
    });
    if (inverse != nullptr) {
      share(count, kRecordBytes, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) inverse[i] = order[group[i]];
      });
    }
    for (int32_t i = 0; counts != nullptr && i < count; ++i) ++counts[order[group[i]]];
    return {};
  }
};

}  // namespace

extern const KernelList unique_kernels;
constinit const KernelList unique_kernels = kernel_list<Each<Unique, OrderedTypes>>();

}  // namespace intarsia::cpu
