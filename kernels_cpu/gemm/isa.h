// SPDX-License-Identifier: Apache-2.0
//
// Which instruction sets this build contains.
//
// `Isa` and `detect_isa` are public (intarsia/isa.h); `compiled_isa` and `vector_isa` lower a
// choice to what was compiled in. INTARSIA_WITH_AVX2 and INTARSIA_WITH_AVX512 are 1 on x86-64,
// INTARSIA_WITH_NEON on AArch64, unless the build sets them to 0; the translation units of an
// instruction set that is left out are then empty.
#pragma once

#include <type_traits>

#include "intarsia/isa.h"

#if !defined(INTARSIA_WITH_AVX2)
#if defined(__x86_64__)
#define INTARSIA_WITH_AVX2 1
#else
#define INTARSIA_WITH_AVX2 0
#endif
#endif

#if !defined(INTARSIA_WITH_AVX512)
#if defined(__x86_64__)
#define INTARSIA_WITH_AVX512 1
#else
#define INTARSIA_WITH_AVX512 0
#endif
#endif

#if !defined(INTARSIA_WITH_NEON)
#if defined(__aarch64__)
#define INTARSIA_WITH_NEON 1
#else
#define INTARSIA_WITH_NEON 0
#endif
#endif

namespace intarsia::cpu {

/// The best instruction set of this build that is not above `wanted`.
constexpr Isa compiled_isa(Isa wanted) {
  const bool avx512 = wanted == Isa::kAvx512 || wanted == Isa::kAvx512Vnni || wanted == Isa::kAmx;
  if (INTARSIA_WITH_AVX512 && avx512) return wanted;
  if (INTARSIA_WITH_AVX2 && (wanted == Isa::kAvx2 || avx512)) return Isa::kAvx2;
  if (INTARSIA_WITH_NEON && wanted == Isa::kNeon) return Isa::kNeon;
  return Isa::kPortable;
}

/// Whether there are dot products of bytes, unsigned by signed.
constexpr bool has_byte_dots(Isa wanted) {
  const Isa isa = compiled_isa(wanted);
  return isa == Isa::kAvx512Vnni || isa == Isa::kAmx;
}

/// compiled_isa(wanted) for all but products and tables of bytes: nothing else differs where there
/// are dot products of bytes.
constexpr Isa vector_isa(Isa wanted) {
  return has_byte_dots(wanted) ? Isa::kAvx512 : compiled_isa(wanted);
}

/// An instruction set as a type.
template <Isa I>
using IsaConstant = std::integral_constant<Isa, I>;

/// pick(IsaConstant<I>()) for I = vector_isa(wanted). Whatever `pick` names of an instruction set
/// that this build lacks is not linked.
template <class Pick>
auto pick_isa([[maybe_unused]] Isa wanted, const Pick& pick) {
#if INTARSIA_WITH_AVX512
  if (vector_isa(wanted) == Isa::kAvx512) return pick(IsaConstant<Isa::kAvx512>());
#endif
#if INTARSIA_WITH_AVX2
  if (vector_isa(wanted) == Isa::kAvx2) return pick(IsaConstant<Isa::kAvx2>());
#endif
#if INTARSIA_WITH_NEON
  if (vector_isa(wanted) == Isa::kNeon) return pick(IsaConstant<Isa::kNeon>());
#endif
  return pick(IsaConstant<Isa::kPortable>());
}

}  // namespace intarsia::cpu
