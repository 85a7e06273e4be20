// SPDX-License-Identifier: Apache-2.0
//
// Which activation a node has in its epilogue: the number that plans hold, with its parameters.
// What it computes stands in activation.h.
//
// The names are those of the ONNX operators; alpha and beta are written out where an activation has
// parameters and are ignored where it has none.
#pragma once

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

}  // namespace intarsia
