// SPDX-License-Identifier: Apache-2.0
//
// Elements of a storage type as vectors of what they are computed in: conversion, and 4 x 4
// transposition in registers. Formulas of the conversions: intarsia/types.h.
//
// Included by typed_tile.h only, which says who may include that. Vectors go by reference: by value
// those of 32 bytes would have another calling convention on each instruction set.
#pragma once

#include <cstring>

#include "kernels_cpu/gemm/typed_kernels.h"
#include "kernels_cpu/gemm/vector.h"

namespace intarsia::cpu {

/// What a step of a tile finds in A: [k][rows], zero points taken off.
struct InterleavedRows {
  static constexpr ptrdiff_t kRowPitch = 1;  ///< 0: the tile's a_pitch.
  static constexpr bool kKeepsZeroPoints = false;
};

/// N numbers of type V.
template <class V, int N>
struct VectorOfType {
  typedef V Type __attribute__((vector_size(N * sizeof(V))));  // NOLINT(modernize-use-using)
};

/// Vectors of V as long as those of instruction set I; 16 bytes where it has none, which the
/// compiler takes apart.
template <Isa I, class V>
struct TypedVector {
  static constexpr int kBytes = IsaVector<I>::kWidth == 1 ? 16 : 4 * IsaVector<I>::kWidth;
  static constexpr int kWidth = kBytes / sizeof(V);
  using X = typename VectorOfType<V, kWidth>::Type;
};

/// The extents of the tiles of instruction set I, in typed_<isa>.cpp: vectors of a panel and rows
/// of the main tile; panels of the wide one.
template <Isa I>
struct TypedExtents;

template <Isa I, class V>
constexpr int panel_width() {
  return TypedExtents<I>::kVectors * TypedVector<I, V>::kWidth;
}

/// N elements of S as a vector of what they are computed in.
template <class S, int N>
struct Lanes {
  using X = typename VectorOfType<S, N>::Type;
  INTARSIA_INLINE static void load(const S* p, X& v) { std::memcpy(&v, p, sizeof v); }
  INTARSIA_INLINE static void store(S* p, const X& v) { std::memcpy(p, &v, sizeof v); }
};

template <int N>
struct HalfLanes {
  using X = typename VectorOfType<float, N>::Type;
  using Bits = typename VectorOfType<uint32_t, N>::Type;
  using Halves = typename VectorOfType<uint16_t, N>::Type;
  INTARSIA_INLINE static void load_bits(const void* p, Bits& bits) {
    Halves halves;
    std::memcpy(&halves, p, sizeof halves);
    bits = __builtin_convertvector(halves, Bits);
  }
  INTARSIA_INLINE static void store_bits(void* p, const Bits& bits) {
    const Halves halves = __builtin_convertvector(bits, Halves);
    std::memcpy(p, &halves, sizeof halves);
  }
};

template <int N>
struct Lanes<BFloat16, N> : HalfLanes<N> {
  using typename HalfLanes<N>::X, typename HalfLanes<N>::Bits;
  INTARSIA_INLINE static void load(const BFloat16* p, X& v) {
    Bits bits;
    HalfLanes<N>::load_bits(p, bits);
    bits <<= 16;
    std::memcpy(&v, &bits, sizeof v);
  }
  INTARSIA_INLINE static void store(BFloat16* p, const X& v) {
    Bits bits;
    std::memcpy(&bits, &v, sizeof bits);
    const Bits rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
    const Bits nan = (bits >> 16) | 0x40u;
    HalfLanes<N>::store_bits(p, (bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded);
  }
};

template <int N>
struct Lanes<Float16, N> : HalfLanes<N> {
  using typename HalfLanes<N>::X, typename HalfLanes<N>::Bits;
#if defined(__F16C__)
  INTARSIA_INLINE static void load(const Float16* p, X& v) {
    if constexpr (N == 4) {
      v = (X)_mm_cvtph_ps(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(p)));
    } else if constexpr (N == 8) {
      v = (X)_mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    } else {
#if defined(__AVX512F__)
      // Masked: of the plain one GCC warns that it uses an undefined vector.
      v = (X)_mm512_maskz_cvtph_ps(0xffff, _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
#endif
    }
  }
  INTARSIA_INLINE static void store(Float16* p, const X& v) {
    constexpr int kNearest = _MM_FROUND_TO_NEAREST_INT;
    if constexpr (N == 4) {
      _mm_storel_epi64(reinterpret_cast<__m128i*>(p), _mm_cvtps_ph((__m128)v, kNearest));
    } else if constexpr (N == 8) {
      _mm_storeu_si128(reinterpret_cast<__m128i*>(p), _mm256_cvtps_ph((__m256)v, kNearest));
    } else {
#if defined(__AVX512F__)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(p),
                          _mm512_maskz_cvtps_ph(0xffff, (__m512)v, kNearest));
#endif
    }
  }
#else
  INTARSIA_INLINE static void load(const Float16* p, X& v) {
    Bits word;
    HalfLanes<N>::load_bits(p, word);
    const Bits magnitude = word & 0x7fffu;
    const X small = __builtin_convertvector(magnitude, X) * 0x1p-24f;
    Bits subnormal;
    std::memcpy(&subnormal, &small, sizeof subnormal);
    const Bits finite = magnitude < 0x400u ? subnormal : (magnitude << 13) + 0x38000000u;
    const Bits number = magnitude < 0x7c00u ? finite : (magnitude << 13) | 0x7f800000u;
    const Bits bits = number | ((word & 0x8000u) << 16);
    std::memcpy(&v, &bits, sizeof v);
  }
  INTARSIA_INLINE static void store(Float16* p, const X& v) {
    Bits word;
    std::memcpy(&word, &v, sizeof word);
    const Bits magnitude = word & 0x7fffffffu;
    const Bits rebiased = magnitude - 0x38000000u;
    const Bits normal = (rebiased + 0xfffu + ((rebiased >> 13) & 1u)) >> 13;
    X shifted;
    std::memcpy(&shifted, &magnitude, sizeof shifted);
    shifted += 0.5f;
    Bits subnormal;
    std::memcpy(&subnormal, &shifted, sizeof subnormal);
    subnormal -= 0x3f000000u;
    const Bits finite = magnitude >= 0x38800000u ? normal : subnormal;
    const Bits infinite = finite * 0 + 0x7c00u;
    const Bits number = magnitude >= 0x47800000u ? infinite : finite;
    const Bits nan = 0x7e00u | ((magnitude >> 13) & 0x1ffu);
    const Bits sign = (word >> 16) & 0x8000u;
    HalfLanes<N>::store_bits(p, (magnitude > 0x7f800000u ? nan : number) | sign);
  }
#endif
};

template <class S>
using QuadIo = Lanes<S, 4>;
template <class S>
using Quad = typename Lanes<S, 4>::X;

/// The first n of four elements, the rest zero.
template <class S>
INTARSIA_INLINE void load_some(const S* p, ptrdiff_t n, Quad<S>& v) {
  if (n >= 4) {
    QuadIo<S>::load(p, v);
    return;
  }
  alignas(4 * sizeof(S)) unsigned char some[4 * sizeof(S)] = {};
  for (ptrdiff_t i = 0; i < n; ++i) std::memcpy(some + i * sizeof(S), p + i, sizeof(S));
  QuadIo<S>::load(reinterpret_cast<const S*>(some), v);
}
template <class S>
INTARSIA_INLINE void store_some(S* p, const Quad<S>& v, ptrdiff_t n) {
  if (n >= 4) {
    QuadIo<S>::store(p, v);
    return;
  }
  alignas(4 * sizeof(S)) unsigned char some[4 * sizeof(S)];
  QuadIo<S>::store(reinterpret_cast<S*>(some), v);
  for (ptrdiff_t i = 0; i < n; ++i)
    std::memcpy(static_cast<void*>(p + i), some + i * sizeof(S), sizeof(S));
}

/// Exchanges rows and columns.
template <class Q>
INTARSIA_INLINE void transpose(Q (&v)[4]) {
  const Q ab_low = __builtin_shufflevector(v[0], v[1], 0, 4, 2, 6);
  const Q ab_high = __builtin_shufflevector(v[0], v[1], 1, 5, 3, 7);
  const Q cd_low = __builtin_shufflevector(v[2], v[3], 0, 4, 2, 6);
  const Q cd_high = __builtin_shufflevector(v[2], v[3], 1, 5, 3, 7);
  v[0] = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
  v[1] = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
  v[2] = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
  v[3] = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
}

}  // namespace intarsia::cpu
