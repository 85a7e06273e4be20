// SPDX-License-Identifier: Apache-2.0
//
// Orders of indices, for selecting and sorting without moving elements: a binary heap, and a sort.
//
// `before(a, b)` is a strict order of indices, or of what else a heap holds. The root of a heap is
// what comes last.
#pragma once

#include <cstdint>
#include <utility>

#include "intarsia/kernel.h"

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

/// Takes the root off a heap, which is not empty.
template <class Before>
int32_t pop_heap(int32_t* heap, int64_t& size, const Before& before) {
  const int32_t root = heap[0];
  heap[0] = heap[--size];
  sift_down(heap, size, 0, before);
  return root;
}

/// Two sorted neighbours of a list, [begin, middle) and [middle, end).
struct Runs {
  int64_t begin, middle, end;

  /// The pair of runs of length `run`, in a list of `size`, that `at` lies in.
  Runs(int64_t at, int64_t run, int64_t size) : begin(at / (2 * run) * 2 * run) {
    middle = begin + run < size ? begin + run : size;
    end = middle + run < size ? middle + run : size;
  }
};

/// How many of the first `count` elements in order are of the first run.
template <class Before>
int64_t split_runs(const int32_t* from, const Runs& runs, int64_t count, const Before& before) {
  const int64_t lefts = runs.middle - runs.begin, rights = runs.end - runs.middle;
  int64_t least = count > rights ? count - rights : 0, most = count < lefts ? count : lefts;
  while (least < most) {
    const int64_t left = least + (most - least) / 2;
    if (before(from[runs.middle + count - left - 1], from[runs.begin + left])) {
      most = left;
    } else {
      least = left + 1;
    }
  }
  return least;
}

/// to[first, last) = those elements of the two runs in order; of equals that of the first run comes
/// first.
template <class Before>
void merge_runs(const int32_t* from, const Runs& runs, int64_t first, int64_t last, int32_t* to,
                const Before& before) {
  const int64_t lefts = split_runs(from, runs, first - runs.begin, before);
  int64_t left = runs.begin + lefts, right = runs.middle + first - runs.begin - lefts, i = first;
  while (i < last && left < runs.middle && right < runs.end) {
    const bool takes_right = before(from[right], from[left]);
    to[i++] = from[takes_right ? right : left];
    right += takes_right;
    left += !takes_right;
  }
  while (i < last) to[i++] = from[left < runs.middle ? left++ : right++];
}

/// Sorts a part of a list that fits in the first cache.
template <class Before>
void sort_part(int32_t* list, int32_t* scratch, int64_t size, const Before& before) {
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
      const Runs runs(begin, run, size);
      merge_runs(from, runs, begin, runs.end, to, before);
    }
    std::swap(from, to);
  }
  for (int64_t i = 0; from != list && i < size; ++i) list[i] = from[i];
}

/// Sorts a list of indices, with memory for as many more, on the context's threads; equals keep
/// their order. Where all of them take part, neighbours are compared one after the other: faster
/// than by a heap.
template <class Before>
void merge_sort(const KernelContext& context, int32_t* list, int32_t* scratch, int64_t size,
                const Before& before) {
  constexpr int64_t kPart = 1024;
  const auto for_parts = [&](const auto& body) {
    context.parallel_for((size + kPart - 1) / kPart, [&](int64_t first, int64_t last, int) {
      for (int64_t begin = first * kPart; begin < size && begin < last * kPart; begin += kPart) {
        body(begin, size - begin < kPart ? size : begin + kPart);
      }
    });
  };
  for_parts([&](int64_t begin, int64_t end) {
    sort_part(list + begin, scratch + begin, end - begin, before);
  });
  int32_t *from = list, *to = scratch;
  for (int64_t run = kPart; run < size; run *= 2) {
    for_parts([&](int64_t begin, int64_t end) {
      merge_runs(from, Runs(begin, run, size), begin, end, to, before);
    });
    std::swap(from, to);
  }
  for (int64_t i = 0; from != list && i < size; ++i) list[i] = from[i];
}

/// The numbers' order with NaN above all others.
template <class V>
bool less_nan_last(V a, V b) {
  return a < b || (b != b && a == a);
}

}  // namespace intarsia::cpu
