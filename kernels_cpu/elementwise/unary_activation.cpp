// SPDX-License-Identifier: Apache-2.0
//
// Activation functions, as ONNX defines them but written so that nothing overflows or cancels:
// expm1 and log1p where the specification says exp(x) - 1 and log(1 + exp(x)), erfc for Gelu.
// Comparisons are arranged so that NaN stays NaN (ThresholdedRelu gives 0, as specified).
#include <cmath>

#include "kernels_cpu/elementwise/unary_run.h"

namespace intarsia::cpu {
namespace {

template <class V>
V sigmoid(V x) {
  const V e = std::exp(-std::fabs(x));
  return (x < 0 ? e : V{1}) / (V{1} + e);
}

template <class V>
V softplus(V x) {
  return (x > 0 ? x : V{0}) + std::log1p(std::exp(-std::fabs(x)));
}

/// x limited to [0, 1].
template <class V>
V limit(V x) {
  return x < 0 ? V{0} : x > 1 ? V{1} : x;
}

}  // namespace

template <class V>
V evaluate(ReluOp, V x, const NoAttributes&) {
  return x < 0 ? V{0} : x;
}
template <class V>
V evaluate(LeakyReluOp, V x, const LeakyReluAttributes& attributes) {
  return x < 0 ? static_cast<V>(attributes.alpha) * x : x;
}
template <class V>
V evaluate(ThresholdedReluOp, V x, const AlphaAttributes& attributes) {
  return x > static_cast<V>(attributes.alpha) ? x : V{0};
}
template <class V>
V evaluate(EluOp, V x, const AlphaAttributes& attributes) {
  return x < 0 ? static_cast<V>(attributes.alpha) * std::expm1(x) : x;
}
template <class V>
V evaluate(CeluOp, V x, const AlphaAttributes& attributes) {
  const V alpha = static_cast<V>(attributes.alpha);
  return x > 0 ? x : alpha * std::expm1(x / alpha);
}
template <class V>
V evaluate(SeluOp, V x, const SeluAttributes& attributes) {
  const V gamma = static_cast<V>(attributes.gamma);
  return x > 0 ? gamma * x : gamma * (static_cast<V>(attributes.alpha) * std::expm1(x));
}
template <class V>
V evaluate(SigmoidOp, V x, const NoAttributes&) {
  return sigmoid(x);
}
template <class V>
V evaluate(HardSigmoidOp, V x, const HardSigmoidAttributes& attributes) {
  return limit(static_cast<V>(attributes.alpha) * x + static_cast<V>(attributes.beta));
}
template <class V>
V evaluate(HardSwishOp, V x, const NoAttributes&) {
  return x * limit(x / V{6} + V{0.5});
}
template <class V>
V evaluate(SwishOp, V x, const AlphaAttributes& attributes) {
  return x * sigmoid(static_cast<V>(attributes.alpha) * x);
}
template <class V>
V evaluate(SoftplusOp, V x, const NoAttributes&) {
  return softplus(x);
}
template <class V>
V evaluate(SoftsignOp, V x, const NoAttributes&) {
  return x / (V{1} + std::fabs(x));
}
template <class V>
V evaluate(MishOp, V x, const NoAttributes&) {
  return x * std::tanh(softplus(x));
}
// In double: the tails magnify the rounding of their argument.
template <class V>
V evaluate(GeluOp, V value, const GeluAttributes& attributes) {
  const double x = value;
  if (attributes.approximate == GeluAttributes::kTanh) {
    // 0.5 (1 + tanh(z)) = sigmoid(2 z); 2 sqrt(2 / pi) = 1.5957...
    return static_cast<V>(x * sigmoid(1.5957691216057307118 * (x + 0.044715 * x * x * x)));
  }
  return static_cast<V>(0.5 * x * std::erfc(x * -0.70710678118654752440));
}

INTARSIA_UNARY_FLOATS(ReluOp);
INTARSIA_UNARY_SIGNED(ReluOp);
INTARSIA_UNARY_FLOATS(LeakyReluOp);
INTARSIA_UNARY_FLOATS(ThresholdedReluOp);
INTARSIA_UNARY_FLOATS(EluOp);
INTARSIA_UNARY_FLOATS(CeluOp);
INTARSIA_UNARY_FLOATS(SeluOp);
INTARSIA_UNARY_FLOATS(SigmoidOp);
INTARSIA_UNARY_FLOATS(HardSigmoidOp);
INTARSIA_UNARY_FLOATS(HardSwishOp);
INTARSIA_UNARY_FLOATS(SwishOp);
INTARSIA_UNARY_FLOATS(SoftplusOp);
INTARSIA_UNARY_FLOATS(SoftsignOp);
INTARSIA_UNARY_FLOATS(MishOp);
INTARSIA_UNARY_FLOATS(GeluOp);

}  // namespace intarsia::cpu
