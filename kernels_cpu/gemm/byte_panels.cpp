// SPDX-License-Identifier: Apache-2.0
#include "kernels_cpu/gemm/byte_panels.h"

#include <algorithm>

namespace intarsia::cpu {

void pack_byte_panels(const uint8_t* b, int64_t k, int64_t n, uint8_t flip, const uint8_t* zeros,
                      uint32_t* packed) {
  const int64_t words = byte_panel_words(k);
  std::fill(packed, packed + panel_count(n) * words, 0u);
  for (int64_t column = 0; column < n; ++column) {
    uint32_t* terms = packed + column / kPanel * words + column % kPanel;
    auto* bytes = reinterpret_cast<uint8_t*>(terms + kByteTerms * kPanel);
    const auto number = [flip](uint8_t byte) -> int { return static_cast<int8_t>(byte ^ flip); };
    const int zero = number(zeros[column]);
    int64_t sum = 0;
    for (int64_t i = 0; i < k; ++i) {
      const int code = number(b[column * k + i]);
      bytes[i / 4 * 4 * kPanel + i % 4] = static_cast<uint8_t>(code);
      sum += code - zero;
    }
    terms[0] = static_cast<uint32_t>(sum);
    terms[kPanel] = static_cast<uint32_t>(zero);
  }
}

void multiply_bytes(const ByteProduct& product, Isa isa) {
  pick_groups(isa, [&]<class S>(S) {
    if constexpr (kQuads<S>) {
      BytePanels<Isa::kAvx512, S>::multiply(product);
    } else {
      pick_isa(isa, [&](auto i) { BytePanels<decltype(i)::value, S>::multiply(product); });
    }
  });
}

}  // namespace intarsia::cpu
