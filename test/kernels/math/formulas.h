// SPDX-License-Identifier: Apache-2.0
//
// The float formulas that kernels share, each beside the same function in double precision by the C
// library, which uses none of them. `check` sweeps the floats from minus to plus infinity.
//
// Tolerance: `units` in the last place of the exact result (2^-149 below the normal numbers), as
// math/vector_math.h promises, and `slack`, an absolute error, where a formula must lose more. No
// googletest here: the tests of boards use it as well.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/operators/common/activation.h"
#include "kernels_cpu/gemm/microkernel.h"
#include "kernels_cpu/math/vector_math.h"

namespace intarsia::test {

struct Formula {
  const char* name;
  void (*run)(Isa isa, const float* x, float* y, int64_t n);
  double (*exact)(double x);
  double units;
  double (*slack)(double x);
};

// ---- in double precision
// -------------------------------------------------------------------------

// Parameters of all formulas that have some.
inline constexpr double kAlpha = 0.3f, kBeta = 0.45f, kGamma = 1.7f;
inline constexpr float kParameters[] = {0.3f, 1.7f};

inline double exact_sigmoid(double x) {
  return x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x));
}
inline double exact_softplus(double x) {
  return std::fmax(x, 0) + std::log1p(std::exp(-std::fabs(x)));
}
inline double exact_mish(double x) {
  return x * std::tanh(std::log1p(std::exp(x)));
}
inline double exact_gelu(double x) {
  return x * 0.5 * std::erfc(-x * std::sqrt(0.5));
}
inline double sigmoid_argument(double x) {  // of gelu_tanh
  return 2 * std::sqrt(2 / 3.14159265358979323846) * (x + 0.044715 * x * x * x);
}
inline double exact_gelu_tanh(double x) {
  return x * exact_sigmoid(sigmoid_argument(x));
}
inline double exact_silu(double x) {
  return x * exact_sigmoid(x);
}
inline double exact_silu_alpha(double x) {
  return x * exact_sigmoid(kAlpha * x);
}
inline double exact_elu(double x) {
  return x < 0 ? kAlpha * std::expm1(x) : x;
}
inline double exact_celu(double x) {
  return x > 0 ? x : kAlpha * std::expm1(x / kAlpha);
}
inline double exact_selu(double x) {
  return kGamma * (x > 0 ? x : kAlpha * std::expm1(x));
}
inline double exact_hard_sigmoid(double x) {
  const double y = kAlpha * x + kBeta;
  return y < 0 ? 0 : y > 1 ? 1 : y;
}
inline double exact_hard_swish(double x) {
  return x * (x <= -3 ? 0 : x >= 3 ? 1 : x / 6 + 0.5);
}

// ---- what cannot be exact
// ------------------------------------------------------------------------

inline constexpr double kUnit = 0x1p-23, kSmallest = 0x1p-149;

/// A factor below the normal numbers is wrong by a few 2^-149, and x multiplies it.
inline double slack_of_product(double x) {
  return 4 * kSmallest * std::fmin(std::fabs(x), 128.0);
}
/// The argument z of an exponential is rounded three times: exp(z) by 1.5 |z| units.
inline double slack_of_argument(double z, double y) {
  return z < 0 && y == y ? 1.5 * kUnit * std::fabs(z * y) : 0;
}
inline double slack_gelu_tanh(double x) {
  return slack_of_product(x) + slack_of_argument(sigmoid_argument(x), exact_gelu_tanh(x));
}
inline double slack_silu_alpha(double x) {
  return slack_of_product(x) + slack_of_argument(kAlpha * x, exact_silu_alpha(x));
}
/// A line's two parts cancel near its zero.
inline double slack_hard_sigmoid(double x) {
  return kUnit * (x > -2 && x < 0 ? 1 : 0);
}
inline double slack_hard_swish(double x) {
  return x > -3.1 && x < 0 ? kUnit * -x : 0;
}
/// Where the exponential would be subnormal it is 0.
inline double slack_exp_sum(double x) {
  return std::fabs(x) > 87.3 ? 0x1p-126 : 0;
}
/// Scalar formulas give up where exp(-x) overflows: a sigmoid below the normal numbers is 0.
inline double slack_overflow(double x) {
  return 0x1p-125 * std::fmin(std::fabs(x) + 1, 128.0);
}
inline double slack_scalar_gelu(double x) {  // erfc of an argument that was rounded
  return slack_overflow(x) + (x < 0 && x > -20 ? kUnit * std::fabs(x * x * exact_gelu(x)) : 0);
}
inline double slack_scalar_gelu_tanh(double x) {
  return slack_overflow(x) + slack_gelu_tanh(x);
}

