// SPDX-License-Identifier: Apache-2.0
//
// What pooling by vectors knows of the windows that it takes together: where their taps are, and
// how the columns of the input lie in a buffer.
#pragma once

#include "kernels_cpu/nn/window_walk.h"

namespace intarsia::cpu {

/// Most columns of the input in a buffer, results whose columns they are, rows of these, and taps
/// that are listed.
inline constexpr int64_t kPoolColumns = 512;
inline constexpr int64_t kPoolRows = 64;
inline constexpr int64_t kPoolTaps = 256;
/// Most taps along the last axis that are masked.
inline constexpr int64_t kPoolMasks = 4;

/// The taps along the first `axes` spatial axes that lie in the input.
class PoolTaps {
 public:
  PoolTaps(const WindowWalk& walk, int axes) : walk_(walk), run_(axes - 1) {}

  /// Where the elements are: offset[begin, end) behind `base`, counted from where the channel or
  /// image begins. `base` itself may lie outside of it.
  int64_t base = 0, begin = 0, end = 0;
  int64_t offset[kPoolTaps];
  bool whole = false;  ///< All taps lie in the input.

  void find(const int64_t* position) {
    bool across = true;
    int64_t start = 0;
    for (int i = 0; i < run_; ++i) {
      const int64_t at = position[i] * walk_.stride[i] - walk_.before[i];
      across = across && at >= 0 && at + walk_.reach(i) <= walk_.in[i];
      start += at * walk_.step[i];
    }
    base = across ? start : 0;
    if (!(across && listed_)) list(position, across);  // most windows have the same taps
    TapRun taps{0, 1};
    if (run_ >= 0) {
      const int64_t at = position[run_] * walk_.stride[run_] - walk_.before[run_];
      taps = walk_.taps_from(run_, at);
      base += at * walk_.step[run_];
    }
    whole = across && (run_ < 0 || taps.count() == walk_.kernel[run_]);
    begin = taps.count() > 0 ? taps.first * across_ : 0;
    end = begin + taps.count() * across_;
  }
  /// Number of taps in the input, or with `padding` in the padded input.
  int64_t inside(const int64_t* position, bool padding) const {
    return padding && !whole ? walk_.taps_inside(position, run_ + 1, true) : end - begin;
  }

 private:
  /// Those of each place along the last of the axes follow one another, as if all of these were in
  /// the input.
  void list(const int64_t* position, bool across) {
    listed_ = across;
    across_ = 0;
    const int64_t along = run_ < 0 ? 1 : walk_.kernel[run_];
    for (int64_t k = 0; k < along; ++k) {
      int64_t* to = offset + k * across_;
      across_ = 0;
      const int64_t further = run_ < 0 ? 0 : k * walk_.dilation[run_] * walk_.step[run_];
      walk_.for_tap_runs(position, run_ > 0 ? run_ : 0,
                         [&](int64_t first, int64_t taps, int64_t distance) {
                           for (int64_t i = 0; i < taps; ++i) {
                             to[across_++] = first - base + further + i * distance;
                           }
                         });
    }
  }

  const WindowWalk& walk_;
  int run_;              // the last of the axes
  int64_t across_ = 0;   // taps in the input along the others
  bool listed_ = false;  // they are all of their taps
};

/// How the columns of rows of results lie in a buffer: column 0 of row r, the first one under the
/// window of its first result, is number lead + r * pitch.
struct PoolStrip {
  int64_t lanes = 0;  ///< Results of a row.
  int64_t pitch = 0;
  int64_t rows = 0;
  int64_t lead = 0;
  int64_t begin = 0;          ///< Column 0 in the input.
  int64_t low = 0, high = 0;  ///< Columns [low, high) lie in the input.
  bool joined = false;        ///< Results of all rows are one line, stride columns apart.
  /// The same with results between rows that are of none, and have to be left out.
  bool spread = false;
  int64_t along = 0;  ///< Results from row to row of a line, else of a row.
  /// Taps along the last axis [plain, plain_end) lie in a row for all results; the others are
  /// masked, where rows are joined, or padding in the buffer.
  int64_t plain = 0, plain_end = 0;

  static bool fits(const WindowWalk& walk) {
    const int w = walk.last();
    // Where most columns would lie between windows, they are not worth it.
    return walk.reach(w) <= kPoolColumns / 2 && walk.stride[w] <= 2 * walk.reach(w) &&
           walk.taps / walk.kernel[w] <= kPoolTaps;
  }
  /// Of the results of a row from `first` on, as many as fit. Rows of at most `most` are joined,
  /// others of less than `align` spread.
  /// The first column that lies in the input is at a multiple of `align`.
  PoolStrip(const WindowWalk& walk, int64_t first, int64_t most, int64_t align);
};

/// Copies `rows` rows of `length` bytes, `pitch` bytes apart, to where they follow one another, in
/// pieces that are larger than what is left of a row.
void pack_rows(const void* from, int64_t pitch, void* to, int64_t rows, int64_t length);

}  // namespace intarsia::cpu
