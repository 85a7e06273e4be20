// SPDX-License-Identifier: Apache-2.0
//
// Which scale belongs to which element: the walk that QuantizeLinear and DequantizeLinear share.
//
// Elements are taken in parts of at most `kPart`, which begin at whole bytes whatever their type
// is; a part consists of pieces whose scales lie one after another (`step` 1) or are one and the
// same (0).
#pragma once

#include <algorithm>

#include "intarsia/tensor.h"
#include "kernels_cpu/gemm/vector.h"
#include "kernels_cpu/reduction/reduce_axis.h"

namespace intarsia::cpu {

/// A multiple of 8.
inline constexpr int64_t kPart = 256;

class Granularity {
 public:
  /// REQUIRES: what ops::require_granularity proves.
  Granularity(const TensorView& x, const TensorView& scale, int32_t axis, int64_t block) {
    inner_ = std::max<int64_t>(x.count(), 1);
    if (scale.count() == 1) return;
    single_ = false;
    const AxisLoop loop(x, axis);
    length_ = loop.length;
    inner_ = loop.inner;
    block_ = block > 0 ? block : 1;
    along_ = block > 0 ? inner_ : 1;
    across_ = block > 0 ? (length_ + block - 1) / block * inner_ : 0;
    within_ = block > 0 && inner_ > 1 ? 1 : 0;
    const bool whole = kPart % block_ == 0 && length_ % block_ == 0;
    const bool one_after_another = block > 0 && (inner_ == 1 || block_ == 1);
    if (INTARSIA_HAS_VECTORS && whole && one_after_another) repeats_ = block_;
    long_runs_ = repeats_ == 0 && (inner_ > 1 ? inner_ : block_) >= kPart / 4;
  }

  /// True if one scale serves all elements.
  bool is_single() const { return single_; }

  /// Elements of the part that begins at `first`, a multiple of 8. Where many neighbours share a
  /// scale or have scales that are neighbours, parts end with them.
  int64_t part(int64_t first, int64_t end) const {
    const int64_t most = std::min(kPart, end - first);
    if (!long_runs_) return most;
    const int64_t same = within_ != 0 ? inner_ - first % inner_ : shared(first);
    if (same >= most) return most;
    return std::min(most, std::max<int64_t>(same / 8 * 8, 8));
  }

  /// How many elements from `first` on share one scale; 0 where neighbours never do.
  int64_t shared(int64_t first) const {
    if (single_) return inner_ - first;
    if (within_ != 0 || (inner_ == 1 && block_ == 1)) return 0;
    if (inner_ > 1) return inner_ - first % inner_;
    const int64_t at = first % length_;
    return std::min(block_ - at % block_, length_ - at);
  }

  /// How many neighbours share each scale, where the scales of all of them lie one after another
  /// and parts hold whole blocks; else 0, as in small programs.
  int64_t repeats() const { return repeats_; }

  /// Calls `body(first, count, scale, step, row)` for the pieces of the elements [begin, end): with
  /// step 1 their scales lie one after another for `row` elements, and are then the same again.
  template <class Body>
  void for_pieces(int64_t begin, int64_t end, const Body& body) const {
    int64_t in = begin % inner_, at = begin / inner_ % length_;
    int64_t line = begin / inner_ / length_ * across_;
    for (int64_t first = begin, count = 0; first < end; first += count, in = 0) {
      const int64_t of_block = at / block_, left = std::min(block_ - at % block_, length_ - at);
      const int64_t scale = line + of_block * along_ + in * within_;
      int64_t step = within_, row = inner_ - in, positions = 1;
      if (inner_ == 1) {
        row = positions = block_ == 1 ? length_ - at : left;
        step = block_ == 1 ? along_ : 0;
      } else if (step != 0 && in == 0) {
        positions = left;
      }
      count = std::min(inner_ == 1 ? row : row * positions, end - first);
      body(first, count, scale, step, row);
      at += positions;
      if (at < length_) continue;
      at = 0;
      line += across_;
    }
  }

 private:
  bool single_ = true;
  // Without axis: one line of all elements. Steps of the scale's index: from one position along the
  // axis' blocks to the next, from one line of positions to the next, within the inner axes.
  int64_t inner_ = 1, length_ = 1, block_ = 1;
  int64_t along_ = 0, across_ = 0, within_ = 0;
  int64_t repeats_ = 0;
  bool long_runs_ = false;  ///< So many neighbours share a scale, or have neighbouring scales.
};

}  // namespace intarsia::cpu