// ---- formulas
// ------------------------------------------------------------------------------------

inline void run_activation(Activation kind, Isa isa, const float* x, float* y, int64_t n) {
  for (int64_t i = 0; i < n; ++i) y[i] = x[i];
  const ActivationSpec spec{kind, static_cast<float>(kAlpha), static_cast<float>(kBeta)};
  const cpu::Epilogue epilogue = cpu::epilogue_of(spec, isa);
  if (epilogue.activate != nullptr) epilogue.activate(spec, y, n, 1, n);
}
inline void run_scalar(Activation kind, const float* x, float* y, int64_t n) {
  const ActivationSpec spec{kind, static_cast<float>(kAlpha), static_cast<float>(kBeta)};
  for (int64_t i = 0; i < n; ++i) y[i] = activate(spec, x[i]);
}

#define INTARSIA_VECTOR_MATH(function, exact, units, slack)                                       \
  Formula {                                                                                       \
    "vector " #function,                                                                          \
        [](Isa isa, const float* x, float* y, int64_t n) {                                        \
          cpu::pick_vector_math(isa, [](auto m) { return &decltype(m)::function; })(x, y, n,      \
                                                                                    kParameters); \
        },                                                                                        \
        exact, units, slack                                                                       \
  }
#define INTARSIA_ACTIVATION(kind, exact, units, slack)     \
  Formula {                                                \
    "epilogue " #kind,                                     \
        [](Isa isa, const float* x, float* y, int64_t n) { \
          run_activation(Activation::kind, isa, x, y, n);  \
        },                                                 \
        exact, units, slack                                \
  }
#define INTARSIA_SCALAR(kind, exact, units, slack)                                               \
  Formula {                                                                                      \
    "scalar " #kind,                                                                             \
        [](Isa, const float* x, float* y, int64_t n) { run_scalar(Activation::kind, x, y, n); }, \
        exact, units, slack                                                                      \
  }

