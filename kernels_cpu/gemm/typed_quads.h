// SPDX-License-Identifier: Apache-2.0
//
// Bytes as quads (`ByteQuad`), multiplied by the dot products of AVX512_VNNI: of A unsigned, of B
// signed, which flipping the highest bit makes them. With a and b, their zero points and those of
// the same bytes so flipped, and K a multiple of 4,
//
//     sum (a - a_zero) (b - b_zero) = sum a b - a_zero sum b - b_zero sum a + K a_zero b_zero
//
// Bytes that only fill a quad are the zero point of their lane.
//
// Included by typed_tile.h only, which says who may include that. Nothing is compiled for VNNI but
// the one instruction.
#pragma once

#include "kernels_cpu/gemm/typed_bytes.h"

namespace intarsia::cpu {

#if defined(__AVX512BW__)
using QuadVector = typename VectorOfType<uint32_t, 16>::Type;
#endif

/// sum += a * b of quads: the four products of each.
struct QuadProducts {
  static constexpr ptrdiff_t kRowPitch = kQuadPitch;
  static constexpr bool kKeepsZeroPoints = true;

  template <class X>
  INTARSIA_INLINE static void add(X& sum, const X& a, const X& b) {
    // The intrinsic would need VNNI for the whole source. Not the form that saturates.
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
  }
  template <class X, int R, int Vectors>
  INTARSIA_INLINE static void add_zero_points(const TypedTile<uint32_t>& t, X (&acc)[R][Vectors]) {
    X b_sums[Vectors], b_zeros[Vectors];
    std::memcpy(b_sums, t.b_terms.sums, sizeof b_sums);
    std::memcpy(b_zeros, t.b_terms.zeros, sizeof b_zeros);
    const auto bytes = static_cast<uint32_t>(kGroup<ByteQuad> * t.k);
    INTARSIA_UNROLL
    for (int r = 0; r < R; ++r) {
      const uint32_t zero = t.a_terms.zeros[r], rest = bytes * zero - t.a_terms.sums[r];
      INTARSIA_UNROLL
      for (int v = 0; v < Vectors; ++v) acc[r][v] += rest * b_zeros[v] - zero * b_sums[v];
    }
  }
};

#if defined(__AVX512BW__)
/// The first n bits.
INTARSIA_INLINE uint64_t bits_below(ptrdiff_t n) {
  return n >= 64 ? ~uint64_t{0} : n <= 0 ? 0 : (uint64_t{1} << n) - 1;
}
/// A byte everywhere.
INTARSIA_INLINE void spread_byte(uint8_t byte, QuadVector& v) {
  v = 0x01010101u * byte - QuadVector{};
}

/// A: each lane as a line of its own. B: four lanes side by side.
template <>
struct LinePacker<ByteQuad> {
  QuadVector zeros[4], flips, ones, sums[4] = {};
  bool of_b;

