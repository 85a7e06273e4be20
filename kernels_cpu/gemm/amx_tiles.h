// SPDX-License-Identifier: Apache-2.0
//
// The instructions of AMX for bytes: two by two tiles of C, of 16 by 16 sums, are what two tiles of
// A and two of B, of 16 lines of 64 bytes, add to them.
//
// Included by sources of AVX-512 only. Nothing is compiled for AMX but its instructions, which
// change registers that compilers leave alone.
#pragma once

#include "kernels_cpu/gemm/byte_panels.h"
#include "kernels_cpu/gemm/gemm.h"
#include "kernels_cpu/gemm/vector.h"

namespace intarsia::cpu {

/// Registers of tiles: of C [2 x 2], of A [2], of B [2].
inline constexpr int kTileC = 0, kTileA = 4, kTileB = 6;

/// What tiles there are, as `ldtilecfg` reads it.
struct alignas(64) TileShapes {
  uint8_t palette = 1, start_row = 0, reserved[14] = {};
  uint16_t row_bytes[16] = {};
  uint8_t rows[16] = {};
};

template <Isa I>
struct AmxTiles;

template <>
struct AmxTiles<Isa::kAmx> {
  template <int T>
  INTARSIA_INLINE static void load(const void* from, ptrdiff_t pitch) {
    __asm__ volatile("tileloadd (%0,%1,1), %%tmm%c2" ::"r"(from), "r"(pitch), "i"(T) : "memory");
  }
  template <int T>
  INTARSIA_INLINE static void store(void* to, ptrdiff_t pitch) {
    __asm__ volatile("tilestored %%tmm%c2, (%0,%1,1)" ::"r"(to), "r"(pitch), "i"(T) : "memory");
  }
  template <int T>
  INTARSIA_INLINE static void clear() {
    __asm__ volatile("tilezero %%tmm%c0" ::"i"(T));
  }
  /// C += A * B, unsigned by signed bytes.
  template <int C, int A, int B>
  INTARSIA_INLINE static void add() {
    __asm__ volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(C), "i"(A), "i"(B));
  }
  /// All tiles are 0 then.
  static void configure(ptrdiff_t rows, ptrdiff_t quads) {
    TileShapes shapes;
    const auto shape = [&](int tile, ptrdiff_t height, ptrdiff_t words) {
      shapes.rows[tile] = static_cast<uint8_t>(height);
      shapes.row_bytes[tile] = static_cast<uint16_t>(4 * words);
    };
    for (int i = 0; i < 4; ++i) shape(kTileC + i, rows, kPanel);
    for (int i = 0; i < 2; ++i) shape(kTileA + i, rows, quads);
    for (int i = 0; i < 2; ++i) shape(kTileB + i, quads, kPanel);
    __asm__ volatile("ldtilecfg %0" ::"m"(shapes));
  }
  /// Threads without tiles have less to keep when they wait.
  static void release() { __asm__ volatile("tilerelease" ::: "memory"); }
};

}  // namespace intarsia::cpu
