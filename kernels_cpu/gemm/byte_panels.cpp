// SPDX-License-Identifier: Apache-2.0
#include "kernels_cpu/gemm/byte_panels.h"

namespace intarsia::cpu {

namespace {

/// Tiles of fewer rows would mostly wait for B, and to set them up takes as long as 600 quads of a
/// row and a panel.
[[maybe_unused]] bool is_tiled(const ByteProduct& p, Isa isa) {
  constexpr ptrdiff_t kRows = 5, kSetUp = 600;
  return p.rows >= kRows && has_byte_tiles(p.runs, isa) &&
         p.rows * p.panels * quads_saved_by_tiles(p.runs) > kSetUp;
}

}  // namespace

void multiply_bytes(const ByteProduct& product, Isa isa) {
#if INTARSIA_WITH_AVX512
  if (is_tiled(product, isa)) {
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
  if (product.sink.take == nullptr) return;
  product.sink.take(product.sink.context,
                    {product.c, product.c_pitch, 0, product.rows, 0, product.panels});
}

}  // namespace intarsia::cpu
