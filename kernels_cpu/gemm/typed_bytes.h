// SPDX-License-Identifier: Apache-2.0
//
// Matrices of bytes and the windows of images as groups of bytes along K (`ByteFactor`): where four
// lanes lie, tap by tap. What becomes of their bytes: typed_pairs.h, typed_quads.h.
//
// Included by these only; typed_tile.h says who may include them.
#pragma once

#include "kernels_cpu/gemm/tile.h"
#include "kernels_cpu/gemm/typed_lanes.h"

namespace intarsia::cpu {

/// Where a tap of four lanes is read; null: zero points alone.
struct ByteLanes {
  const uint8_t* at[4];
  uint8_t zeros[4];  ///< As they lie in memory, like the bytes.
  uint8_t flip;
  ptrdiff_t next;  ///< From a lane to the one that is packed after it.
};

/// Packs four lanes as S, tap by tap:
///
///     LinePacker(const ByteLanes& lanes, bool padded);
///     void add(const ByteLanes& lanes, ptrdiff_t count, uint32_t* to, ptrdiff_t stored);
///     void finish(const LaneTerms& terms, ptrdiff_t lane);
///
/// `add` makes `count` bytes of each lane lines of groups, `stored` groups apart.
template <class S>
struct LinePacker;

/// Where the windows of four pixels lie, tap by tap.
struct WindowTaps {
  const ConvShape& s;
  int64_t z[4], y[4], x[4];
  int64_t place[4];  ///< Of the first tap, which may lie outside.
  int64_t h, i, j;   ///< The next tap.

  INTARSIA_INLINE WindowTaps(const ConvShape& shape, ptrdiff_t pixel, ptrdiff_t tap)
      : s(shape),
        h(tap / s.kernel_w / s.kernel_h),
        i(tap / s.kernel_w % s.kernel_h),
        j(tap % s.kernel_w) {
    int64_t out_x = pixel % s.out_w, out_y = pixel / s.out_w % s.out_h;
    int64_t out_z = pixel / s.out_w / s.out_h % s.out_d;
    int64_t image = pixel / s.out_w / s.out_h / s.out_d;
    for (int lane = 0; lane < 4; ++lane) {
      z[lane] = out_z * s.stride_d - s.pad_front;
      y[lane] = out_y * s.stride_h - s.pad_top;
      x[lane] = out_x * s.stride_w - s.pad_left;
      place[lane] =
          (((image * s.in_d + z[lane]) * s.in_h + y[lane]) * s.in_w + x[lane]) * s.in_pitch;
      if (++out_x < s.out_w) continue;
      out_x = 0;
      if (++out_y < s.out_h) continue;
      out_y = 0;
      if (++out_z < s.out_d) continue;
      out_z = 0;
      ++image;
    }
  }
  /// The bytes [first, ...) of the next tap of the first `count` pixels.
  INTARSIA_INLINE void next(const uint8_t* data, ptrdiff_t first, ptrdiff_t count,
                            const uint8_t* (&at)[4]) {
    const int64_t dz = h * s.dilation_d, dy = i * s.dilation_h, dx = j * s.dilation_w;
    const int64_t shift = ((dz * s.in_h + dy) * s.in_w + dx) * s.in_pitch + first;
    const auto inside = [](int64_t position, int64_t extent) {
      return static_cast<uint64_t>(position) < static_cast<uint64_t>(extent);
    };
    for (int lane = 0; lane < 4; ++lane) {
      const bool there = lane < count && inside(z[lane] + dz, s.in_d) &&
                         inside(y[lane] + dy, s.in_h) && inside(x[lane] + dx, s.in_w);
      at[lane] = there ? data + (place[lane] + shift) : nullptr;
    }
    if (++j < s.kernel_w) return;
    j = 0;
    if (++i < s.kernel_h) return;
    i = 0;
    ++h;
  }
};

/// The lanes [lane, + count), up to four; those behind them are lines of something.
template <Isa I, class S>
void pack_four(const TypedPack<S>& job, ptrdiff_t lane, ptrdiff_t count, uint32_t* to,
               ptrdiff_t stored) {
  constexpr ptrdiff_t kBytes = kGroup<S>;
  const ByteFactor& x = job.from;
  ByteLanes lanes{};
  lanes.flip = x.flip;
  lanes.next = 4 * x.lane_step;
  for (ptrdiff_t i = 0; i < 4 && i < count; ++i) lanes.zeros[i] = x.zeros[(lane + i) * x.zero_step];
  LinePacker<S> packer(lanes, job.padded);
  const ptrdiff_t tap_groups = x.k > 0 ? (x.k + kBytes - 1) / kBytes : 1;
  ptrdiff_t tap = x.first_group / tap_groups, first = x.first_group % tap_groups * kBytes;
  const auto each_tap = [&](const auto& find) __attribute__((always_inline)) {
    for (ptrdiff_t left = job.k; left > 0; first = 0) {
      find();
      const ptrdiff_t bytes = x.k - first < kBytes * left ? x.k - first : kBytes * left;
      packer.add(lanes, bytes, to, stored);
      const ptrdiff_t groups = (bytes + kBytes - 1) / kBytes;
      to += groups * stored;
      left -= groups;
    }
  };
  if (x.windows != nullptr) {
    WindowTaps taps(*x.windows, x.first_lane + lane, tap);
    each_tap([&] { taps.next(x.data, first, count, lanes.at); });
  } else {
    each_tap([&] {
      for (ptrdiff_t i = 0; i < 4 && i < count; ++i) {
        lanes.at[i] = x.data + (lane + i) * x.lane_step + tap * x.tap_step + first;
      }
      ++tap;
    });
  }
  packer.finish(job.terms, lane);
}

/// The bytes of a lane's tap follow one another.
template <Isa I, class S>
void pack_byte_lanes(const TypedPack<S>& job) {
  if constexpr (kQuads<S>) {
    if (!job.padded) {  // A: lines of one lane
      for (ptrdiff_t lane = 0; lane < job.lanes; lane += 4) {
        pack_four<I>(job, lane, job.lanes - lane, job.to + lane * kQuadPitch, 1);
      }
      return;
    }
  }
  for (ptrdiff_t first = 0; first < job.lanes; first += job.width) {
    const ptrdiff_t left = job.lanes - first;
    const ptrdiff_t here = left < job.width ? left : job.width;
    const ptrdiff_t stored = job.padded ? job.width : here;
    if constexpr (kQuads<S>) {
      for (ptrdiff_t q = 0; q < stored; q += 4) {
        pack_four<I>(job, first + q, here - q, job.to + first * job.k + q, stored);
      }
      continue;
    }
    // From the last lanes to the first: what is written beyond a line is written again.
    for (ptrdiff_t q = (stored - 1) / 4 * 4; q >= 0; q -= 4) {
      pack_four<I>(job, first + q, here - q, job.to + first * job.k + q, stored);
    }
  }
}

}  // namespace intarsia::cpu
