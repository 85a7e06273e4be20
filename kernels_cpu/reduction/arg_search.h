// SPDX-License-Identifier: Apache-2.0
//
// Where the extreme element of a line is (ArgMax, ArgMin, Hardmax). NaN counts as more extreme than
// any number.
//
// `better(a, b)`: a is more extreme than b. Of equal elements the first one met counts; callers
// that want the last one walk backwards.
#pragma once

#include "kernels_cpu/common/row_steps.h"

namespace intarsia::cpu {

/// True if `value` takes the place of `best`, met before it.
template <class V, class Better>
bool replaces(V value, V best, Better better) {
  return better(value, best) | ((value != value) & (best == best));
}
template <class Better>
auto replacing(Better better) {
  return [=](auto value, auto best) { return replaces(value, best, better); };
}

/// The first or last element of `length` neighbours that equals `wanted`, or is NaN; `length` if
/// there is none.
template <class E, class V>
int64_t find_equal(const typename E::Stored* x, int64_t length, V wanted, bool last) {
  constexpr int64_t kBlock = 64;
  for (int64_t done = 0; done < length; done += kBlock) {
    const int64_t count = length - done < kBlock ? length - done : kBlock;
    const int64_t from = last ? length - done - count : done;
    unsigned found = 0;
    for (int64_t i = 0; i < count; ++i) {
      const V value = E::load(x[from + i]);
      found |= static_cast<unsigned>((value == wanted) | (value != value));
    }
    if (found == 0) continue;
    for (int64_t i = 0; i < count; ++i) {
      const int64_t at = last ? from + count - 1 - i : from + i;
      const V value = E::load(x[at]);
      if (value == wanted || value != value) return at;
    }
  }
  return length;
}

/// The index of the extreme of `length` neighbours, the first or the last of equals: its value by
/// lanes, then its place. REQUIRES: length > 0.
template <class E, class Better>
int64_t extreme_index(const typename E::Stored* x, int64_t length, bool last, Better better) {
  using V = typename E::Value;
  V best[kRowLanes];
  const auto choose = [=](V a, V b) { return better(b, a) || b != b ? b : a; };
  const int64_t groups = groups_for(length, 1);
  for (int64_t i = 0; i < groups; ++i) best[i] = E::load(x[0]);
  step_run(best, x, 1, length, 1, groups,
           [=](V a, typename E::Stored b) { return choose(a, E::load(b)); });
  merge_groups(best, 1, groups, choose);
  return find_equal<E>(x, length, best[0], last);
}

/// The same for `lanes` lines, `distance` apart, whose elements are `stride` apart.
/// `replaces(value, best)`: a value takes the place of the best of those before it.
/// REQUIRES: length > 0, lanes <= kLanes.
template <class E, int64_t kLanes, class Replaces>
void extreme_indices(const typename E::Stored* x, int64_t distance, int64_t stride, int64_t length,
                     int64_t lanes, bool last, int64_t* indices, Replaces replaces) {
  using V = typename E::Value;
  V best[kLanes];
  int32_t where[kLanes];  // as wide as a float
  for (int64_t k = 0; k < length; ++k) {
    const int64_t at = last ? length - 1 - k : k;
    const auto* row = x + at * stride;
    const auto index = static_cast<int32_t>(at);
    if (k == 0) {
      for (int64_t i = 0; i < lanes; ++i) best[i] = E::load(row[i * distance]);
      for (int64_t i = 0; i < lanes; ++i) where[i] = index;
      continue;
    }
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < lanes; ++i) {
      const V value = E::load(row[i * distance]);
      const bool take = replaces(value, best[i]);
      best[i] = take ? value : best[i];
      where[i] = take ? index : where[i];
    }
  }
  for (int64_t i = 0; i < lanes; ++i) indices[i] = where[i];
}

