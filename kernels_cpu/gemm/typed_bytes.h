// SPDX-License-Identifier: Apache-2.0
//
// Matrices of bytes as groups of bytes along K (`ByteFactor`): where four lanes lie. What becomes
// of their bytes: typed_pairs.h, typed_quads.h.
//
// Included by these only; typed_tile.h says who may include them.
#pragma once

#include "kernels_cpu/gemm/tile.h"
#include "kernels_cpu/gemm/typed_lanes.h"

namespace intarsia::cpu {

/// Where four lanes are read; null: zero points alone.
struct ByteLanes {
  const uint8_t* at[4];
  uint8_t zeros[4];  ///< As they lie in memory, like the bytes.
  uint8_t flip;
  ptrdiff_t next;  ///< From a lane to the one that is packed after it.
};

/// Packs four lanes as S:
///
///     LinePacker(const ByteLanes& lanes, bool padded);
///     void add(const ByteLanes& lanes, ptrdiff_t count, uint32_t* to, ptrdiff_t stored);
///     void finish(const LaneTerms& terms, ptrdiff_t lane);
///
/// `add` makes `count` bytes of each lane lines of groups, `stored` groups apart.
template <class S>
struct LinePacker;

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
  const ptrdiff_t first = x.first_group * kBytes;
  const ptrdiff_t bytes = x.k - first < kBytes * job.k ? x.k - first : kBytes * job.k;
  for (ptrdiff_t i = 0; i < 4 && i < count; ++i) {
    lanes.at[i] = x.data + (lane + i) * x.lane_step + first;
  }
  packer.add(lanes, bytes, to, stored);
  packer.finish(job.terms, lane);
}

/// The bytes of a lane follow one another.
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
