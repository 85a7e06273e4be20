// SPDX-License-Identifier: Apache-2.0
//
// Products of types other than float32 for AVX2 and FMA. Compiled with the flags of that
// instruction set. The main tile has 6 rows of 64 bytes: 12 accumulators, 2 of B, 1 of A.
#include "kernels_cpu/gemm/isa.h"

#if INTARSIA_WITH_AVX2

#include "kernels_cpu/gemm/byte_codes_tile.h"
#include "kernels_cpu/gemm/byte_panels_tile.h"
#include "kernels_cpu/gemm/depthwise_bytes_tile.h"
#include "kernels_cpu/gemm/thin_bytes_tile.h"
#include "kernels_cpu/gemm/typed_tile.h"

namespace intarsia::cpu {

template <>
struct TypedExtents<Isa::kAvx2> {
  static constexpr int kVectors = 2, kRows = 6, kPairRows = 0, kWidePanels = 2;
};

template struct TypedKernels<Isa::kAvx2, double>;
template struct TypedKernels<Isa::kAvx2, uint32_t>;
template struct TypedKernels<Isa::kAvx2, uint64_t>;
template struct TypedKernels<Isa::kAvx2, Float16>;
template struct TypedKernels<Isa::kAvx2, BFloat16>;
template struct TypedKernels<Isa::kAvx2, Int16Pair>;
template struct BytePanels<Isa::kAvx2, Int16Pair>;
template struct ThinByteTiles<Isa::kAvx2, Int16Pair>;
template struct DepthwiseByteTiles<Isa::kAvx2, Int16Pair>;
template struct CodeTiles<Isa::kAvx2>;

}  // namespace intarsia::cpu

#endif  // INTARSIA_WITH_AVX2
