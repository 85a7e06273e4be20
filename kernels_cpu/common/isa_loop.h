// SPDX-License-Identifier: Apache-2.0
//
// Loops that the compiler vectorises, compiled once more for wider vectors.
//
// Other than in the sources of one instruction set (gemm/, math/), such a loop may call whatever
// portable code calls: all of it is inlined into the copy, and nothing else holds instructions that
// other processors lack. Products are not fused, so results are the same bits either way. Most have
// no copy for AVX-512: they wait for memory.
#pragma once

#include <type_traits>

#include "kernels_cpu/gemm/isa.h"

namespace intarsia::cpu {

#if INTARSIA_WITH_AVX2
template <class Loop>
[[gnu::flatten, gnu::target("avx2")]] void on_avx2(const Loop& loop) {
  loop();
}
#endif

#if INTARSIA_WITH_AVX512
#if defined(__clang__)
#define INTARSIA_AVX512_TARGET "avx512f,avx512bw,avx512cd,avx512dq,avx512vl"
#else
#define INTARSIA_AVX512_TARGET "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,prefer-vector-width=512"
#endif
template <class Loop>
[[gnu::flatten, gnu::target(INTARSIA_AVX512_TARGET)]] void on_avx512(const Loop& loop) {
  loop();
}
#endif

/// Calls loop(), compiled for AVX2 if `isa` has it.
template <class Loop>
void on_isa([[maybe_unused]] Isa isa, const Loop& loop) {
#if INTARSIA_WITH_AVX2
  const Isa vectors = vector_isa(isa);
  if (vectors == Isa::kAvx2 || vectors == Isa::kAvx512) return on_avx2(loop);
#endif
  loop();
}

/// The same with a copy for AVX-512: for loops that compute more than they read, or that narrow
/// elements, which takes AVX2 many steps.
template <class Loop>
void on_widest_isa(Isa isa, const Loop& loop) {
#if INTARSIA_WITH_AVX512
  if (vector_isa(isa) == Isa::kAvx512) return on_avx512(loop);
#endif
  on_isa(isa, loop);
}

/// Calls loop(bytes), where `bytes` is a constant, how large the vectors are that it is compiled
/// for, kMost or less.
template <int kMost = 64, class Loop>
void on_vectors([[maybe_unused]] Isa isa, const Loop& loop) {
  [[maybe_unused]] const Isa vectors = vector_isa(isa);
#if INTARSIA_WITH_AVX512
  if constexpr (kMost >= 64) {
    if (vectors == Isa::kAvx512) return on_avx512([&] { loop(std::integral_constant<int, 64>()); });
  }
#endif
#if INTARSIA_WITH_AVX2
  if (vectors == Isa::kAvx2 || vectors == Isa::kAvx512) {
    return on_avx2([&] { loop(std::integral_constant<int, 32>()); });
  }
#endif
  loop(std::integral_constant<int, 16>());
}

}  // namespace intarsia::cpu
