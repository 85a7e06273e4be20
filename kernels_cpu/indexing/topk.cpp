// SPDX-License-Identifier: Apache-2.0
//
// TopK: the k largest or smallest elements along an axis and their indices, best first; of equal
// elements the one with the smaller index comes first, NaN counts as largest. The order is the
// same if `sorted` is 0. Each line keeps the best k of its elements, few as a sorted list, many in
// a heap; lines whose elements are neighbours are taken together. Lines are spread over the
// caller's threads. https://onnx.ai/onnx/operators/onnx__TopK.html
#include <algorithm>
#include <bit>

#include "core/kernel_list.h"
#include "core/operators/indexing/selection.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/common/strided_copy.h"
#include "kernels_cpu/gemm/vector.h"
#include "kernels_cpu/indexing/index_heap.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {
namespace {

/// Extent of the values along the attribute's axis; 0 if there is no such axis.
int64_t planned_k(const KernelContext& context) {
  const TensorView& y = context.output(0);
  int64_t axis = context.attributes<TopKAttributes>().axis;
  if (axis < 0) axis += y.rank;
  return axis >= 0 && axis < y.rank ? y.extents[axis] : 0;
}

/// Lines that are taken side by side, where their elements are neighbours; bits of a mask.
constexpr int64_t kMaskBits = 32;
constexpr int64_t kTogether = INTARSIA_HAS_VECTORS ? kMaskBits : 1;
/// Up to so many are kept as a sorted list, which is faster than a heap.
constexpr int64_t kFew = 16;

template <class V>
bool better(V a, V b, bool largest) {
  return largest ? less_nan_last(b, a) : less_nan_last(a, b);
}

template <class V>
struct Entry {
  V value;
  int32_t index;
};

/// The best k of the elements of one line that were seen, in `entries`.
template <class V>
struct Best {
  Entry<V>* entries;
  int64_t k;
  bool largest;

  auto before() const {
    return [top = largest](const Entry<V>& a, const Entry<V>& b) {
      return better(a.value, b.value, top) || (a.index < b.index && !better(b.value, a.value, top));
    };
  }
  V worst() const { return entries[k <= kFew ? k - 1 : 0].value; }