  INTARSIA_INLINE LinePacker(const ByteLanes& lanes, bool padded) : of_b(padded) {
    for (int i = 0; i < 4; ++i) spread_byte(lanes.zeros[i], zeros[i]);
    spread_byte(lanes.flip, flips);
    spread_byte(1, ones);
  }
  INTARSIA_INLINE void add(const ByteLanes& lanes, ptrdiff_t count, uint32_t* to,
                           ptrdiff_t stored) {
    for (ptrdiff_t from = 0; from < count; from += 64, to += 16 * stored) {
      const uint64_t some = bits_below(count - from);
      const ptrdiff_t quads = count - from >= 64 ? 16 : (count - from + 3) / 4;
      QuadVector v[4];
      INTARSIA_UNROLL
      for (int i = 0; i < 4; ++i) {
        const bool there = lanes.at[i] != nullptr;
        const void* p = there ? lanes.at[i] + from : lanes.zeros;
        const __m512i bytes = _mm512_mask_loadu_epi8((__m512i)zeros[i], there ? some : 0, p);
        // Behind the last quad are zeros, for the sums.
        v[i] = (QuadVector)_mm512_maskz_xor_epi32(static_cast<__mmask16>(bits_below(quads)), bytes,
                                                  (__m512i)flips);
      }
      if (of_b) {
        // Weights come from memory, and lanes are too short for it to be foreseen. A number, since
        // there may be nothing behind the last lanes.
        INTARSIA_UNROLL
        for (int i = 0; i < 4; ++i) {
          const auto ahead = static_cast<uintptr_t>(from + lanes.next);
          __builtin_prefetch(
              reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(lanes.at[i]) + ahead));
        }
        transpose_parts(v);
        INTARSIA_UNROLL
        for (int i = 0; i < 4; ++i) QuadProducts::add(sums[i], ones, v[i]);
        store_lines(v, quads, to, stored);
      } else {
        INTARSIA_UNROLL
        for (int i = 0; i < 4; ++i) {
          QuadProducts::add(sums[i], v[i], ones);
          std::memcpy(to + i * kQuadPitch, &v[i], sizeof v[i]);  // what follows is written later
        }
      }
    }
  }
  INTARSIA_INLINE void finish(const LaneTerms& terms, ptrdiff_t lane) {
    if (!of_b) transpose_parts(sums);
    const QuadVector all = sums[0] + sums[1] + sums[2] + sums[3];
    const Quad<uint32_t> sum = part<0>(all) + part<1>(all) + part<2>(all) + part<3>(all);
    std::memcpy(terms.sums + lane, &sum, sizeof sum);
    for (int i = 0; i < 4; ++i) {
      const auto zero = static_cast<uint8_t>(zeros[i][0] ^ flips[0]);
      terms.zeros[lane + i] = of_b ? static_cast<uint32_t>(static_cast<int8_t>(zero)) : zero;
    }
  }

 private:
  template <int N>
  INTARSIA_INLINE static Quad<uint32_t> part(const QuadVector& v) {
    return __builtin_shufflevector(v, v, 4 * N, 4 * N + 1, 4 * N + 2, 4 * N + 3);
  }
  template <int N>
  INTARSIA_INLINE static void store_part(const QuadVector (&v)[4], uint32_t* to, ptrdiff_t stored) {
    INTARSIA_UNROLL
    for (int i = 0; i < 4; ++i) {
      const Quad<uint32_t> line = part<N>(v[i]);
      std::memcpy(to + (4 * N + i) * stored, &line, sizeof line);
    }
  }
  /// Line 4 * part + i is a part of v[i].
  INTARSIA_INLINE static void store_lines(const QuadVector (&v)[4], ptrdiff_t quads, uint32_t* to,
                                          ptrdiff_t stored) {
    if (quads == 16) {
      store_part<0>(v, to, stored);
      store_part<1>(v, to, stored);
      store_part<2>(v, to, stored);
      store_part<3>(v, to, stored);
      return;
    }
    uint32_t all[4][16];
    std::memcpy(all, v, sizeof all);
    for (ptrdiff_t quad = 0; quad < quads; ++quad) {
      std::memcpy(to + quad * stored, &all[quad % 4][quad / 4 * 4], sizeof(Quad<uint32_t>));
    }
  }
  /// Exchanges rows and columns of each part of four quads.
  INTARSIA_INLINE static void transpose_parts(QuadVector (&v)[4]) {
    const QuadVector ac_low = low(v[0], v[2]), ac_high = high(v[0], v[2]);
    const QuadVector bd_low = low(v[1], v[3]), bd_high = high(v[1], v[3]);
    v[0] = low(ac_low, bd_low);
    v[1] = high(ac_low, bd_low);
    v[2] = low(ac_high, bd_high);
    v[3] = high(ac_high, bd_high);
  }
  INTARSIA_INLINE static QuadVector low(const QuadVector& a, const QuadVector& b) {
    return __builtin_shufflevector(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29);
  }
  INTARSIA_INLINE static QuadVector high(const QuadVector& a, const QuadVector& b) {
    return __builtin_shufflevector(a, b, 2, 18, 3, 19, 6, 22, 7, 23, 10, 26, 11, 27, 14, 30, 15,
                                   31);
  }
};

