// SPDX-License-Identifier: Apache-2.0
//
// `IsaVector<I>`: a vector of floats of instruction set I, which micro-kernels and vector math are
// templates over. Only the translation units of I, compiled with its flags, may name it: so no
// other file can emit or use an instance of their code.
//
// Arithmetic and comparisons are those of the language; bits and lanes go through the members
// below, since a vector of one float is a plain float, which keeps it in a floating-point register.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernels_cpu/gemm/isa.h"

#if defined(__AVX2__)
#include <immintrin.h>
#elif defined(__SSE2__)
#include <emmintrin.h>
#endif

#if defined(__SSE2__) || defined(__ARM_NEON)
#define INTARSIA_HAS_VECTORS 1
#else
#define INTARSIA_HAS_VECTORS 0
#endif

#define INTARSIA_INLINE [[gnu::always_inline]] inline

namespace intarsia::cpu {

/// 1.5 * 2^23: adding it to a float leaves the nearest integer in the bits.
inline constexpr float kIntegerAnchor = 12582912.0f;

/// A vector of Width floats, as the compilers of GCC's family lower it to instruction set S.
template <Isa S, int Width>
struct VectorOf {
  static constexpr int kWidth = Width;
  static constexpr bool kMasked = false;  ///< Parts cost as little as whole vectors.
  typedef float F __attribute__((vector_size(4 * Width)));    // NOLINT(modernize-use-using)
  typedef int32_t I __attribute__((vector_size(4 * Width)));  // NOLINT(modernize-use-using)

  /// Unaligned.
  INTARSIA_INLINE static F load(const float* p) {
    F v;
    std::memcpy(&v, p, sizeof v);
    return v;
  }
  INTARSIA_INLINE static void store(float* p, F v) { std::memcpy(p, &v, sizeof v); }

  /// The first n elements, n <= 0: none; the rest reads as 0. Not inlined: in a tile these are the
  /// rare case, and would be most of its code.
  [[gnu::noinline]] static F load_part(const float* p, int n) {
    float lanes[kWidth] = {};
    for (int i = 0; i < n && i < kWidth; ++i) lanes[i] = p[i];
    return load(lanes);
  }
  [[gnu::noinline]] static void store_part(float* p, F v, int n) {
    float lanes[kWidth];
    store(lanes, v);
    for (int i = 0; i < n && i < kWidth; ++i) p[i] = lanes[i];
  }

  /// Which of consecutive floats the lanes of a vector hold where each is repeated.
  struct Spread {
    I index;
    int count;  ///< Of the floats.
  };
  /// Lane i holds float (first + i) / repeat; those from `lanes` on, what the last before them
  /// does.
  INTARSIA_INLINE static Spread spread(ptrdiff_t first, ptrdiff_t repeat, int lanes) {
    Spread s{};
    for (int i = 0; i < kWidth; ++i) {
      s.index[i] = static_cast<int32_t>((first + (i < lanes ? i : lanes - 1)) / repeat);
    }
    s.count = s.index[kWidth - 1] + 1;
    return s;
  }
  INTARSIA_INLINE static F load_spread(const float* p, const Spread& s) {
    float lanes[kWidth];
    for (int i = 0; i < kWidth; ++i) lanes[i] = p[s.index[i]];
    return load(lanes);
  }

  template <class V>  // GCC takes F for a float until the template is instantiated.
  INTARSIA_INLINE static float lane(V v, int i) {
    return v[i];
  }
  INTARSIA_INLINE static I bits(F v) { return __builtin_bit_cast(I, v); }
  INTARSIA_INLINE static F from_bits(I v) { return __builtin_bit_cast(F, v); }

  /// v * 2^n for whole numbers n of [-150, 130], as the product with two powers of two: n may reach
  /// beyond the exponents of normal numbers.
  INTARSIA_INLINE static F scale(F v, F n) {
    const I integer = bits(n + kIntegerAnchor) - bits(F{} + kIntegerAnchor);
    const I lower = integer >> 1;
    return v * from_bits((lower + 127) << 23) * from_bits((integer - lower + 127) << 23);
  }
  /// a / b, perhaps off by two units in the last place; b of [0.5, 1024].
  INTARSIA_INLINE static F ratio(F a, F b) { return a / b; }

  /// The larger and the smaller of x and a limit that is a number; NaN remains.
  INTARSIA_INLINE static F max(F x, F limit) { return x < limit ? limit : x; }
  INTARSIA_INLINE static F min(F x, F limit) { return x > limit ? limit : x; }

  INTARSIA_INLINE static F sqrt(F v) {
    float lanes[kWidth];
    store(lanes, v);
    for (float& lane : lanes) lane = __builtin_sqrtf(lane);
    return load(lanes);
  }

