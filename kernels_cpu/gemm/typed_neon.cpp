// SPDX-License-Identifier: Apache-2.0
//
// Products of types other than float32 for AArch64; see kernels_neon.cpp. The main tile has 6 rows
// of 64 bytes: 24 accumulators of 32 registers.
#include "kernels_cpu/gemm/isa.h"

#if INTARSIA_WITH_NEON

#include "kernels_cpu/gemm/byte_panels_tile.h"
#include "kernels_cpu/gemm/depthwise_bytes_tile.h"
#include "kernels_cpu/gemm/thin_bytes_tile.h"
#include "kernels_cpu/gemm/typed_tile.h"

namespace intarsia::cpu {

template <>
struct TypedExtents<Isa::kNeon> {
  static constexpr int kVectors = 4, kRows = 6, kPairRows = 0, kWidePanels = 2;
};

template struct TypedKernels<Isa::kNeon, double>;
template struct TypedKernels<Isa::kNeon, uint32_t>;
template struct TypedKernels<Isa::kNeon, uint64_t>;
template struct TypedKernels<Isa::kNeon, Float16>;
template struct TypedKernels<Isa::kNeon, BFloat16>;
template struct TypedKernels<Isa::kNeon, Int16Pair>;
template struct BytePanels<Isa::kNeon, Int16Pair>;
template struct ThinByteTiles<Isa::kNeon, Int16Pair>;
template struct DepthwiseByteTiles<Isa::kNeon, Int16Pair>;

}  // namespace intarsia::cpu

#endif  // INTARSIA_WITH_NEON