/// The same for `rows` rows of `length` neighbours, one after another: short rows side by side,
/// for finding an element of each by itself takes longer than the steps.
template <class E, class Better>
void extreme_of_rows(const typename E::Stored* x, int64_t length, int64_t rows, bool last,
                     int64_t* indices, Better better) {
  constexpr int64_t kRows = 16, kShort = 256;
  int64_t row = 0;
  for (; length <= kShort && row + kRows <= rows; row += kRows) {
    extreme_indices<E, kRows>(x + row * length, length, 1, length, kRows, last, indices + row,
                              replacing(better));
  }
  for (; row < rows; ++row) {
    indices[row] = extreme_index<E>(x + row * length, length, last, better);
  }
}

/// Which of two places of a line is that of the extreme element. `line` is at its first element.
template <class E, class Better>
int64_t extreme_of_two(const typename E::Stored* line, int64_t stride, int64_t a, int64_t b,
                       bool last, Better better) {
  const auto at_a = E::load(line[a * stride]), at_b = E::load(line[b * stride]);
  const bool equal = at_a == at_b || (at_a != at_a && at_b != at_b);
  return (equal ? (b > a) == last : replaces(at_b, at_a, better)) ? b : a;
}

/// Few lines side by side: those of less than a vector or two.
inline constexpr int64_t kFewLines = 16;

/// The same for `lines` long ones side by side, fewer than kFewLines: several positions are
/// searched at once, as lines of their own. REQUIRES: length >= 64.
template <class E, class Better>
void extreme_indices_of_few(const typename E::Stored* x, int64_t lines, int64_t length, bool last,
                            int64_t* indices, Better better) {
  constexpr int64_t kLanes = 64;
  const int64_t group = kLanes / lines, groups = length / group;
  int64_t found[kLanes];
  extreme_indices<E, kLanes>(x, 1, group * lines, groups, group * lines, last, found,
                             replacing(better));
  for (int64_t line = 0; line < lines; ++line) {
    int64_t best = found[line] * group;
    const auto meet = [&](int64_t at) {
      best = extreme_of_two<E>(x + line, lines, best, at, last, better);
    };
    for (int64_t i = 1; i < group; ++i) meet(found[i * lines + line] * group + i);
    for (int64_t at = groups * group; at < length; ++at) meet(at);
    indices[line] = best;
  }
}

/// Most indices that pieces of lines may have.
inline constexpr int64_t kMostFound = 2048;

/// Into how many pieces to cut lines that lie side by side: what is cut between lines shares pages
/// with what other threads read.
constexpr int64_t pieces_of_lines(int64_t length, int64_t lines) {
  constexpr int64_t kElements = 1 << 13;
  const int64_t room = kMostFound / lines, worth = length * lines / kElements;
  return halves(room < worth ? room : worth);
}

/// Lines of so few elements, of which few are neighbours, are turned first.
constexpr bool short_lines(int64_t length, int64_t inner) {
  return inner < kFewLines && length <= 64;
}
inline constexpr int64_t kShortLines = 32;

/// Element k of each of `lanes` lines of a tensor [outer][length][inner], from line `first` on, to
/// block[k * kShortLines + lane].
template <class T>
void turn_lines(const T* x, int64_t length, int64_t inner, int64_t first, int64_t lanes, T* block) {
  const T* from = x + first / inner * length * inner;
  int64_t place = first % inner;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    for (int64_t k = 0; k < length; ++k) block[k * kShortLines + lane] = from[k * inner + place];
    if (++place < inner) continue;
    place = 0;
    from += length * inner;
  }
}

/// The same for the lines [begin, end) of a tensor [outer][length][inner], a block of which is
/// turned so that their elements are neighbours. REQUIRES: 0 < length, short_lines.
template <class E, class Better>
void extreme_indices_of_short(const typename E::Stored* x, int64_t length, int64_t inner,
                              int64_t begin, int64_t end, bool last, int64_t* indices,
                              Better better) {
  typename E::Stored block[kShortLines * 64];
  for (int64_t first = begin; first < end; first += kShortLines) {
    const int64_t lanes = end - first < kShortLines ? end - first : kShortLines;
    turn_lines(x, length, inner, first, lanes, block);
    extreme_indices<E, kShortLines>(block, 1, kShortLines, length, lanes, last, indices + first,
                                    replacing(better));
  }
}

}  // namespace intarsia::cpu