  /// Makes the compiler hold v in a register, where it would otherwise load it again for each use.
  INTARSIA_INLINE static void keep(F&) {}
};

template <Isa S>
struct VectorOf<S, 1> {
  static constexpr int kWidth = 1;
  static constexpr bool kMasked = false;
  using F = float;
  using I = int32_t;
  INTARSIA_INLINE static F load(const float* p) { return *p; }
  INTARSIA_INLINE static void store(float* p, F v) { *p = v; }
  INTARSIA_INLINE static F load_part(const float* p, int n) { return n > 0 ? *p : 0; }
  INTARSIA_INLINE static void store_part(float* p, F v, int n) {
    if (n > 0) *p = v;
  }
  struct Spread {};
  INTARSIA_INLINE static Spread spread(ptrdiff_t, ptrdiff_t, int) { return {}; }
  INTARSIA_INLINE static F load_spread(const float* p, const Spread&) { return *p; }
  INTARSIA_INLINE static float lane(F v, int) { return v; }
  INTARSIA_INLINE static I bits(F v) { return __builtin_bit_cast(I, v); }
  INTARSIA_INLINE static F from_bits(I v) { return __builtin_bit_cast(F, v); }
  INTARSIA_INLINE static F scale(F v, F n) {
    const int32_t integer = bits(n + kIntegerAnchor) - bits(kIntegerAnchor);
    const int32_t lower = integer >> 1;
    return v * from_bits((lower + 127) << 23) * from_bits((integer - lower + 127) << 23);
  }
  INTARSIA_INLINE static F ratio(F a, F b) { return a / b; }
  INTARSIA_INLINE static F max(F x, F limit) { return x < limit ? limit : x; }
  INTARSIA_INLINE static F min(F x, F limit) { return x > limit ? limit : x; }
  INTARSIA_INLINE static F sqrt(F v) { return __builtin_sqrtf(v); }
  INTARSIA_INLINE static void keep(F&) {}
};

/// 128-bit vectors; on processors without any, where longer ones would only make longer code, one
/// float.
inline constexpr int kPortableWidth = INTARSIA_HAS_VECTORS ? 4 : 1;
template <Isa S>
struct IsaVector : VectorOf<S, kPortableWidth> {};

#if defined(__AVX2__)
// Masked loads are fast everywhere, masked stores are microcoded on some processors.
template <>
struct IsaVector<Isa::kAvx2> : VectorOf<Isa::kAvx2, 8> {
  INTARSIA_INLINE static F load_part(const float* p, int n) {
    const I lane = {0, 1, 2, 3, 4, 5, 6, 7};
    return (F)_mm256_maskload_ps(p, (__m256i)(lane < n));
  }
  INTARSIA_INLINE static F load_spread(const float* p, const Spread& s) {
    return (F)_mm256_permutevar8x32_ps((__m256)load_part(p, s.count), (__m256i)s.index);
  }
  // As comparison and choice these would be two instructions each.
  INTARSIA_INLINE static F max(F x, F limit) { return (F)_mm256_max_ps((__m256)limit, (__m256)x); }
  INTARSIA_INLINE static F min(F x, F limit) { return (F)_mm256_min_ps((__m256)limit, (__m256)x); }
  INTARSIA_INLINE static F sqrt(F v) { return (F)_mm256_sqrt_ps((__m256)v); }
  INTARSIA_INLINE static void keep(F& v) { __asm__("" : "+x"(v)); }
};
#endif

#if defined(__AVX512F__)
template <>
struct IsaVector<Isa::kAvx512> : VectorOf<Isa::kAvx512, 16> {
  static constexpr bool kMasked = true;
  INTARSIA_INLINE static __mmask16 mask(int n) {
    return n >= kWidth ? 0xffff : n <= 0 ? 0 : static_cast<__mmask16>((1u << n) - 1);
  }
  INTARSIA_INLINE static F load_part(const float* p, int n) {
    return (F)_mm512_maskz_loadu_ps(mask(n), p);
  }
  INTARSIA_INLINE static void store_part(float* p, F v, int n) {
    _mm512_mask_storeu_ps(p, mask(n), (__m512)v);
  }
  // The forms without a mask make GCC warn of its own header.
  INTARSIA_INLINE static F load_spread(const float* p, const Spread& s) {
    return (F)_mm512_maskz_permutexvar_ps(mask(kWidth), (__m512i)s.index,
                                          (__m512)load_part(p, s.count));
  }
  INTARSIA_INLINE static F scale(F v, F n) {
    return (F)_mm512_maskz_scalef_ps(mask(kWidth), (__m512)v, (__m512)n);
  }
  INTARSIA_INLINE static F ratio(F a, F b) {
    const F near = (F)_mm512_maskz_rcp14_ps(mask(kWidth), (__m512)b);
    return a * (near + near * (1.0f - b * near));
  }
  INTARSIA_INLINE static F max(F x, F limit) {
    return (F)_mm512_maskz_max_ps(mask(kWidth), (__m512)limit, (__m512)x);
  }
  INTARSIA_INLINE static F min(F x, F limit) {
    return (F)_mm512_maskz_min_ps(mask(kWidth), (__m512)limit, (__m512)x);
  }
  INTARSIA_INLINE static F sqrt(F v) { return (F)_mm512_maskz_sqrt_ps(mask(kWidth), (__m512)v); }
  INTARSIA_INLINE static void keep(F& v) { __asm__("" : "+v"(v)); }
};
#endif

#if defined(__ARM_NEON) && defined(__aarch64__)
template <>
struct IsaVector<Isa::kNeon> : VectorOf<Isa::kNeon, 4> {
  INTARSIA_INLINE static void keep(F& v) { __asm__("" : "+w"(v)); }
};
#endif

}  // namespace intarsia::cpu
