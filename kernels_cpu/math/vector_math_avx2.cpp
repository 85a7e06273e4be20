// SPDX-License-Identifier: Apache-2.0
//
// VectorMath for AVX2 and FMA; compiled with the flags of that instruction set.
#include "kernels_cpu/gemm/isa.h"

#if INTARSIA_WITH_AVX2

#include "kernels_cpu/math/vector_math_functions.h"

namespace intarsia::cpu {
template struct VectorMath<Isa::kAvx2>;
template struct VectorMathDouble<Isa::kAvx2>;
}  // namespace intarsia::cpu

#endif  // INTARSIA_WITH_AVX2
