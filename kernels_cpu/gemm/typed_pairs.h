// SPDX-License-Identifier: Apache-2.0
//
// Bytes as pairs of differences to their zero points, 16 bits each (`Int16Pair`): their products,
// and how they are packed.
//
// Included by typed_tile.h only, which says who may include that.
#pragma once

#include "kernels_cpu/gemm/typed_bytes.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {

/// sum += a * b of pairs: both products of each.
struct PairProducts : InterleavedRows {
  template <class X>
  INTARSIA_INLINE static void add(X& sum, const X& a, const X& b) {
#if defined(__AVX512BW__)
    if constexpr (sizeof(X) == 64) {
      sum += (X)_mm512_madd_epi16((__m512i)a, (__m512i)b);
      return;
    }
#endif
#if defined(__AVX2__)
    if constexpr (sizeof(X) == 32) {
      sum += (X)_mm256_madd_epi16((__m256i)a, (__m256i)b);
      return;
    }
#endif
#if defined(__SSE2__)
    if constexpr (sizeof(X) == 16) {
      sum += (X)_mm_madd_epi16((__m128i)a, (__m128i)b);
      return;
    }
#endif
    using Signed = typename VectorOfType<int32_t, sizeof(X) / 4>::Type;
    const Signed low = ((Signed)(a << 16) >> 16) * ((Signed)(b << 16) >> 16);
    const Signed high = ((Signed)a >> 16) * ((Signed)b >> 16);
    sum += (X)low + (X)high;
  }
};

/// Eight bytes, of which `count` exist, without their zero point as four pairs.
INTARSIA_INLINE void load_pairs(const ByteLanes& lanes, int lane, ptrdiff_t from, ptrdiff_t count,
                                Quad<uint32_t>& v) {
  using Bytes = typename VectorOfType<uint8_t, 8>::Type;
  using Shorts = typename VectorOfType<int16_t, 8>::Type;
  if (lanes.at[lane] == nullptr) {
    v = Quad<uint32_t>{};
    return;
  }
  const uint8_t* p = lanes.at[lane] + from;
  Bytes bytes;
  if (count >= 8) {
    std::memcpy(&bytes, p, sizeof bytes);
  } else {
    uint8_t some[8];
    for (int i = 0; i < 8; ++i) some[i] = i < count ? p[i] : lanes.zeros[lane];
    std::memcpy(&bytes, some, sizeof bytes);
  }
  const Bytes flips = lanes.flip - Bytes{};
  const Shorts zeros = static_cast<int16_t>(lanes.zeros[lane] ^ lanes.flip) - Shorts{};
  const Shorts numbers = __builtin_convertvector(bytes ^ flips, Shorts) - zeros;
  std::memcpy(&v, &numbers, sizeof v);
}

template <>
struct LinePacker<Int16Pair> {
  INTARSIA_INLINE LinePacker(const ByteLanes&, bool) {}
  INTARSIA_INLINE void add(const ByteLanes& lanes, ptrdiff_t count, uint32_t* to,
                           ptrdiff_t stored) const {
    for (ptrdiff_t from = 0; from < count; from += 8, to += 4 * stored) {
      Quad<uint32_t> v[4];
      INTARSIA_UNROLL
      for (int lane = 0; lane < 4; ++lane) load_pairs(lanes, lane, from, count - from, v[lane]);
      transpose(v);
      const ptrdiff_t pairs = count - from >= 8 ? 4 : (count - from + 1) / 2;
      for (ptrdiff_t i = 0; i < pairs; ++i) std::memcpy(to + i * stored, &v[i], sizeof v[i]);
    }
  }
  INTARSIA_INLINE void finish(const LaneTerms&, ptrdiff_t) const {}
};

/// Two rows of memory hold the halves of a line of pairs.
template <Isa I>
void pack_byte_rows(const TypedPack<Int16Pair>& job) {
  constexpr ptrdiff_t kMostLanes = 64, kRun = 16;
  const ByteFactor& x = job.from;
  const int flip = x.flip;
  for (ptrdiff_t first = 0; first < job.lanes; first += job.width) {
    const ptrdiff_t left = job.lanes - first;
    const ptrdiff_t here = left < job.width ? left : job.width;
    const ptrdiff_t stored = job.padded ? job.width : here;
    int zeros[kMostLanes];
    for (ptrdiff_t lane = 0; lane < here; ++lane) {
      zeros[lane] = x.zeros[(first + lane) * x.zero_step] ^ flip;
    }
    const auto join = [&](const uint8_t* low, ptrdiff_t lane, ptrdiff_t count, uint32_t* line)
        __attribute__((always_inline)) {
      const uint8_t* high = low + x.k_step;
      INTARSIA_INDEPENDENT
      for (const ptrdiff_t end = lane + count; lane < end; ++lane) {
        const int a = (low[lane] ^ flip) - zeros[lane], b = (high[lane] ^ flip) - zeros[lane];
        line[lane] = (static_cast<uint32_t>(a) & 0xffffu) | (static_cast<uint32_t>(b) << 16);
      }
    };
    for (ptrdiff_t k = 0; k < job.k; ++k) {
      const ptrdiff_t row = 2 * (x.first_group + k);
      const uint8_t* low = x.data + row * x.k_step + first;
      uint32_t* line = job.to + first * job.k + k * stored;
      if (row + 1 < x.k) {
        ptrdiff_t lane = 0;
        for (; lane + kRun <= here; lane += kRun) join(low, lane, kRun, line);
        join(low, lane, here - lane, line);
      } else {  // the last one of an odd number
        for (ptrdiff_t lane = 0; lane < here; ++lane) {
          line[lane] = static_cast<uint32_t>((low[lane] ^ flip) - zeros[lane]) & 0xffffu;
        }
      }
      for (ptrdiff_t lane = here; lane < stored; ++lane) line[lane] = 0;
    }
  }
}

}  // namespace intarsia::cpu
