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
  }

  /// True if one scale serves all elements.
  bool is_single() const { return single_; }

  /// Elements of the part that begins at `first`, a multiple of 8. Where many neighbours share a
  /// scale or have scales that are neighbours, parts end with them.
  int64_t part(int64_t first, int64_t end) const {
    const int64_t most = std::min(kPart, end - first);
    if (repeats(first) > 0) return most;
    const int64_t same = within_ != 0 ? inner_ - first % inner_ : shared(first);
    const bool long_runs = inner_ > 1 ? inner_ >= kPart / 4 : block_ >= kPart / 4;
    if (same >= most || same == 0 || !long_runs) return most;
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

  /// How many neighbours share each scale of the part that begins at `first`, where the scales of
  /// all of them lie one after another and parts hold whole blocks; else 0, as in small programs.
  int64_t repeats(int64_t first) const {
    if (!INTARSIA_HAS_VECTORS || single_ || across_ == 0 || (inner_ > 1 && block_ > 1)) return 0;
    const bool whole = kPart % block_ == 0 && length_ % block_ == 0 && first % block_ == 0;
    return whole ? block_ : 0;
  }

  /// Calls `body(first, count, scale, step, row)` for the pieces of the elements [begin, end): with
  /// step 1 their scales lie one after another for `row` elements, and are then the same again.
  template <class Body>
  void for_pieces(int64_t begin, int64_t end, const Body& body) const {
    for (int64_t first = begin; first < end;) {
      const int64_t in = first % inner_, at = first / inner_ % length_;
      const int64_t scale =
          first / inner_ / length_ * across_ + at / block_ * along_ + in * within_;
      int64_t count = inner_ - in, step = within_;
      if (inner_ == 1) {
        count = std::min(block_ == 1 ? length_ - at : block_ - at % block_, length_ - at);
        step = block_ == 1 ? along_ : 0;
      }
      const int64_t row = count;
      if (inner_ > 1 && step != 0 && in == 0) count *= std::min(block_ - at % block_, length_ - at);
      count = std::min(count, end - first);
      body(first, count, scale, step, row);
      first += count;
    }
  }

 private:
  bool single_ = true;
  // Without axis: one line of all elements. Steps of the scale's index: from one position along the
  // axis' blocks to the next, from one line of positions to the next, within the inner axes.
  int64_t inner_ = 1, length_ = 1, block_ = 1;
  int64_t along_ = 0, across_ = 0, within_ = 0;
};

}  // namespace intarsia::cpu
