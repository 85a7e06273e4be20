// SPDX-License-Identifier: Apache-2.0
//
// Activations of recurrent layers, over vectors.
#pragma once

#include <cmath>

#include "core/operators/recurrent/rnn_functions.h"

namespace intarsia::cpu {

/// x[i] = function(x[i]). V is float or double.
template <class V>
void apply(const RnnFunction& function, V* x, int64_t count) {
  const V alpha = function.alpha;
  const V beta = function.beta;
  const auto map = [&](const auto& formula) {
    for (int64_t i = 0; i < count; ++i) x[i] = formula(x[i]);
  };
  switch (function.kind) {
    case RnnActivation::kSigmoid:
      return map([](V v) { return 1 / (1 + std::exp(-v)); });
    case RnnActivation::kTanh:
      return map([](V v) { return std::tanh(v); });
    case RnnActivation::kRelu:
      return map([](V v) { return v > 0 ? v : V{0}; });
    case RnnActivation::kAffine:
      return map([=](V v) { return alpha * v + beta; });
    case RnnActivation::kLeakyRelu:
      return map([=](V v) { return v < 0 ? alpha * v : v; });
    case RnnActivation::kThresholdedRelu:
      return map([=](V v) { return v > alpha ? v : V{0}; });
    case RnnActivation::kScaledTanh:
      return map([=](V v) { return alpha * std::tanh(beta * v); });
    case RnnActivation::kHardSigmoid:
      return map([=](V v) {
        const V line = alpha * v + beta;
        return line < 0 ? V{0} : line > 1 ? V{1} : line;
      });
    case RnnActivation::kElu:
      return map([=](V v) { return v < 0 ? alpha * std::expm1(v) : v; });
    case RnnActivation::kSoftsign:
      return map([](V v) { return v / (1 + std::fabs(v)); });
    case RnnActivation::kSoftplus:
      return map([](V v) { return (v > 0 ? v : V{0}) + std::log1p(std::exp(-std::fabs(v))); });
  }
}

}  // namespace intarsia::cpu
