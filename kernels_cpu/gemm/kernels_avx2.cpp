// SPDX-License-Identifier: Apache-2.0
//
// Micro-kernels for AVX2 and FMA. Compiled with the flags of that instruction set.
// The main tile is 6 x 16: 12 accumulators, 2 of B, 1 of A.
#include "kernels_cpu/gemm/isa.h"

#if INTARSIA_WITH_AVX2

#include "kernels_cpu/gemm/depthwise_tile.h"
#include "kernels_cpu/gemm/planes_tile.h"
#include "kernels_cpu/gemm/winograd_tile.h"

namespace intarsia::cpu {

using Vec = IsaVector<Isa::kAvx2>;

template <>
struct IsaTiles<Isa::kAvx2>
    : TileTables<TileTable<Vec, 4, 1>, TileTable<Vec, 2, 3>, TileTable<Vec, 1, 6>> {};

template struct Microkernels<Isa::kAvx2>;

}  // namespace intarsia::cpu

#endif  // INTARSIA_WITH_AVX2
