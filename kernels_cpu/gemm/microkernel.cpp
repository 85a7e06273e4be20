// SPDX-License-Identifier: Apache-2.0
//
// Choice of the micro-kernel table, and the split of an activation. See microkernel.h.
#include "kernels_cpu/gemm/microkernel.h"

#include <limits>

namespace intarsia::cpu {

const Microkernels& microkernels(Isa isa) {
  switch (compiled_isa(isa)) {
#if INTARSIA_WITH_AVX512
    case Isa::kAvx512:
      return kAvx512Microkernels;
#endif
#if INTARSIA_WITH_AVX2
    case Isa::kAvx2:
      return kAvx2Microkernels;
#endif
    default:
      return kPortableMicrokernels;
  }
}

Epilogue make_epilogue(const ActivationSpec& spec) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  switch (spec.kind) {
    case Activation::kNone:
      return {-kInfinity, kInfinity, {}};
    case Activation::kRelu:
      return {0, kInfinity, {}};
    case Activation::kClip:
      return {spec.alpha, spec.beta, {}};
    default:
      return {-kInfinity, kInfinity, spec};
  }
}

}  // namespace intarsia::cpu
