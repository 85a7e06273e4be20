// SPDX-License-Identifier: Apache-2.0
//
// VectorMathDouble for AArch64; compiled with fused multiply-adds allowed.
#include "kernels_cpu/gemm/isa.h"

#if INTARSIA_WITH_NEON

#include "kernels_cpu/math/vector_math_double_functions.h"

namespace intarsia::cpu {
template struct VectorMathDouble<Isa::kNeon>;
}  // namespace intarsia::cpu

#endif  // INTARSIA_WITH_NEON
