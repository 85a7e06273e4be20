// SPDX-License-Identifier: Apache-2.0
//
// Micro-kernels for any processor: 128-bit vectors of the compiler, which lowers them to SSE2, NEON
// or scalar code. Tiles fit 16 vector registers; without vectors, 32 registers for one float each.
#include "kernels_cpu/gemm/depthwise_tile.h"

namespace intarsia::cpu {

using Vec = IsaVector<Isa::kPortable>;

#if defined(__SSE2__) || defined(__ARM_NEON)
template <>
struct IsaTiles<Isa::kPortable> : TileTables<TileTable<Vec, 2, 1>, TileTable<Vec, 1, 3>> {};
#else
template <>
struct IsaTiles<Isa::kPortable> : TileTables<TileTable<Vec, 1, 1>> {};
#endif

template struct Microkernels<Isa::kPortable>;

}  // namespace intarsia::cpu
