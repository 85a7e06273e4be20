// SPDX-License-Identifier: Apache-2.0
//
// VectorMath for any processor: 128-bit vectors, lowered to SSE2, NEON or scalar code.
#include "kernels_cpu/math/byte_table_functions.h"
#include "kernels_cpu/math/vector_math_functions.h"

namespace intarsia::cpu {
template struct VectorMath<Isa::kPortable>;
template struct ByteTable<Isa::kPortable>;
}  // namespace intarsia::cpu