/// Of each instruction set.
inline constexpr Formula kVectorFormulas[] = {
    INTARSIA_VECTOR_MATH(exp, std::exp, 2.5, nullptr),
    INTARSIA_VECTOR_MATH(log, std::log, 4, nullptr),
#if defined(__SSE2__) || defined(__ARM_NEON)  // without vectors they are the C library's
    INTARSIA_VECTOR_MATH(sin, std::sin, 4, nullptr),
    INTARSIA_VECTOR_MATH(cos, std::cos, 4, nullptr),
    INTARSIA_VECTOR_MATH(tan, std::tan, 4, nullptr),
#endif
    INTARSIA_VECTOR_MATH(asin, std::asin, 4, nullptr),
    INTARSIA_VECTOR_MATH(acos, std::acos, 4, nullptr),
    INTARSIA_VECTOR_MATH(atan, std::atan, 4, nullptr),
    INTARSIA_VECTOR_MATH(sinh, std::sinh, 4, nullptr),
    INTARSIA_VECTOR_MATH(cosh, std::cosh, 4, nullptr),
    INTARSIA_VECTOR_MATH(asinh, std::asinh, 4, nullptr),
    INTARSIA_VECTOR_MATH(acosh, std::acosh, 4, nullptr),
    INTARSIA_VECTOR_MATH(atanh, std::atanh, 4, nullptr),
    INTARSIA_VECTOR_MATH(sigmoid, exact_sigmoid, 4, nullptr),
    INTARSIA_VECTOR_MATH(tanh, std::tanh, 7, nullptr),
    INTARSIA_VECTOR_MATH(erf, std::erf, 2.5, nullptr),
    INTARSIA_VECTOR_MATH(softplus, exact_softplus, 4, nullptr),
    INTARSIA_VECTOR_MATH(gelu, exact_gelu, 12, slack_of_product),
    INTARSIA_VECTOR_MATH(gelu_tanh, exact_gelu_tanh, 6, slack_gelu_tanh),
    INTARSIA_VECTOR_MATH(mish, exact_mish, 4, slack_of_product),
    INTARSIA_VECTOR_MATH(silu, exact_silu_alpha, 4, slack_silu_alpha),
    INTARSIA_VECTOR_MATH(elu, exact_elu, 2.5, nullptr),
    INTARSIA_VECTOR_MATH(celu, exact_celu, 4, nullptr),
    INTARSIA_VECTOR_MATH(selu, exact_selu, 4, nullptr),
    Formula{"vector exp_sum",
            [](Isa isa, const float* x, float* y, int64_t n) {
              for (int64_t i = 0; i < n; ++i) y[i] = -std::fabs(x[i]);
              cpu::pick_vector_math(isa, [](auto m) { return &decltype(m)::exp_sum; })(y, y, n, 0);
            },
            [](double x) { return std::exp(-std::fabs(x)); }, 2.5, slack_exp_sum},
    INTARSIA_ACTIVATION(
        kLeakyRelu, [](double x) { return x < 0 ? kAlpha * x : x; }, 1, nullptr),
    INTARSIA_ACTIVATION(kElu, exact_elu, 2.5, nullptr),
    INTARSIA_ACTIVATION(kSigmoid, exact_sigmoid, 4, nullptr),
    INTARSIA_ACTIVATION(kTanh, std::tanh, 7, nullptr),
    INTARSIA_ACTIVATION(kHardSigmoid, exact_hard_sigmoid, 2, slack_hard_sigmoid),
    INTARSIA_ACTIVATION(kHardSwish, exact_hard_swish, 2, slack_hard_swish),
    INTARSIA_ACTIVATION(kSilu, exact_silu, 4, slack_of_product),
    INTARSIA_ACTIVATION(kGelu, exact_gelu, 12, slack_of_product),
    INTARSIA_ACTIVATION(kGeluTanh, exact_gelu_tanh, 6, slack_gelu_tanh),
    INTARSIA_ACTIVATION(kSoftplus, exact_softplus, 4, nullptr),
};
/// Of reference kernels and CUDA, core/operators/common/activation.h.
inline constexpr Formula kScalarFormulas[] = {
    INTARSIA_SCALAR(
        kNone, [](double x) { return x; }, 0, nullptr),
    INTARSIA_SCALAR(
        kRelu, [](double x) { return x < 0 ? 0 : x; }, 0, nullptr),
    INTARSIA_SCALAR(
        kClip, [](double x) { return x < kAlpha  ? kAlpha
                                     : x > kBeta ? kBeta
                                                 : x; }, 0, nullptr),
    INTARSIA_SCALAR(
        kLeakyRelu, [](double x) { return x < 0 ? kAlpha * x : x; }, 1, nullptr),
    INTARSIA_SCALAR(kElu, exact_elu, 2.5, nullptr),
    INTARSIA_SCALAR(kSigmoid, exact_sigmoid, 4, slack_overflow),
    INTARSIA_SCALAR(kTanh, std::tanh, 4, nullptr),
    INTARSIA_SCALAR(kHardSigmoid, exact_hard_sigmoid, 2, slack_hard_sigmoid),
    INTARSIA_SCALAR(kHardSwish, exact_hard_swish, 2, slack_hard_swish),
    INTARSIA_SCALAR(kSilu, exact_silu, 4, slack_overflow),
    INTARSIA_SCALAR(kGelu, exact_gelu, 4, slack_scalar_gelu),
    INTARSIA_SCALAR(kGeluTanh, exact_gelu_tanh, 6, slack_scalar_gelu_tanh),
    INTARSIA_SCALAR(kSoftplus, exact_softplus, 4, nullptr),
};

