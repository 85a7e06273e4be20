// SPDX-License-Identifier: Apache-2.0
//
// Reductions as steps over rows: a row of accumulators takes one row of neighbouring elements after
// another. Loops run over neighbours in both, so they become vector code for every type and
// operator, and the order of additions is the one written here, for every instruction set.
//
// Where few elements (`lanes`) lie side by side and positions follow one another, `groups` of them
// are taken at once and merged at the end: sums[group * lanes + lane]. Processors without vectors
// take one after another, which is less code.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "kernels_cpu/gemm/vector.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {

/// Accumulators that are carried side by side; few where there are no vectors and little stack.
inline constexpr int64_t kRowLanes = INTARSIA_HAS_VECTORS ? 64 : 16;

/// The largest power of two that is at most `most`, or 1: so many pieces have the halves that other
/// loops have, and what one thread made is what it takes up.
constexpr int64_t halves(int64_t most) {
  return most < 1 ? 1 : static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(most)));
}

/// sums[i] = step(sums[i], x[i]) for i in [0, lanes), for kRows rows that are `stride` apart:
/// several, since sums are loaded and stored for each call. A step that can `join` four elements to
/// one adds them so.
template <int kRows, class A, class Stored, class Step>
void step_together(A* sums, const Stored* x, int64_t stride, int64_t lanes, Step step) {
  const Stored* x1 = x + (kRows > 1 ? stride : 0);
  const Stored* x2 = x1 + (kRows > 2 ? stride : 0);
  const Stored* x3 = x2 + (kRows > 3 ? stride : 0);
  if constexpr (kRows == 4 && requires { step.join(*x, *x, *x, *x); }) {
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < lanes; ++i) {
      sums[i] = step.add(sums[i], step.join(x[i], x1[i], x2[i], x3[i]));
    }
    return;
  }
  INTARSIA_INDEPENDENT
  for (int64_t i = 0; i < lanes; ++i) {
    A sum = step(sums[i], x[i]);
    if constexpr (kRows > 1) sum = step(sum, x1[i]);
    if constexpr (kRows > 2) sum = step(sum, x2[i]);
    if constexpr (kRows > 3) sum = step(sum, x3[i]);
    sums[i] = sum;
  }
}

/// The same for any number of rows; by fours, but not where that is much code.
template <class A, class Stored, class Step>
void step_rows(A* sums, const Stored* x, int64_t stride, int64_t rows, int64_t lanes, Step step) {
  constexpr bool kByFours =
      INTARSIA_HAS_VECTORS && sizeof(A) <= sizeof(double) && std::is_arithmetic_v<Stored>;
  if constexpr (kByFours) {
    for (; rows >= 4; rows -= 4, x += 4 * stride) step_together<4>(sums, x, stride, lanes, step);
  }
  for (; rows > 0; --rows, x += stride) step_together<1>(sums, x, stride, lanes, step);
}

/// How many positions of `lanes` elements each to take at once, out of `length`: a power of two,
/// for at most `most` lanes. Short lines stay together, since merging costs as much as a few steps.
inline int64_t groups_for(int64_t length, int64_t lanes, int64_t most = kRowLanes) {
  int64_t groups = 1;
  if (!INTARSIA_HAS_VECTORS) return groups;
  while (2 * groups * lanes <= most && 8 * groups <= length) groups *= 2;
  return groups;
}

/// Takes `length` positions of `lanes` elements each, `stride` apart. REQUIRES: groups is 1, or
/// `groups_for` gave it and stride == lanes.
template <class A, class Stored, class Step>
void step_run(A* sums, const Stored* x, int64_t stride, int64_t length, int64_t lanes,
              int64_t groups, Step step) {
  if constexpr (!INTARSIA_HAS_VECTORS) return step_rows(sums, x, stride, length, lanes, step);
  int64_t rows = length / groups, width = groups * lanes;
  int64_t rest = (length - rows * groups) * lanes;
  for (;;) {  // whole rows, then what is left, by the same code
    step_rows(sums, x, stride * groups, rows, width, step);
    if (rest == 0) return;
    x += rows * width;
    rows = 1;
    width = rest;
    rest = 0;
  }
}

/// Merges the groups into sums[0, lanes): down to eight, then to one.
template <class A, class Merge>
void merge_groups(A* sums, int64_t lanes, int64_t groups, Merge merge) {
  for (int64_t left = 8; INTARSIA_HAS_VECTORS && left > 0; left -= 7) {
    if (groups <= left) continue;
    step_rows(sums, sums + left * lanes, left * lanes, groups / left - 1, left * lanes, merge);
    groups = left;
  }
}

}  // namespace intarsia::cpu
