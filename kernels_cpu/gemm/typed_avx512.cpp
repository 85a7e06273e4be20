// SPDX-License-Identifier: Apache-2.0
//
// Products of types other than float32 for AVX-512 (F, BW, CD, DQ, VL). Compiled with the flags of
// that instruction set; quads of bytes need VNNI, too. The main tile has 6 rows of 256 bytes: 24
// accumulators, 4 of B, 1 of A; of a single panel 12 rows.
#include "kernels_cpu/gemm/isa.h"

#if INTARSIA_WITH_AVX512

#include "kernels_cpu/gemm/byte_codes_tile.h"
#include "kernels_cpu/gemm/byte_panels_amx.h"
#include "kernels_cpu/gemm/byte_panels_tile.h"
#include "kernels_cpu/gemm/depthwise_bytes_tile.h"
#include "kernels_cpu/gemm/thin_bytes_tile.h"
#include "kernels_cpu/gemm/typed_amx.h"
#include "kernels_cpu/gemm/typed_tile.h"

namespace intarsia::cpu {

template <>
struct TypedExtents<Isa::kAvx512> {
  static constexpr int kVectors = 2, kRows = 12, kPairRows = 6, kWidePanels = 4;
};

template struct TypedKernels<Isa::kAvx512, double>;
template struct TypedKernels<Isa::kAvx512, uint32_t>;
template struct TypedKernels<Isa::kAvx512, uint64_t>;
template struct TypedKernels<Isa::kAvx512, Float16>;
template struct TypedKernels<Isa::kAvx512, BFloat16>;
template struct TypedKernels<Isa::kAvx512, Int16Pair>;
template struct TypedKernels<Isa::kAvx512, ByteQuad>;  // called for kAvx512Vnni alone
void multiply_on_amx(const QuadBlock& block) {
  QuadBlocks<Isa::kAmx>::multiply(block);
}
template struct BytePanels<Isa::kAvx512, Int16Pair>;
template struct BytePanels<Isa::kAvx512, ByteQuad>;
template struct BytePanels<Isa::kAmx, ByteQuad>;
template struct ThinByteTiles<Isa::kAvx512, Int16Pair>;
template struct ThinByteTiles<Isa::kAvx512, ByteQuad>;
template struct DepthwiseByteTiles<Isa::kAvx512, Int16Pair>;
template struct DepthwiseByteTiles<Isa::kAvx512, ByteQuad>;
template struct CodeTiles<Isa::kAvx512>;

}  // namespace intarsia::cpu

#endif  // INTARSIA_WITH_AVX512
