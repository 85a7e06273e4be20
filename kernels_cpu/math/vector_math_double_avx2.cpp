// SPDX-License-Identifier: Apache-2.0
//
// VectorMathDouble for AVX2 and FMA; compiled with the flags of that instruction set.
#include "kernels_cpu/gemm/isa.h"

#if INTARSIA_WITH_AVX2

#include "kernels_cpu/math/vector_math_double_functions.h"

namespace intarsia::cpu {
template struct VectorMathDouble<Isa::kAvx2>;
}  // namespace intarsia::cpu

#endif  // INTARSIA_WITH_AVX2
