// SPDX-License-Identifier: Apache-2.0
//
// VectorMath for AVX-512; compiled with the flags of that instruction set.
#include "kernels_cpu/gemm/isa.h"

#if INTARSIA_WITH_AVX512

#include "kernels_cpu/math/byte_table_functions.h"
#include "kernels_cpu/math/vector_math_functions.h"

namespace intarsia::cpu {
template struct VectorMath<Isa::kAvx512>;
template struct ByteTable<Isa::kAvx512>;
}  // namespace intarsia::cpu

#endif  // INTARSIA_WITH_AVX512
