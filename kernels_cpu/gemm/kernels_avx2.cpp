// SPDX-License-Identifier: Apache-2.0
//
// Micro-kernels for AVX2 and FMA. Compiled with the flags of that instruction set; everything but
// the table has internal linkage. The main tile is 6 x 16: 12 accumulators, 2 of B, 1 of A.
#include "kernels_cpu/gemm/isa.h"

#if INTARSIA_WITH_AVX2

#include <cstring>

#include "kernels_cpu/gemm/depthwise_tile.h"

namespace intarsia::cpu {
namespace {

struct Vec {
  static constexpr int kWidth = 8;
  using F = float __attribute__((vector_size(32)));
  using I = int32_t __attribute__((vector_size(32)));

  INTARSIA_INLINE static F load(const float* p) {
    F v;
    std::memcpy(&v, p, sizeof v);
    return v;
  }
  INTARSIA_INLINE static void keep(F& v) { __asm__("" : "+x"(v)); }
  INTARSIA_INLINE static void store(float* p, F v) { std::memcpy(p, &v, sizeof v); }
  // Element by element: masked stores are microcoded on some processors.
  INTARSIA_INLINE static F load_part(const float* p, int n) {
    if (n >= kWidth) return load(p);
    alignas(32) float lanes[kWidth] = {};
    for (int i = 0; i < n; ++i) lanes[i] = p[i];
    return load(lanes);
  }
  INTARSIA_INLINE static void store_part(float* p, F v, int n) {
    if (n >= kWidth) return store(p, v);
    alignas(32) float lanes[kWidth];
    store(lanes, v);
    for (int i = 0; i < n; ++i) p[i] = lanes[i];
  }
};

constexpr TileFamily kFamilies[] = {TileTable<Vec, 4, 1>::kFamily, TileTable<Vec, 2, 3>::kFamily,
                                    TileTable<Vec, 1, 6>::kFamily};

}  // namespace

const Microkernels kAvx2Microkernels = {6, 3, kFamilies, &depthwise<Vec>, &activate_rows<Vec>};

}  // namespace intarsia::cpu

#endif  // INTARSIA_WITH_AVX2
