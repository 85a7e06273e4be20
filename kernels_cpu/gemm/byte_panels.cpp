// SPDX-License-Identifier: Apache-2.0
#include "kernels_cpu/gemm/byte_panels.h"

namespace intarsia::cpu {

namespace {

// Tiles of fewer rows would mostly wait for B.
[[maybe_unused]] constexpr ptrdiff_t kTiledRows = 5;

}  // namespace

void multiply_bytes(const ByteProduct& product, Isa isa) {
#if INTARSIA_WITH_AVX512
  if (product.rows >= kTiledRows && has_byte_tiles(product.runs, isa)) {
    return BytePanels<Isa::kAmx, ByteQuad>::multiply(product);
  }
#endif
  pick_groups(isa, [&]<class S>(S) {
    if constexpr (kQuads<S>) {
      BytePanels<Isa::kAvx512, S>::multiply(product);
    } else {
      pick_isa(isa, [&](auto i) { BytePanels<decltype(i)::value, S>::multiply(product); });
    }
  });
}

}  // namespace intarsia::cpu
