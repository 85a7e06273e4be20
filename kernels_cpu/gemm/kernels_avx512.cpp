// SPDX-License-Identifier: Apache-2.0
//
// Micro-kernels for AVX-512 (F, BW, CD, DQ, VL). Compiled with the flags of that instruction set.
// The main tiles are 6 x 64 and 8 x 48: 24 accumulators of 32 registers.
#include "kernels_cpu/gemm/isa.h"

#if INTARSIA_WITH_AVX512

#include "kernels_cpu/gemm/depthwise_tile.h"
#include "kernels_cpu/gemm/planes_tile.h"
#include "kernels_cpu/gemm/winograd_tile.h"

namespace intarsia::cpu {

using Vec = IsaVector<Isa::kAvx512>;

template <>
struct IsaTiles<Isa::kAvx512>
    : TileTables<TileTable<Vec, 8, 3>, TileTable<Vec, 4, 6>, TileTable<Vec, 3, 8>,
                 TileTable<Vec, 2, 8>, TileTable<Vec, 1, 8>> {
  static constexpr int kMains = 4;
};

template struct Microkernels<Isa::kAvx512>;

}  // namespace intarsia::cpu

#endif  // INTARSIA_WITH_AVX512
