// SPDX-License-Identifier: Apache-2.0
//
// Orders of indices, for selecting and sorting without moving elements: a binary heap, and a sort.
//
// `before(a, b)` is a strict order of indices, or of what else a heap holds. The root of a heap is
// what comes last.
#pragma once

#include <cstdint>

namespace intarsia::cpu {

/// Restores the heap below `position`.
template <class Item, class Before>
void sift_down(Item* heap, int64_t size, int64_t position, const Before& before) {
  const Item moved = heap[position];
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

template <class Item, class Before>
void make_heap(Item* heap, int64_t size, const Before& before) {
  for (int64_t i = size / 2 - 1; i >= 0; --i) sift_down(heap, size, i, before);
}

/// Turns a heap into a list in ascending order.
template <class Item, class Before>
void sort_heap(Item* heap, int64_t size, const Before& before) {
  for (int64_t end = size - 1; end > 0; --end) {
    const Item last = heap[0];
    heap[0] = heap[end];
    heap[end] = last;
    sift_down(heap, end, 0, before);
  }
}

/// Takes the root off a heap, which is not empty.
template <class Before>
int32_t pop_heap(int32_t* heap, int64_t& size, const Before& before) {
  const int32_t root = heap[0];
  heap[0] = heap[--size];
  sift_down(heap, size, 0, before);
  return root;
}

/// Sorts a list of indices, with memory for as many more. Where all of them take part, neighbours
/// are compared one after the other: faster than by a heap.
template <class Before>
void merge_sort(int32_t* list, int32_t* scratch, int64_t size, const Before& before) {
  constexpr int64_t kRun = 8;  // sorted by insertion
  for (int64_t begin = 0; begin < size; begin += kRun) {
    const int64_t end = begin + kRun < size ? begin + kRun : size;
    for (int64_t i = begin + 1; i < end; ++i) {
      const int32_t moved = list[i];
      int64_t to = i;
      for (; to > begin && before(moved, list[to - 1]); --to) list[to] = list[to - 1];
      list[to] = moved;
    }
  }
  int32_t *from = list, *to = scratch;
  for (int64_t run = kRun; run < size; run *= 2) {
    for (int64_t begin = 0; begin < size; begin += 2 * run) {
      const int64_t middle = begin + run < size ? begin + run : size;
      const int64_t end = middle + run < size ? middle + run : size;
      int64_t left = begin, right = middle;
      for (int64_t i = begin; i < end; ++i) {
        const bool takes_right = left == middle || (right < end && before(from[right], from[left]));
        to[i] = from[takes_right ? right++ : left++];
      }
    }
    int32_t* swapped = from;
    from = to;
    to = swapped;
  }
  for (int64_t i = 0; from != list && i < size; ++i) list[i] = from[i];
}

/// The numbers' order with NaN above all others.
template <class V>
bool less_nan_last(V a, V b) {
  return a < b || (b != b && a == a);
}

}  // namespace intarsia::cpu
