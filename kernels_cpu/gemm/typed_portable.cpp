// SPDX-License-Identifier: Apache-2.0
//
// Products of types other than float32 for any processor. The main tile has 3 rows of 64 bytes: 12
// of 16 registers.
#include "kernels_cpu/gemm/byte_panels_tile.h"
#include "kernels_cpu/gemm/depthwise_bytes_tile.h"
#include "kernels_cpu/gemm/thin_bytes_tile.h"
#include "kernels_cpu/gemm/typed_tile.h"

namespace intarsia::cpu {

template <>
struct TypedExtents<Isa::kPortable> {
  static constexpr int kVectors = 4, kRows = 3, kPairRows = 0, kWidePanels = 1;
};

template struct TypedKernels<Isa::kPortable, double>;
template struct TypedKernels<Isa::kPortable, uint32_t>;
template struct TypedKernels<Isa::kPortable, uint64_t>;
template struct TypedKernels<Isa::kPortable, Float16>;
template struct TypedKernels<Isa::kPortable, BFloat16>;
template struct TypedKernels<Isa::kPortable, Int16Pair>;
template struct BytePanels<Isa::kPortable, Int16Pair>;
template struct ThinByteTiles<Isa::kPortable, Int16Pair>;
template struct DepthwiseByteTiles<Isa::kPortable, Int16Pair>;

}  // namespace intarsia::cpu
