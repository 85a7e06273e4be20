// SPDX-License-Identifier: Apache-2.0
//
// A binary heap of indices, for selecting and sorting without moving elements.
//
// `before(a, b)` is a strict order of indices. The root is the index that comes last.
#pragma once

#include <cstdint>

namespace intarsia::cpu {

/// Restores the heap below `position`.
template <class Before>
void sift_down(int32_t* heap, int64_t size, int64_t position, const Before& before) {
  const int32_t moved = heap[position];
  for (;;) {
    int64_t child = 2 * position + 1;
    if (child >= size) break;
    if (child + 1 < size && before(heap[child], heap[child + 1])) ++child;
    if (!before(moved, heap[child])) break;
    heap[position] = heap[child];
    position = child;
  }
  heap[position] = moved;
}

template <class Before>
void make_heap(int32_t* heap, int64_t size, const Before& before) {
  for (int64_t i = size / 2 - 1; i >= 0; --i) sift_down(heap, size, i, before);
}

/// Turns a heap into a list in ascending order.
template <class Before>
void sort_heap(int32_t* heap, int64_t size, const Before& before) {
  for (int64_t end = size - 1; end > 0; --end) {
    const int32_t last = heap[0];
    heap[0] = heap[end];
    heap[end] = last;
    sift_down(heap, end, 0, before);
  }
}

/// The numbers' order with NaN above all others.
template <class V>
bool less_nan_last(V a, V b) {
  return a < b || (b != b && a == a);
}

}  // namespace intarsia::cpu