#undef INTARSIA_VECTOR_MATH
#undef INTARSIA_ACTIVATION
#undef INTARSIA_SCALAR

// ---- the sweep
// -----------------------------------------------------------------------------------

/// The float whose error is the largest part of what is allowed; `used` above 1 is too much.
struct Worst {
  double used = -1;
  float x = 0;
  float got = 0;
  double want = 0;
};

/// The error of `got` as a part of what is allowed.
inline double used_by(const Formula& formula, double x, double got, double want) {
  constexpr double kTooMuch = 1e9;
  if (std::isnan(x)) return std::isnan(got) ? 0 : kTooMuch;
  // Minus infinity times zero: functions that tend to zero may say so, or NaN.
  if (std::isnan(want)) return std::isnan(got) || got == 0 ? 0 : kTooMuch;
  constexpr double kLargest = std::numeric_limits<float>::max();
  if (std::fabs(want) > kLargest * (1 + 1e-6)) {
    return std::isinf(got) && std::signbit(got) == std::signbit(want) ? 0 : kTooMuch;
  }
  if (std::isinf(got)) return std::fabs(want) > kLargest * (1 - 1e-6) ? 0 : kTooMuch;
  if (std::isnan(got)) return kTooMuch;
  const int exponent = want == 0 ? -126 : std::ilogb(want);
  double allowed = formula.units * std::ldexp(1.0, (exponent < -126 ? -126 : exponent) - 23);
  if (formula.slack != nullptr && std::isfinite(x)) allowed += formula.slack(x);
  const double error = std::fabs(got - want);
  return error == 0 ? 0 : allowed == 0 ? kTooMuch : error / allowed;
}

/// Every `step`-th float, and those that are special.
inline Worst check(const Formula& formula, Isa isa, uint32_t step) {
  constexpr int kMost = 61;  // whole vectors of every instruction set, and a part of one
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const float special[] = {
      0.0f, -0.0f, kInf, -kInf, std::numeric_limits<float>::quiet_NaN(), 0x1p-149f, -0x1p-149f,
      0x1.fffffcp-127f, -0x1.fffffcp-127f, 0x1p-126f, -0x1p-126f, 0x1.fffffep127f, -0x1.fffffep127f,
      1.0f, -1.0f, 3.0f, -3.0f, 0.927734375f, 4.0f, 20.0f, -20.0f, 88.7f, 89.5f, -87.3f, -87.5f,
      -103.0f, -104.5f,
      // neighbours of 1, where functions begin or end or are 0
      0x1.fffffep-1f, 0x1.000002p0f, -0x1.000002p0f, 0.5f,
      // multiples of pi/2 and where their reduction changes
      0x1.921fb6p0f, 0x1.921fb6p1f, 0x1.921fb6p20f, 8388608.0f, -8388609.0f, 0x1p40f,
      // where sinh and cosh overflow, and asinh and acosh change
      89.3f, -89.5f, 4096.0f, 4096.5f};
  Worst worst;
  float x[kMost], y[kMost];
  int count = 0;
  const auto flush = [&] {
    formula.run(isa, x, y, count);
    for (int i = 0; i < count; ++i) {
      const double want = formula.exact(x[i]);
      const double used = used_by(formula, x[i], y[i], want);
      if (used > worst.used) worst = {used, x[i], y[i], want};
    }
    count = 0;
  };
  const auto add = [&](float value) {
    x[count++] = value;
    if (count == kMost) flush();
  };
  for (const float value : special) add(value);
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += step) {
    add(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  }
  flush();
  return worst;
}

}  // namespace intarsia::test
