// SPDX-License-Identifier: Apache-2.0
//
// Micro-kernels for any processor: vectors of the compiler, which lowers them to SSE2, NEON or
// scalar code. Tiles fit 16 vector registers; without vectors, 32 registers for one float each.
#include "kernels_cpu/gemm/depthwise_tile.h"
#include "kernels_cpu/gemm/planes_tile.h"
#include "kernels_cpu/gemm/winograd_tile.h"

namespace intarsia::cpu {

using Vec = IsaVector<Isa::kPortable>;

template <int Width>
struct PortableTiles : TileTables<TileTable<Vec, 2, 1>, TileTable<Vec, 1, 3>> {};
template <>
struct PortableTiles<1> : TileTables<TileTable<Vec, 1, 1>> {};

template <>
struct IsaTiles<Isa::kPortable> : PortableTiles<kPortableWidth> {};

template struct Microkernels<Isa::kPortable>;

}  // namespace intarsia::cpu
