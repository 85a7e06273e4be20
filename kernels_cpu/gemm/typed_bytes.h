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

/// Most bytes of a row of a window that is packed at once.
inline constexpr ptrdiff_t kRunBytes = 64;

/// to[j][0 .. channels) = from[j][...] of `count` taps.
INTARSIA_INLINE void copy_taps(const uint8_t* from, ptrdiff_t step, ptrdiff_t channels,
                               ptrdiff_t count, uint8_t* to, ptrdiff_t pitch) {
  for (; count > 0; --count, from += step, to += pitch) {
    if (channels == 3) {  // colours
      std::memcpy(to, from, 2);
      to[2] = from[2];
    } else {
      INTARSIA_ROLL
      for (ptrdiff_t c = 0; c < channels; ++c) to[c] = from[c];
    }
  }
}

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
    for (int lane = 0; lane < 4; ++lane) {
      const bool there = lane < count && inside(z[lane] + dz, s.in_d) &&
                         inside(y[lane] + dy, s.in_h) && inside(x[lane] + dx, s.in_w);
      at[lane] = there ? data + (place[lane] + shift) : nullptr;
    }
    step(1);
  }
  /// The taps of a row from the next one on, at most `most`, each `pitch` bytes: as they lie in the
  /// image, or put together in `runs`. Returns how many these are.
  INTARSIA_INLINE ptrdiff_t next_row(const ByteFactor& x, ptrdiff_t pitch, ptrdiff_t most,
                                     ptrdiff_t count, uint8_t (&runs)[4][kRunBytes],
                                     ByteLanes& lanes) {
    const ptrdiff_t left = s.kernel_w - j, taps = left < most ? left : most;
    const int64_t dz = h * s.dilation_d, dy = i * s.dilation_h, dx = j * s.dilation_w;
    const int64_t shift = ((dz * s.in_h + dy) * s.in_w + dx) * s.in_pitch;
    const ptrdiff_t apart = s.dilation_w * s.in_pitch;
    for (int lane = 0; lane < 4; ++lane) {
      lanes.at[lane] = nullptr;
      if (lane >= count || !inside(z[lane] + dz, s.in_d) || !inside(y[lane] + dy, s.in_h)) continue;
      const int64_t first = x_of(lane, 0), last = x_of(lane, taps - 1);
      if (first < 0 || last >= s.in_w || apart != pitch || x.k != pitch) {
        std::memset(runs[lane], lanes.zeros[lane], sizeof runs[lane]);
        ptrdiff_t begin = 0, end = taps;
        while (begin < end && x_of(lane, begin) < 0) ++begin;
        while (begin < end && x_of(lane, end - 1) >= s.in_w) --end;
        copy_taps(x.data + (place[lane] + shift + begin * apart), apart, x.k, end - begin,
                  runs[lane] + begin * pitch, pitch);
        lanes.at[lane] = runs[lane];
      } else {
        lanes.at[lane] = x.data + (place[lane] + shift);
      }
    }
    step(taps);
    return taps;
  }

 private:
  INTARSIA_INLINE static bool inside(int64_t position, int64_t extent) {
    return static_cast<uint64_t>(position) < static_cast<uint64_t>(extent);
  }
  /// The column of the tap so far behind the next one.
  INTARSIA_INLINE int64_t x_of(int lane, ptrdiff_t tap) const {
    return x[lane] + (j + tap) * s.dilation_w;
  }
  INTARSIA_INLINE void step(ptrdiff_t taps) {
    if ((j += taps) < s.kernel_w) return;
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
    const ptrdiff_t pitch = kBytes * tap_groups;
    if (first == 0 && x.k > 0 && x.windows->kernel_w > 1 &&
        x.windows->kernel_w * pitch <= kRunBytes) {
      uint8_t runs[4][kRunBytes];
      for (ptrdiff_t left = job.k; left > 0;) {
        const ptrdiff_t whole = left / tap_groups, most = whole > 0 ? whole : 1;
        const ptrdiff_t here = taps.next_row(x, pitch, most, count, runs, lanes);
        const ptrdiff_t groups = here * tap_groups < left ? here * tap_groups : left;
        packer.add(lanes, kBytes * groups, to, stored);
        to += groups * stored;
        left -= groups;
      }
      packer.finish(job.terms, lane);
      return;
    }
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
