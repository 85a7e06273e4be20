// SPDX-License-Identifier: Apache-2.0
//
// Element-wise activations that kernels fuse into the store of their result, and their definition:
// `activate` is the reference that the tests compare every vectorised version with.
//
// The names and formulas are those of the ONNX operators.
#pragma once

#include <cmath>

#include "core/operators/common/activation_spec.h"
#include "core/operators/elementwise/unary_activations.h"
#include "core/operators/elementwise/unary_functions.h"

namespace intarsia {

/// The reference. A NaN stays a NaN. One exponential gives what has a sigmoid in it, without the
/// choice by sign, and so 0 where the operators give numbers below the normal ones; all is in
/// float, while the operator Gelu takes double: that is what fused kernels compute, on every
/// device.
INTARSIA_HOST_DEVICE inline float activate(ActivationSpec spec, float x) {
  switch (spec.kind) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return ReluOp::apply(x, {});
    case Activation::kClip:
      return ClipOp::apply(x, spec.alpha, spec.beta);
    case Activation::kLeakyRelu:
      return LeakyReluOp::apply(x, {spec.alpha});
    case Activation::kElu:
      return EluOp::apply(x, {spec.alpha});
    case Activation::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case Activation::kTanh:
      return TanhOp::apply(x, {});
    case Activation::kHardSigmoid:
      return HardSigmoidOp::apply(x, {spec.alpha, spec.beta});
    case Activation::kHardSwish:
      return HardSwishOp::apply(x, {});
    case Activation::kSilu:
      return x / (1 + std::exp(-x));
    case Activation::kGelu:
      return GeluOp::exact(x);
    case Activation::kGeluTanh:
      return x / (1 + std::exp(-GeluOp::tanh_argument(x)));
    case Activation::kSoftplus:
      return SoftplusOp::apply(x, {});
  }
  return x;
}

}  // namespace intarsia
