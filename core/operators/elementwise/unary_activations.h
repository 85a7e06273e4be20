// SPDX-License-Identifier: Apache-2.0
//
// Activation functions, as ONNX defines them but written so that nothing overflows or cancels:
// expm1 and log1p where the specification says exp(x) - 1 and log(1 + exp(x)), erfc for Gelu.
// Comparisons are arranged so that NaN stays NaN (ThresholdedRelu gives 0, as specified).
#pragma once

#include <cmath>

#include "core/operators/common/integers.h"
#include "core/operators/elementwise/operator.h"

namespace intarsia {

namespace internal {
/// x limited to [0, 1]; NaN remains. Both bounds are asked for at once: compilers make twice as
/// many instructions of one choice after the other.
template <class V>
INTARSIA_HOST_DEVICE V limit(V x) {
  const bool below = x <= 0, above = x >= 1;
  return below | above ? (above ? V{1} : V{0}) : x;
}
}  // namespace internal

/// Bounds are inputs, not attributes; the upper one wins where they cross.
struct ClipOp {
  static constexpr std::string_view name = "Clip";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, V low, V high) {
    const V value = x < low ? low : x;
    return value > high ? high : value;
  }
};

struct ReluOp : Elementwise<> {
  static constexpr std::string_view name = "Relu";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, const NoAttributes&) {
    return x < 0 ? V{0} : x;
  }
};

struct LeakyReluOp : Elementwise<LeakyReluAttributes> {
  static constexpr std::string_view name = "LeakyRelu";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, const LeakyReluAttributes& attributes) {
    return x < 0 ? static_cast<V>(attributes.alpha) * x : x;
  }
};

/// What lies within lambd of 0, and NaN, becomes 0; the rest comes closer to it by bias.
struct ShrinkOp : Elementwise<ShrinkAttributes> {
  static constexpr std::string_view name = "Shrink";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, const ShrinkAttributes& attributes) {
    if constexpr (std::is_integral_v<V>) {
      const auto real = static_cast<double>(x);
      const auto lambd = static_cast<double>(attributes.lambd);
      const auto bias = static_cast<double>(attributes.bias);
      return saturate_cast<V>(real < -lambd ? real + bias : real > lambd ? real - bias : 0.0);
    } else {
      const V lambd = static_cast<V>(attributes.lambd), bias = static_cast<V>(attributes.bias);
      return x < -lambd ? x + bias : x > lambd ? x - bias : V{0};
    }
  }
};

struct ThresholdedReluOp : Elementwise<AlphaAttributes> {
  static constexpr std::string_view name = "ThresholdedRelu";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, const AlphaAttributes& attributes) {
    return x > static_cast<V>(attributes.alpha) ? x : V{0};
  }
};

struct EluOp : Elementwise<AlphaAttributes> {
  static constexpr std::string_view name = "Elu";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, const AlphaAttributes& attributes) {
    return x < 0 ? static_cast<V>(attributes.alpha) * std::expm1(x) : x;
  }
};

struct CeluOp : Elementwise<AlphaAttributes> {
  static constexpr std::string_view name = "Celu";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, const AlphaAttributes& attributes) {
    const V alpha = static_cast<V>(attributes.alpha);
    return x > 0 ? x : alpha * std::expm1(x / alpha);
  }
};

struct SeluOp : Elementwise<SeluAttributes> {
  static constexpr std::string_view name = "Selu";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, const SeluAttributes& attributes) {
    const V gamma = static_cast<V>(attributes.gamma);
    return x > 0 ? gamma * x : gamma * (static_cast<V>(attributes.alpha) * std::expm1(x));
  }
};

struct SigmoidOp : Elementwise<> {
  static constexpr std::string_view name = "Sigmoid";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, const NoAttributes&) {
    const V e = std::exp(-std::fabs(x));
    return (x < 0 ? e : V{1}) / (V{1} + e);
  }
};

struct HardSigmoidOp : Elementwise<HardSigmoidAttributes> {
  static constexpr std::string_view name = "HardSigmoid";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, const HardSigmoidAttributes& attributes) {
    return internal::limit(static_cast<V>(attributes.alpha) * x + static_cast<V>(attributes.beta));
  }
};

struct HardSwishOp : Elementwise<> {
  static constexpr std::string_view name = "HardSwish";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, const NoAttributes&) {
    return x * internal::limit(x / V{6} + V{0.5});
  }
};

struct SwishOp : Elementwise<AlphaAttributes> {
  static constexpr std::string_view name = "Swish";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, const AlphaAttributes& attributes) {
    return x * SigmoidOp::apply(static_cast<V>(attributes.alpha) * x, {});
  }
};

struct SoftplusOp : Elementwise<> {
  static constexpr std::string_view name = "Softplus";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, const NoAttributes&) {
    return (x > 0 ? x : V{0}) + std::log1p(std::exp(-std::fabs(x)));
  }
};

struct SoftsignOp : Elementwise<> {
  static constexpr std::string_view name = "Softsign";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, const NoAttributes&) {
    return x / (V{1} + std::fabs(x));
  }
};

struct MishOp : Elementwise<> {
  static constexpr std::string_view name = "Mish";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, const NoAttributes&) {
    return x * std::tanh(SoftplusOp::apply(x, {}));
  }
};

struct GeluOp : Elementwise<GeluAttributes> {
  static constexpr std::string_view name = "Gelu";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V value, const GeluAttributes& attributes) {
    const Precise x = value;
    if (attributes.approximate == GeluAttributes::kTanh) {
      return static_cast<V>(x * SigmoidOp::apply(tanh_argument(x), {}));
    }
    return static_cast<V>(exact(x));
  }
  template <class C>
  INTARSIA_HOST_DEVICE static C exact(C x) {
    return static_cast<C>(0.5) * x * std::erfc(x * static_cast<C>(-0.70710678118654752440));
  }
  /// z, where the approximation by tanh is x sigmoid(z): (1 + tanh(z / 2)) / 2 = sigmoid(z), and
  /// 2 sqrt(2 / pi) = 1.5957...
  template <class C>
  INTARSIA_HOST_DEVICE static C tanh_argument(C x) {
    return static_cast<C>(1.5957691216057307118) * (x + static_cast<C>(0.044715) * x * x * x);
  }
};

}  // namespace intarsia
