// SPDX-License-Identifier: Apache-2.0
//
// Micro-kernels for AVX-512 (F, BW, CD, DQ, VL). Compiled with the flags of that instruction set;
// everything but the table has internal linkage. The main tile is 12 x 32: 24 accumulators; more
// rows would not fit the general registers, one of which holds the address of each row.
#include "kernels_cpu/gemm/isa.h"

#if INTARSIA_WITH_AVX512

#include <immintrin.h>

#include <cstring>

#include "kernels_cpu/gemm/depthwise_tile.h"

namespace intarsia::cpu {
namespace {

struct Vec {
  static constexpr int kWidth = 16;
  using F = float __attribute__((vector_size(64)));
  using I = int32_t __attribute__((vector_size(64)));

  INTARSIA_INLINE static __mmask16 mask(int n) {
    return n >= kWidth ? 0xffff : n <= 0 ? 0 : static_cast<__mmask16>((1u << n) - 1);
  }
  INTARSIA_INLINE static F load(const float* p) {
    F v;
    std::memcpy(&v, p, sizeof v);
    return v;
  }
  INTARSIA_INLINE static void keep(F& v) { __asm__("" : "+v"(v)); }
  INTARSIA_INLINE static void store(float* p, F v) { std::memcpy(p, &v, sizeof v); }
  INTARSIA_INLINE static F load_part(const float* p, int n) {
    return (F)_mm512_maskz_loadu_ps(mask(n), p);
  }
  INTARSIA_INLINE static void store_part(float* p, F v, int n) {
    _mm512_mask_storeu_ps(p, mask(n), (__m512)v);
  }
};

constexpr TileFamily kFamilies[] = {TileTable<Vec, 8, 3>::kFamily, TileTable<Vec, 4, 6>::kFamily,
                                    TileTable<Vec, 2, 12>::kFamily, TileTable<Vec, 1, 12>::kFamily};

}  // namespace

const Microkernels kAvx512Microkernels = {12, 4, kFamilies, &depthwise<Vec>, &activate_rows<Vec>};

}  // namespace intarsia::cpu

#endif  // INTARSIA_WITH_AVX512
