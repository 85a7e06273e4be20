// SPDX-License-Identifier: Apache-2.0
//
// Choice of the micro-kernels, and the split of an activation. See microkernel.h.
#include "kernels_cpu/gemm/microkernel.h"

#include <limits>

namespace intarsia::cpu {

TileKernels tile_kernels(Isa isa) {
  return pick_isa(isa, [](auto i) { return Microkernels<decltype(i)::value>::tiles(); });
}

void depthwise_kernel(Isa isa, const DepthwiseBlock& block) {
  pick_isa(isa, [&](auto i) { Microkernels<decltype(i)::value>::depthwise(block); });
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
