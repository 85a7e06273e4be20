// SPDX-License-Identifier: Apache-2.0
//
// Axes of a dense output over operands that lie at strides of their own: broadcasting (stride 0),
// transposition. Built on the host, merged where neighbours form one run in every operand, and
// passed to a kernel by value; a thread turns its element's number into each operand's offset.
//
// A division of 64 bits is about a hundred instructions on a GPU. So numbers are located in 32
// bits, and divided by one multiplication, wherever the host finds that they fit.
#pragma once

#include "intarsia/tensor.h"
#include "kernels_cuda/common/device.h"

namespace intarsia::cuda {

/// Numbers below this are divided by a multiplication.
inline constexpr int64_t kFastBound = int64_t{1} << 31;

/// Division of numbers below kFastBound by one that the host knows (Granlund and Montgomery:
/// Division by invariant integers using multiplication).
class FastDivisor {
 public:
  FastDivisor() = default;
  /// REQUIRES: 1 <= divisor < kFastBound.
  explicit FastDivisor(int64_t divisor) {
    while ((int64_t{1} << shift_) < divisor) ++shift_;
    const uint64_t above = (uint64_t{1} << shift_) - static_cast<uint64_t>(divisor);
    multiplier_ = static_cast<uint32_t>((above << 32) / static_cast<uint64_t>(divisor) + 1);
  }
  INTARSIA_HOST_DEVICE uint32_t quotient(uint32_t dividend) const {
    const auto high = static_cast<uint32_t>((uint64_t{dividend} * multiplier_) >> 32);
    return (high + dividend) >> shift_;
  }

 private:
  uint32_t multiplier_ = 1;
  uint32_t shift_ = 0;
};

/// The same for dividends of any size: in 64 bits only where the host finds one too large.
class Divisor {
 public:
  Divisor() = default;
  /// For dividends below `bound`. REQUIRES: 1 <= divisor.
  Divisor(int64_t divisor, int64_t bound)
      : divisor_(divisor), fast_(bound <= kFastBound && divisor < kFastBound) {
    if (fast_) by_ = FastDivisor(divisor);
  }
  INTARSIA_HOST_DEVICE void divide(int64_t dividend, int64_t& quotient, int64_t& remainder) const {
    if (fast_) {
      const auto whole = static_cast<uint32_t>(dividend);
      const uint32_t part = by_.quotient(whole);
      quotient = part;
      remainder = whole - part * static_cast<uint32_t>(divisor_);
    } else {
      quotient = dividend / divisor_;
      remainder = dividend - quotient * divisor_;
    }
  }

 private:
  int64_t divisor_ = 1;
  FastDivisor by_;
  bool fast_ = true;
};

template <int Operands, int Most = kMaxRank>
struct StridedAxes {
  int rank = 0;
  bool fast = true;  // all numbers and offsets are below kFastBound
  int64_t count = 1;
  FastDivisor divisors[Most];
  int64_t extents[Most] = {};
  int64_t strides[Operands][Most] = {};
  int64_t reach[Operands] = {};  // the largest distance from an operand's first element

  /// Adds the next axis, from the outermost to the innermost.
  void add(int64_t extent, const int64_t (&steps)[Operands]) {
    if (extent == 1) return;
    bool merges = rank > 0;
    for (int i = 0; i < Operands; ++i) {
      merges = merges && strides[i][rank - 1] == steps[i] * extent;
    }
    if (merges) {
      extents[rank - 1] *= extent;
    } else {
      extents[rank++] = extent;
    }
    count *= extent;
    fast = fast && count < kFastBound;
    for (int i = 0; i < Operands; ++i) {
      strides[i][rank - 1] = steps[i];
      reach[i] += (extent - 1) * (steps[i] < 0 ? -steps[i] : steps[i]);
      fast = fast && reach[i] < kFastBound;
    }
    if (fast && count > 0) divisors[rank - 1] = FastDivisor(extents[rank - 1]);
  }

  /// The offset in each operand of element `index` of the output. REQUIRES: there is one.
  INTARSIA_HOST_DEVICE void locate(int64_t index, int64_t (&offsets)[Operands]) const {
    if (fast) {
      int32_t sums[Operands] = {};
      auto rest = static_cast<uint32_t>(index);
      INTARSIA_ROLLED
      for (int axis = rank - 1; axis >= 0; --axis) {
        // What is left is the outermost axis' own.
        const uint32_t outer = axis > 0 ? divisors[axis].quotient(rest) : 0;
        const auto at = static_cast<int32_t>(rest - outer * static_cast<uint32_t>(extents[axis]));
        rest = outer;
        for (int i = 0; i < Operands; ++i) sums[i] += at * static_cast<int32_t>(strides[i][axis]);
      }
      for (int i = 0; i < Operands; ++i) offsets[i] = sums[i];
      return;
    }
    for (int i = 0; i < Operands; ++i) offsets[i] = 0;
    INTARSIA_ROLLED
    for (int axis = rank - 1; axis >= 0; --axis) {
      const int64_t outer = axis > 0 ? index / extents[axis] : 0;
      const int64_t at = index - outer * extents[axis];
      index = outer;
      for (int i = 0; i < Operands; ++i) offsets[i] += at * strides[i][axis];
    }
  }
};

/// The distance between neighbours along axis `axis` of a dense tensor whose axes are aligned with
/// those of `rank` at the end; 0 where the tensor has one element there, or no such axis.
inline int64_t broadcast_stride(const TensorView& view, int rank, int axis) {
  const int own = axis - (rank - view.rank);
  if (own < 0 || view.extents[own] == 1) return 0;
  int64_t stride = 1;
  for (int i = own + 1; i < view.rank; ++i) stride *= view.extents[i];
  return stride;
}

}  // namespace intarsia::cuda
