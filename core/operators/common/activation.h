// SPDX-License-Identifier: Apache-2.0
//
// Element-wise activations that kernels fuse into the store of their result, and their definition:
// `activate` is the reference that the tests compare every vectorised version with.
//
// The names and formulas are those of the ONNX operators; alpha and beta are written out where an
// activation has parameters and are ignored where it has none.
#pragma once

#include <cmath>
#include <cstdint>

#include "core/operators/elementwise/unary_activations.h"
#include "core/operators/elementwise/unary_functions.h"

namespace intarsia {

/// Part of the plan format: values are never reused.
enum class Activation : uint8_t {
  kNone = 0,         ///< x
  kRelu = 1,         ///< max(x, 0)
  kClip = 2,         ///< min(max(x, alpha), beta)
  kLeakyRelu = 3,    ///< x < 0 ? alpha * x : x
  kElu = 4,          ///< x < 0 ? alpha * (exp(x) - 1) : x
  kSigmoid = 5,      ///< 1 / (1 + exp(-x))
  kTanh = 6,         ///< tanh(x)
  kHardSigmoid = 7,  ///< max(0, min(1, alpha * x + beta))
  kHardSwish = 8,    ///< x * max(0, min(1, x / 6 + 1 / 2))
  kSilu = 9,         ///< x / (1 + exp(-x))
  kGelu = 10,        ///< x / 2 * (1 + erf(x / sqrt(2)))
  kGeluTanh = 11,    ///< x / 2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))
  kSoftplus = 12,    ///< log(1 + exp(x))
};

/// An activation with its parameters, as the table above defines them.
struct ActivationSpec {
  Activation kind = Activation::kNone;
  float alpha = 0;
  float beta = 0;
};

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
