// SPDX-License-Identifier: Apache-2.0
//
// Micro-kernels for any processor: 128-bit vectors of the compiler, which lowers them to SSE2, NEON
// or scalar code. Tiles fit 16 registers, and on AArch64 32.
#include <cstring>

#include "kernels_cpu/gemm/depthwise_tile.h"

namespace intarsia::cpu {
namespace {

struct Vec {
  static constexpr int kWidth = 4;
  using F = float __attribute__((vector_size(16)));
  using I = int32_t __attribute__((vector_size(16)));

  INTARSIA_INLINE static F load(const float* p) {
    F v;
    std::memcpy(&v, p, sizeof v);
    return v;
  }
  INTARSIA_INLINE static void keep(F&) {}
  INTARSIA_INLINE static void store(float* p, F v) { std::memcpy(p, &v, sizeof v); }
  INTARSIA_INLINE static F load_part(const float* p, int n) {
    if (n >= kWidth) return load(p);
    F v{};
    for (int i = 0; i < n; ++i) v[i] = p[i];
    return v;
  }
  INTARSIA_INLINE static void store_part(float* p, F v, int n) {
    if (n >= kWidth) return store(p, v);
    for (int i = 0; i < n; ++i) p[i] = v[i];
  }
};

#if defined(__aarch64__)
constexpr int kRows = 6;
constexpr int kWideRows = 2;
#else
constexpr int kRows = 3;
constexpr int kWideRows = 1;
#endif

constexpr TileFamily kFamilies[] = {TileTable<Vec, 2, kWideRows>::kFamily,
                                    TileTable<Vec, 1, kRows>::kFamily};

}  // namespace

const Microkernels kPortableMicrokernels = {kRows, 2, kFamilies, &depthwise<Vec>,
                                            &activate_rows<Vec>};

}  // namespace intarsia::cpu
