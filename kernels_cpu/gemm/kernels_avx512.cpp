// SPDX-License-Identifier: Apache-2.0
//
// Micro-kernels for AVX-512 (F, BW, CD, DQ, VL). Compiled with the flags of that instruction set.
// The main tile is 12 x 32: 24 accumulators; each row has an address, of which general registers
// hold nine.
#include "kernels_cpu/gemm/isa.h"

#if INTARSIA_WITH_AVX512

#include "kernels_cpu/gemm/depthwise_tile.h"
#include "kernels_cpu/gemm/planes_tile.h"
#include "kernels_cpu/gemm/winograd_tile.h"

namespace intarsia::cpu {

using Vec = IsaVector<Isa::kAvx512>;

template <>
struct IsaTiles<Isa::kAvx512> : TileTables<TileTable<Vec, 8, 3>, TileTable<Vec, 4, 5>,
                                           TileTable<Vec, 2, 12>, TileTable<Vec, 1, 12>> {};

template struct Microkernels<Isa::kAvx512>;

}  // namespace intarsia::cpu

#endif  // INTARSIA_WITH_AVX512
