// SPDX-License-Identifier: Apache-2.0
//
// Choice of the micro-kernels, and epilogues. See microkernel.h.
#include "kernels_cpu/gemm/microkernel.h"

namespace intarsia::cpu {

TileKernels tile_kernels(Isa isa) {
  return pick_isa(isa, [](auto i) { return Microkernels<decltype(i)::value>::tiles(); });
}

PlaneFunction plane_kernel(Isa isa) {
  return pick_isa(
      isa, [](auto i) -> PlaneFunction { return &Microkernels<decltype(i)::value>::planes; });
}

bool is_bounds(const ActivationSpec& spec) {
  return spec.kind == Activation::kNone || spec.kind == Activation::kRelu ||
         spec.kind == Activation::kClip;
}

Epilogue bounds_of(const ActivationSpec& spec) {
  Epilogue epilogue;
  if (spec.kind == Activation::kRelu) epilogue.lower = 0;
  if (spec.kind == Activation::kClip) {
    epilogue.lower = spec.alpha;
    epilogue.upper = spec.beta;
  }
  return epilogue;
}

Epilogue epilogue_of(const ActivationSpec& spec, Isa isa) {
  Epilogue epilogue = bounds_of(spec);
  if (!is_bounds(spec)) {
    epilogue.spec = spec;
    epilogue.activate = pick_isa(isa, [](auto i) -> ActivationFunction {
      return &Microkernels<decltype(i)::value>::activate;
    });
  }
  return epilogue;
}

}  // namespace intarsia::cpu
