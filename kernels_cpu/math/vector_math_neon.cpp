// SPDX-License-Identifier: Apache-2.0
//
// VectorMath for AArch64; compiled with fused multiply-adds allowed.
#include "kernels_cpu/gemm/isa.h"

#if INTARSIA_WITH_NEON

#include "kernels_cpu/math/byte_table_functions.h"
#include "kernels_cpu/math/vector_math_functions.h"

namespace intarsia::cpu {
template struct VectorMath<Isa::kNeon>;
template struct ByteTable<Isa::kNeon>;
}  // namespace intarsia::cpu

#endif  // INTARSIA_WITH_NEON
