// SPDX-License-Identifier: Apache-2.0
//
// Micro-kernels for AArch64, whose base instruction set has vectors and fused multiply-adds: the
// file is compiled with the latter allowed. The main tile is 6 x 16: 24 accumulators of 32
// registers.
#include "kernels_cpu/gemm/isa.h"

#if INTARSIA_WITH_NEON

#include "kernels_cpu/gemm/depthwise_tile.h"
#include "kernels_cpu/gemm/planes_tile.h"
#include "kernels_cpu/gemm/winograd_tile.h"

namespace intarsia::cpu {

using Vec = IsaVector<Isa::kNeon>;

template <>
struct IsaTiles<Isa::kNeon> : TileTables<TileTable<Vec, 2, 2>, TileTable<Vec, 1, 6>> {};

template struct Microkernels<Isa::kNeon>;

}  // namespace intarsia::cpu

#endif  // INTARSIA_WITH_NEON
