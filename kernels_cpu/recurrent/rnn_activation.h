// SPDX-License-Identifier: Apache-2.0
//
// Activations of recurrent layers, over vectors.
#pragma once

#include <cmath>

#include "core/operators/recurrent/rnn_functions.h"
#include "kernels_cpu/math/vector_math.h"

namespace intarsia::cpu {

/// x[i] = function(x[i]). V is float or double.
template <class V>
[[gnu::cold]] void apply(const RnnFunction& function, V* x, int64_t count) {
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

/// The activations of floats; those that most layers have are of math/vector_math.h.
class RnnMath {
 public:
  explicit RnnMath(Isa isa)
      : sigmoid_(pick_vector_math(isa, [](auto math) { return &decltype(math)::sigmoid; })),
        tanh_(pick_vector_math(isa, [](auto math) { return &decltype(math)::tanh; })) {}

  void activate(const RnnFunction& function, float* x, int64_t count) const {
    switch (function.kind) {
      case RnnActivation::kSigmoid:
        return sigmoid_(x, x, count, nullptr);
      case RnnActivation::kTanh:
        return tanh_(x, x, count, nullptr);
      default:
        return apply(function, x, count);
    }
  }

 private:
  VectorMap sigmoid_, tanh_;
};

}  // namespace intarsia::cpu