/// Four rows of sixteen bytes as sixteen quads.
INTARSIA_INLINE void interleave(const Quad<uint32_t> (&rows)[4], QuadVector& v) {
  const auto ab = __builtin_shufflevector(rows[0], rows[1], 0, 1, 2, 3, 4, 5, 6, 7);
  const auto cd = __builtin_shufflevector(rows[2], rows[3], 0, 1, 2, 3, 4, 5, 6, 7);
  const QuadVector parts =
      __builtin_shufflevector(ab, cd, 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
  constexpr uint32_t k0 = 0x0c080400u, k1 = 0x0d090501u, k2 = 0x0e0a0602u, k3 = 0x0f0b0703u;
  const QuadVector order = {k0, k1, k2, k3, k0, k1, k2, k3, k0, k1, k2, k3, k0, k1, k2, k3};
  v = (QuadVector)_mm512_maskz_shuffle_epi8(~uint64_t{0}, (__m512i)parts, (__m512i)order);
}

/// Lanes of B, whose rows of memory hold a byte of each: N times sixteen from `first` on.
template <Isa I, int N>
void pack_quad_rows(const TypedPack<ByteQuad>& job, ptrdiff_t first) {
  constexpr ptrdiff_t kWidth = kTypedPanelBytes / sizeof(ByteQuad);
  const ByteFactor& x = job.from;
  QuadVector flips, ones, sums[N] = {};
  spread_byte(x.flip, flips);
  spread_byte(1, ones);
  const ptrdiff_t step = x.k_step, row = kGroup<ByteQuad> * x.first_group;
  const ptrdiff_t groups = job.k, rows = x.k - row, panel = kWidth * groups;
  const uint8_t* from = x.data + row * step + first;
  uint32_t* to = job.to + first * groups;
  ptrdiff_t k = 0;
  const auto add = [&](int i, const Quad<uint32_t>(&v)[4]) __attribute__((always_inline)) {
    QuadVector quads;
    interleave(v, quads);
    quads ^= flips;
    QuadProducts::add(sums[i], ones, quads);
    std::memcpy(to + k * kWidth + i / 2 * panel + i % 2 * 16, &quads, sizeof quads);
  };
  for (; job.lanes - first >= 16 * N && k < groups && 4 * k + 4 <= rows; ++k, from += 4 * step) {
    INTARSIA_UNROLL
    for (int i = 0; i < N; ++i) {
      Quad<uint32_t> v[4];
      INTARSIA_UNROLL
      for (int r = 0; r < 4; ++r) std::memcpy(&v[r], from + 16 * i + r * step, sizeof v[r]);
      add(i, v);
    }
  }
  __mmask16 there[N];
  __m128i zeros[N];
  INTARSIA_UNROLL
  for (int i = 0; i < N; ++i) {
    there[i] = static_cast<__mmask16>(bits_below(job.lanes - first - 16 * i));
    zeros[i] = x.zero_step == 0 ? _mm_set1_epi8(static_cast<char>(*x.zeros))
                                : _mm_maskz_loadu_epi8(there[i], x.zeros + first + 16 * i);
  }
  for (; k < groups; ++k, from += 4 * step) {
    INTARSIA_UNROLL
    for (int i = 0; i < N; ++i) {
      Quad<uint32_t> v[4];
      for (int r = 0; r < 4; ++r) {
        const bool exists = 4 * k + r < rows;
        v[r] = (Quad<uint32_t>)_mm_mask_loadu_epi8(zeros[i],
                                                   exists ? there[i] : static_cast<__mmask16>(0),
                                                   from + (exists ? r * step : 0) + 16 * i);
      }
      add(i, v);
    }
  }
  INTARSIA_UNROLL
  for (int i = 0; i < N; ++i) {
    const ptrdiff_t lane = first + 16 * i;
    std::memcpy(job.terms.sums + lane, &sums[i], sizeof sums[i]);
    const __m128i zero = zeros[i] ^ _mm_set1_epi8(static_cast<char>(x.flip));
    _mm512_storeu_si512(job.terms.zeros + lane, _mm512_maskz_cvtepi8_epi32(0xffff, zero));
  }
}

template <Isa I>
void pack_byte_rows(const TypedPack<ByteQuad>& job) {
  ptrdiff_t first = 0;  // two panels: a cache line of each row
  for (; first + 32 < job.lanes; first += 64) pack_quad_rows<I, 4>(job, first);
  if (first < job.lanes) pack_quad_rows<I, 2>(job, first);
}
#endif

}  // namespace intarsia::cpu
