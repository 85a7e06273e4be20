// SPDX-License-Identifier: Apache-2.0
//
// Vectors of four floats, or twice four, whose fours are rows of a matrix that are turned in
// registers: for products whose extents are too small for vectors along them.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/common/unrolled.h"

namespace intarsia::cpu {

typedef float Four __attribute__((vector_size(16)));   // NOLINT(modernize-use-using)
typedef float Eight __attribute__((vector_size(32)));  // NOLINT(modernize-use-using)

/// Rows that V has fours of: an Eight has those of the first four in its lower half.
template <class V>
constexpr int kFourRows = sizeof(V) / sizeof(float);

/// Exchanges rows and columns of each four.
inline void turn(Four (&v)[4]) {
  const Four ab_low = __builtin_shufflevector(v[0], v[1], 0, 4, 1, 5);
  const Four ab_high = __builtin_shufflevector(v[0], v[1], 2, 6, 3, 7);
  const Four cd_low = __builtin_shufflevector(v[2], v[3], 0, 4, 1, 5);
  const Four cd_high = __builtin_shufflevector(v[2], v[3], 2, 6, 3, 7);
  v[0] = __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5);
  v[1] = __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7);
  v[2] = __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
  v[3] = __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
}
inline void turn(Eight (&v)[4]) {
  const Eight ab_low = __builtin_shufflevector(v[0], v[1], 0, 8, 1, 9, 4, 12, 5, 13);
  const Eight ab_high = __builtin_shufflevector(v[0], v[1], 2, 10, 3, 11, 6, 14, 7, 15);
  const Eight cd_low = __builtin_shufflevector(v[2], v[3], 0, 8, 1, 9, 4, 12, 5, 13);
  const Eight cd_high = __builtin_shufflevector(v[2], v[3], 2, 10, 3, 11, 6, 14, 7, 15);
  v[0] = __builtin_shufflevector(ab_low, cd_low, 0, 1, 8, 9, 4, 5, 12, 13);
  v[1] = __builtin_shufflevector(ab_low, cd_low, 2, 3, 10, 11, 6, 7, 14, 15);
  v[2] = __builtin_shufflevector(ab_high, cd_high, 0, 1, 8, 9, 4, 5, 12, 13);
  v[3] = __builtin_shufflevector(ab_high, cd_high, 2, 3, 10, 11, 6, 7, 14, 15);
}

inline void join(const Four& low, const Four&, Four& v) {
  v = low;
}
inline void join(const Four& low, const Four& high, Eight& v) {
  v = __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
}
inline void part(const Four& v, int, Four& four) {
  four = v;
}
inline void part(const Eight& v, int half, Four& four) {
  four = half == 0 ? __builtin_shufflevector(v, v, 0, 1, 2, 3)
                   : __builtin_shufflevector(v, v, 4, 5, 6, 7);
}

/// The fours at the begin of as many rows as V has of them.
template <class V>
inline void load_fours(const float* p, int64_t pitch, V (&v)[4]) {
  INTARSIA_UNROLLED
  for (int r = 0; r < 4; ++r) {
    Four low, high{};
    std::memcpy(&low, p + r * pitch, sizeof low);
    if (kFourRows<V> == 8) std::memcpy(&high, p + (r + 4) * pitch, sizeof high);
    join(low, high, v[r]);
  }
}

/// Calls loop(std::type_identity<V>()), compiled for `isa`, V a Four or an Eight. AVX-512 gains
/// nothing.
template <class Loop>
void on_fours([[maybe_unused]] Isa isa, const Loop& loop) {
#if INTARSIA_WITH_AVX2
  const Isa vectors = vector_isa(isa);
  if (vectors == Isa::kAvx2 || vectors == Isa::kAvx512) {
    return on_avx2([&] { loop(std::type_identity<Eight>()); });
  }
#endif
  loop(std::type_identity<Four>());
}

}  // namespace intarsia::cpu
