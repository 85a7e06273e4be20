// SPDX-License-Identifier: Apache-2.0
#include "kernels_cpu/gemm/byte_codes.h"

#include "kernels_cpu/gemm/even_block.h"
#include "kernels_cpu/quantization/requantize.h"

namespace intarsia::cpu {
namespace {

/// By compilers' vectors of 128 bits, a panel at a time.
template <class Y>
void store_panels(const ByteSums& sums, const ByteCodes& codes) {
  for (ptrdiff_t panel = 0; panel < sums.panels; ++panel) {
    const ptrdiff_t column = (sums.panel + panel) * kPanel;
    const auto count = static_cast<size_t>(min(codes.columns - column, kPanel));
    const auto* from = reinterpret_cast<const int32_t*>(sums.sums) + panel * kPanel;
    uint8_t* to = codes.y + sums.row * codes.y_pitch + column;
    for (ptrdiff_t row = 0; row < sums.rows; ++row, from += sums.pitch, to += codes.y_pitch) {
      Y all[kPanel];
      requantize(from, codes.scale + column, codes.bias + column, kPanel,
                 static_cast<float>(codes.zero), all);
      std::memcpy(to, all, count);
    }
  }
}

}  // namespace

void store_codes(const ByteSums& sums, const ByteCodes& codes, Isa isa) {
  pick_isa(isa, [&](auto i) {
    if constexpr (has_code_tiles(i)) {
      CodeTiles<i>::store(sums, codes);
    } else if (codes.is_signed) {
      store_panels<int8_t>(sums, codes);
    } else {
      store_panels<uint8_t>(sums, codes);
    }
  });
}

}  // namespace intarsia::cpu
