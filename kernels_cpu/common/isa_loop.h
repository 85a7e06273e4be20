// SPDX-License-Identifier: Apache-2.0
//
// Loops that the compiler vectorises, compiled once more for wider vectors.
//
// Other than in the sources of one instruction set (gemm/, math/), such a loop may call whatever
// portable code calls: all of it is inlined into the copy, and nothing else holds instructions that
// other processors lack. Products are not fused, so results are the same bits either way. AVX-512
// has no copy of its own: these loops wait for memory.
#pragma once

#include "kernels_cpu/gemm/isa.h"

namespace intarsia::cpu {

#if INTARSIA_WITH_AVX2
template <class Loop>
[[gnu::flatten, gnu::target("avx2")]] void on_avx2(const Loop& loop) {
  loop();
}
#endif

/// Calls loop(), compiled for the widest vectors of this build that `isa` has.
template <class Loop>
void on_isa([[maybe_unused]] Isa isa, const Loop& loop) {
#if INTARSIA_WITH_AVX2
  if (isa == Isa::kAvx2 || isa == Isa::kAvx512) return on_avx2(loop);
#endif
  loop();
}

}  // namespace intarsia::cpu