  /// In the place of the worst. Of equals the one that came first stays in front.
  void insert(V value, int64_t index) const {
    const Entry<V> entry{value, static_cast<int32_t>(index)};
    if (k > kFew) {
      entries[0] = entry;
      return sift_down(entries, k, 0, before());
    }
    int64_t at = k - 1;
    for (; at > 0 && better(value, entries[at - 1].value, largest); --at) {
      entries[at] = entries[at - 1];
    }
    entries[at] = entry;
  }
  /// Element `index` of the first k.
  void start(V value, int64_t index) const {
    if (k <= kFew) return Best{entries, index + 1, largest}.insert(value, index);
    entries[index] = {value, static_cast<int32_t>(index)};
    if (index + 1 == k) make_heap(entries, k, before());
  }
  void sort() const {
    if (k > kFew) std::sort(entries, entries + k, before());
  }
};

/// Bit i: element i is better than worst[i * kStep].
template <class E, bool kLargest, int kStep>
uint32_t better_mask(const typename E::Stored* x, const typename E::Value* worst) {
  uint32_t mask = 0;
  for (uint32_t i = 0; i < kMaskBits; ++i) {
    mask |= better(E::load(x[i]), worst[i * kStep], kLargest) ? uint32_t{1} << i : 0;
  }
  return mask;
}

/// A line of `count` elements that are `stride` apart.
template <class E>
void select_line(const Best<typename E::Value>& best, const typename E::Stored* x, int64_t stride,
                 int64_t count) {
  for (int64_t i = 0; i < best.k; ++i) best.start(E::load(x[i * stride]), i);
  auto worst = best.worst();
  const auto offer = [&](int64_t i) {
    const auto value = E::load(x[i * stride]);
    if (!better(value, worst, best.largest)) return;
    best.insert(value, i);
    worst = best.worst();
  };
  int64_t i = best.k;
  if (INTARSIA_HAS_VECTORS && stride == 1) {
    for (; i + kMaskBits <= count; i += kMaskBits) {
      uint32_t mask = best.largest ? better_mask<E, true, 0>(x + i, &worst)
                                   : better_mask<E, false, 0>(x + i, &worst);
      for (; mask != 0; mask &= mask - 1) offer(i + std::countr_zero(mask));
    }
  }
  for (; i < count; ++i) offer(i);
}

/// kMaskBits lines whose elements are neighbours: line l has entries from l * k on.
template <class E>
void select_lines(const Best<typename E::Value>& first, const typename E::Stored* x, int64_t stride,
                  int64_t count) {
  using V = typename E::Value;
  const auto best = [=](int64_t line) {
    return Best<V>{first.entries + line * first.k, first.k, first.largest};
  };
  V worst[kMaskBits];
  for (int64_t line = 0; line < kMaskBits; ++line) {
    for (int64_t i = 0; i < first.k; ++i) best(line).start(E::load(x[i * stride + line]), i);
    worst[line] = best(line).worst();
  }
  for (int64_t i = first.k; i < count; ++i) {
    const auto* row = x + i * stride;
    uint32_t mask =
        first.largest ? better_mask<E, true, 1>(row, worst) : better_mask<E, false, 1>(row, worst);
    for (; mask != 0; mask &= mask - 1) {
      const int line = std::countr_zero(mask);
      best(line).insert(E::load(row[line]), i);
      worst[line] = best(line).worst();
    }
  }
}

template <class T>
struct TopK {
  static constexpr KernelId id{"TopK", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context) {
    constexpr KernelType kType = kernel_type_of<T>;
    if (Status s = check_operand_types<ops::TopK>(context, {.inputs = {kType, DataType::kInt64},
                                                            .required_inputs = 2,
                                                            .outputs = {kType, DataType::kInt64},
                                                            .required_outputs = 2});
        !s) {
      return s;
    }
    return check_workspace(context, workspace(context));
  }
  using V = typename Element<T>::Value;
  /// Lines whose elements are neighbours.
  static int64_t inner_of(const KernelContext& context, const TensorView& view) {
    const int64_t axis = context.attributes<TopKAttributes>().axis;
    return span_count(view, static_cast<int>(axis < 0 ? axis + view.rank : axis) + 1, view.rank);
  }
  static int64_t workspace(const KernelContext& context) {
    const int64_t k = planned_k(context);
    if (k == 0) return 0;
    const int64_t lines = inner_of(context, context.output(0)) < kTogether ? 1 : kTogether;
    return (CheckedInt(k) * lines * context.threads() * sizeof(Entry<V>)).value();
  }
  static Status run(const KernelContext& context) {
    using E = Element<T>;
    using Stored = typename E::Stored;
    if (Status s = check_extents<ops::TopK>(context); !s) return s;
    const auto& a = context.attributes<TopKAttributes>();
    const TensorView& x = context.input(0);
    const int axis = a.axis < 0 ? a.axis + x.rank : a.axis;
    const int64_t k = planned_k(context);
    const int64_t count = x.extents[axis], inner = inner_of(context, x);
    // Units of whole masks, and of the single lines that are left.
    const int64_t masks = kTogether > 1 ? inner / kTogether : 0;
    const int64_t per_outer = masks + inner - masks * kTogether;
    const int64_t units = k > 0 ? span_count(x, 0, axis) * per_outer : 0;
    const bool largest = a.largest != 0;
    const auto* in = x.as<const Stored>();
    auto* values = context.output(0).as<Stored>();
    auto* indices = context.output(1).as<int64_t>();
    auto* memory = reinterpret_cast<Entry<V>*>(context.workspace().data());
    const int64_t own = k * (masks > 0 ? kTogether : 1);
    context.parallel_for(units, [&](int64_t begin, int64_t end, int thread) {
      const Best<V> best{memory + thread * own, k, largest};
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t outer = unit / per_outer, place = unit % per_outer;
        const bool together = place < masks;
        const int64_t line = together ? place * kTogether : masks * kTogether + place - masks;
        const Stored* from = in + outer * count * inner + line;
        on_isa(context.isa(), [=] {
          together ? select_lines<E>(best, from, inner, count)
                   : select_line<E>(best, from, inner, count);
        });
        for (int64_t l = 0; l < (together ? kTogether : 1); ++l) {
          const Best<V> one{best.entries + l * k, k, largest};
          one.sort();
          const int64_t to = outer * k * inner + line + l;
          for (int64_t i = 0; i < k; ++i) {
            const int32_t index = one.entries[i].index;
            values[to + i * inner] = from[index * inner + l];
            indices[to + i * inner] = index;
          }
        }
      }
    });
    return {};
  }
};

}  // namespace

extern const KernelList topk_kernels;
constinit const KernelList topk_kernels = kernel_list<Each<TopK, Numbers>>();

}  // namespace intarsia::cpu
