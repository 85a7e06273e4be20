// SPDX-License-Identifier: Apache-2.0
//
// The best k elements of a line (TopK): few as a sorted list, many in a heap. Of equal elements the
// one with the smaller index comes first; NaN counts as largest.
#pragma once

#include <algorithm>
#include <bit>

#include "kernels_cpu/indexing/index_heap.h"

namespace intarsia::cpu {

/// Lines that are taken side by side, where their elements are neighbours; bits of a mask.
inline constexpr int64_t kMaskBits = 32;
/// Up to so many are kept as a sorted list, which is faster than a heap.
inline constexpr int64_t kFewBest = 16;

template <bool kLargest, class V>
bool better(V a, V b) {
  return kLargest ? less_nan_last(b, a) : less_nan_last(a, b);
}

template <class V>
struct Entry {
  V value;
  int32_t index;
};

/// The best k of the elements of one line that were seen, in `entries`.
template <class V, bool kLargest>
struct Best {
  Entry<V>* entries;
  int64_t k;

  static bool before(const Entry<V>& a, const Entry<V>& b) {
    return better<kLargest>(a.value, b.value) ||
           (a.index < b.index && !better<kLargest>(b.value, a.value));
  }
  V worst() const { return entries[k <= kFewBest ? k - 1 : 0].value; }

  /// In the place of the worst. Of equals the one that came first stays in front.
  void insert(V value, int64_t index) const {
    const Entry<V> entry{value, static_cast<int32_t>(index)};
    if (k > kFewBest) {
      entries[0] = entry;
      return sift_down(entries, k, 0, before);
    }
    int64_t at = k - 1;
    for (; at > 0 && better<kLargest>(value, entries[at - 1].value); --at) {
      entries[at] = entries[at - 1];
    }
    entries[at] = entry;
  }
  /// Element `index` of the first k.
  void start(V value, int64_t index) const {
    if (k <= kFewBest) return Best{entries, index + 1}.insert(value, index);
    entries[index] = {value, static_cast<int32_t>(index)};
    if (index + 1 == k) make_heap(entries, k, before);
  }
  void sort() const {
    if (k > kFewBest) std::sort(entries, entries + k, before);
  }
};

/// Bit i: element i is better than worst[i * kStep].
template <class E, bool kLargest, int kStep>
uint32_t better_mask(const typename E::Stored* x, const typename E::Value* worst) {
  uint32_t mask = 0;
  for (uint32_t i = 0; i < kMaskBits; ++i) {
    mask |= better<kLargest>(E::load(x[i]), worst[i * kStep]) ? uint32_t{1} << i : 0;
  }
  return mask;
}

/// A line of `count` elements that are `stride` apart.
template <class E, bool kLargest>
void select_line(const Best<typename E::Value, kLargest>& best, const typename E::Stored* x,
                 int64_t stride, int64_t count) {
  for (int64_t i = 0; i < best.k; ++i) best.start(E::load(x[i * stride]), i);
  auto worst = best.worst();
  const auto offer = [&](int64_t i) {
    const auto value = E::load(x[i * stride]);
    if (!better<kLargest>(value, worst)) return;
    best.insert(value, i);
    worst = best.worst();
  };
  int64_t i = best.k;
  if (INTARSIA_HAS_VECTORS && stride == 1) {
    for (; i + kMaskBits <= count; i += kMaskBits) {
      uint32_t mask = better_mask<E, kLargest, 0>(x + i, &worst);
      for (; mask != 0; mask &= mask - 1) offer(i + std::countr_zero(mask));
    }
  }
  for (; i < count; ++i) offer(i);
}

/// kMaskBits lines whose elements are neighbours: line l has entries from l * k on.
template <class E, bool kLargest>
void select_lines(const Best<typename E::Value, kLargest>& first, const typename E::Stored* x,
                  int64_t stride, int64_t count) {
  using V = typename E::Value;
  const auto best = [=](int64_t line) {
    return Best<V, kLargest>{first.entries + line * first.k, first.k};
  };
  V worst[kMaskBits];
  for (int64_t line = 0; line < kMaskBits; ++line) {
    for (int64_t i = 0; i < first.k; ++i) best(line).start(E::load(x[i * stride + line]), i);
    worst[line] = best(line).worst();
  }
  for (int64_t i = first.k; i < count; ++i) {
    const auto* row = x + i * stride;
    uint32_t mask = better_mask<E, kLargest, 1>(row, worst);
    for (; mask != 0; mask &= mask - 1) {
      const int line = std::countr_zero(mask);
      best(line).insert(E::load(row[line]), i);
      worst[line] = best(line).worst();
    }
  }
}

}  // namespace intarsia::cpu
