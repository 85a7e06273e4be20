// SPDX-License-Identifier: Apache-2.0
//
// VectorMathDouble for any processor.
#include "kernels_cpu/math/vector_math_double_functions.h"

namespace intarsia::cpu {
template struct VectorMathDouble<Isa::kPortable>;
}  // namespace intarsia::cpu
