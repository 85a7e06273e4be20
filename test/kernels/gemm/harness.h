// SPDX-License-Identifier: Apache-2.0
//
// What the tests of the f32 GEMM family share: references, seeded operands, tolerances, and the
// instruction sets of the machine.
//
// Tolerance: a chain of K roundings in float has an error of at most K u S, u = 2^-24 and S the sum
// of |terms|; roundings being as good as random, sqrt(K) u S is typical. Tests allow
// (8 + 2 sqrt(K)) u S, far below the effect of one wrong operand, plus 2e-6 of the result for the
// activation.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "core/operators/common/activation.h"
#include "kernels_cpu/gemm/isa.h"

namespace intarsia::cpu {

inline constexpr float kUntouched = -12345.678f;
inline constexpr int kActivations = static_cast<int>(Activation::kSoftplus) + 1;

inline double reference(const ActivationSpec& s, double x) {
  const auto clip = [](double v, double a, double b) { return v < a ? a : (v > b ? b : v); };
  const double alpha = s.alpha, beta = s.beta;
  switch (s.kind) {
    case Activation::kNone:
      return x;
    case Activation::kRelu:
      return x < 0 ? 0 : x;
    case Activation::kClip:
      return clip(x, alpha, beta);
    case Activation::kLeakyRelu:
      return x < 0 ? alpha * x : x;
    case Activation::kElu:
      return x < 0 ? alpha * std::expm1(x) : x;
    case Activation::kSigmoid:
      return 1 / (1 + std::exp(-x));
    case Activation::kTanh:
      return std::tanh(x);
    case Activation::kHardSigmoid:
      return clip(alpha * x + beta, 0, 1);
    case Activation::kHardSwish:
      return x * clip(x / 6 + 0.5, 0, 1);
    case Activation::kSilu:
      return x / (1 + std::exp(-x));
    case Activation::kGelu:
      return x * 0.5 * std::erfc(-x * std::sqrt(0.5));
    case Activation::kGeluTanh:
      return x / (1 + std::exp(-2 * std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
    case Activation::kSoftplus:
      return std::fmax(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
  }
  return x;
}

// The activation of that number, with parameters where it has some.
inline ActivationSpec spec_of(int kind) {
  constexpr float kParameters[kActivations][2] = {{}, {}, {-0.75f, 1.5f}, {0.125f}, {1.25f},
                                                  {}, {}, {0.2f, 0.5f}};
  return {static_cast<Activation>(kind), kParameters[kind][0], kParameters[kind][1]};
}

inline std::vector<Isa> available_isas() {
  std::vector<Isa> list = {Isa::kPortable};
  const Isa best = vector_isa(detect_isa());
  if (best == Isa::kAvx2 || best == Isa::kAvx512) list.push_back(Isa::kAvx2);
  if (best == Isa::kAvx512) list.push_back(Isa::kAvx512);
  if (best == Isa::kNeon) list.push_back(Isa::kNeon);
  return list;
}
/// The same for products of bytes.
inline std::vector<Isa> available_byte_isas() {
  std::vector<Isa> list = available_isas();
  const Isa best = compiled_isa(detect_isa());
  if (has_byte_dots(best)) list.push_back(Isa::kAvx512Vnni);
  if (best != list.back()) list.push_back(best);
  return list;
}

inline std::string isa_name(Isa isa) {
  switch (isa) {
    case Isa::kAvx2:
      return "avx2";
    case Isa::kAvx512:
      return "avx512";
    case Isa::kAvx512Vnni:
      return "avx512vnni";
    case Isa::kAmx:
      return "amx";
    case Isa::kNeon:
      return "neon";
    default:
      return "portable";
  }
}

// Seeded operands and dimensions.
class Random {
 public:
  explicit Random(uint32_t seed) : engine_(seed) {}
  int64_t between(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(engine_);
  }
  bool coin() { return between(0, 1) == 1; }
  std::vector<float> floats(int64_t count) {
    std::uniform_real_distribution<float> value(-1, 1);
    std::vector<float> v(static_cast<size_t>(count));
    for (float& x : v) x = value(engine_);
    return v;
  }

 private:
  std::mt19937 engine_;
};

// What a naive loop finds for one element: the sum and the sum of magnitudes.
struct Sum {
  double value = 0;
  double magnitude = 0;
  int64_t terms = 0;
  void add(double term) {
    value += term;
    magnitude += std::fabs(term);
    ++terms;
  }
  // Makes the tolerance that of so many terms of the product of two numbers of [-1, 1], at least.
  void spread(int64_t count) {
    terms = std::max(terms, count);
    magnitude = std::max(magnitude, static_cast<double>(count) / 4);
  }
  double tolerance() const {
    const double rounding = std::ldexp(1.0, -24);
    return (8 + 2 * std::sqrt(static_cast<double>(terms))) * rounding * magnitude;
  }
};

// True if `got` is act(sum) within `loss` times the tolerance above; 1.3 bounds the slope of every
// activation.
inline ::testing::AssertionResult close(const ActivationSpec& spec, const Sum& sum, float got,
                                        double loss = 1) {
  const double want = reference(spec, sum.value);
  const double allowed = 1.3 * loss * sum.tolerance() + 2e-6 * std::fabs(want) + 1e-12;
  if (std::fabs(got - want) <= allowed) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "got " << got << ", expected " << want << " within "
                                       << allowed << ", activation " << static_cast<int>(spec.kind);
}

}  // namespace intarsia::cpu
