// SPDX-License-Identifier: Apache-2.0
#include "kernels_cpu/gemm/thin_bytes.h"

namespace intarsia::cpu {
namespace {

/// C -= the sum of each row of A * the zero points of B.
void take_zeros(const ThinBytes& t) {
  const auto zero = [&](ptrdiff_t column) -> int {
    return static_cast<int8_t>(t.b.zeros[column * t.b.zero_step] ^ t.b.flip ^ 0x80);
  };
  if (t.b.zero_step == 0 && zero(0) == 0) return;
  for (ptrdiff_t r = 0; r < t.rows; ++r) {
    const ByteFactor a = t.a.at(r, 0);
    uint32_t sum = 0;
    for (ptrdiff_t k = 0; k < a.k; ++k) sum += static_cast<uint8_t>(a.data[k] ^ a.flip);
    sum -= static_cast<uint32_t>(a.k) * static_cast<uint8_t>(*a.zeros ^ a.flip);
    uint32_t* c = t.c + r * t.c_pitch;
    for (ptrdiff_t j = 0; j < t.columns; ++j) c[j] -= sum * static_cast<uint32_t>(zero(j));
  }
}

}  // namespace

void multiply_thin_bytes(const ThinBytes& product, Isa isa) {
  pick_groups(isa, [&]<class S>(S) {
    if constexpr (kQuads<S>) {
      ThinByteTiles<Isa::kAvx512, S>::multiply(product);
    } else {
      pick_isa(isa, [&](auto i) { ThinByteTiles<decltype(i)::value, S>::multiply(product); });
    }
  });
  take_zeros(product);
}

}  // namespace intarsia::cpu
