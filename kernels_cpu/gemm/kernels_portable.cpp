// SPDX-License-Identifier: Apache-2.0
//
// Micro-kernels for any processor: 128-bit vectors of the compiler, which lowers them to SSE2 or
// scalar code. Tiles fit 16 registers.
#include "kernels_cpu/gemm/depthwise_tile.h"

namespace intarsia::cpu {

using Vec = IsaVector<Isa::kPortable>;

template <>
struct IsaTiles<Isa::kPortable> : TileTables<TileTable<Vec, 2, 1>, TileTable<Vec, 1, 3>> {};

template struct Microkernels<Isa::kPortable>;

}  // namespace intarsia::cpu
