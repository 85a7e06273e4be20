// SPDX-License-Identifier: Apache-2.0
#include "kernels_cpu/gemm/byte_panels.h"

namespace intarsia::cpu {

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
