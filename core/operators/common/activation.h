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

/// The reference. A NaN stays a NaN. constexpr makes it a function of CUDA devices, too.
constexpr float activate(ActivationSpec spec, float x) {
  const auto clip = [](float v, float low, float high) {
    return v < low ? low : (v > high ? high : v);
  };
  switch (spec.kind) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return x < 0 ? 0 : x;
    case Activation::kClip:
      return clip(x, spec.alpha, spec.beta);
    case Activation::kLeakyRelu:
      return x < 0 ? spec.alpha * x : x;
    case Activation::kElu:
      return x < 0 ? spec.alpha * std::expm1(x) : x;
    case Activation::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kHardSigmoid:
      return clip(spec.alpha * x + spec.beta, 0, 1);
    case Activation::kHardSwish:
      return x * clip(x / 6 + 0.5f, 0, 1);
    case Activation::kSilu:
      return x / (1 + std::exp(-x));
    case Activation::kGelu:
      return x * 0.5f * std::erfc(-x * 0.707106781f);
    case Activation::kGeluTanh:
      return x / (1 + std::exp(-1.595769122f * (x + 0.044715f * x * x * x)));
    case Activation::kSoftplus:
      return std::fmax(x, 0.0f) + std::log1p(std::exp(-std::fabs(x)));
  }
  return x;
}

}  // namespace intarsia
