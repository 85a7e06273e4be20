// SPDX-License-Identifier: Apache-2.0
//
// Pow: z = x^y with broadcasting, core/operators/elementwise/binary_arithmetic.h. An integer base
// to a negative integer exponent is an error, as in numpy. The output may be the base. Variant
// "fast", of floats: math/vector_math.h, and plain loops for the commonest exponents.
// Specification: https://onnx.ai/onnx/operators/onnx__Pow.html
#include <cmath>
#include <limits>

#include "core/kernel_list.h"
#include "kernels_cpu/elementwise/binary_run.h"
#include "kernels_cpu/elementwise/float_blocks.h"
#include "kernels_cpu/math/vector_math.h"

namespace intarsia::cpu {
namespace {

template <class T, class U>
struct Pow {
  static constexpr KernelId id{PowOp::name, "", {kernel_type_of<T>, kernel_type_of<U>}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context) {
    constexpr KernelType t = kernel_type_of<T>;
    return check_broadcast(
        context, {.inputs = {t, kernel_type_of<U>}, .required_inputs = 2, .outputs = {t}});
  }
  static Status run(const KernelContext& context) {
    using Base = Element<T>;
    using Exponent = Element<U>;
    if constexpr (std::is_integral_v<T> && std::is_integral_v<U> && std::is_signed_v<U>) {
      const U* exponents = context.input(1).as<U>();
      for (int64_t i = 0, count = context.input(1).count(); i < count; ++i) {
        if (exponents[i] < 0) {
          return context.fail(Code::kInvalidValue, "exponent of an integer base", 0, exponents[i],
                              1);
        }
      }
    }
    compute_broadcast<Base, Exponent, Base, false>(
        context,
        [](typename Base::Value x, typename Exponent::Value y) { return PowOp::apply(x, y, {}); });
    return {};
  }
};

/// z = x to a power that a loop of its own serves; false for others.
bool power_by_loop(const float* x, float power, float* z, int64_t n) {
  const auto loop = [=](auto function) {
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) z[i] = function(x[i]);
    return true;
  };
  if (power == 2) return loop([](float v) { return v * v; });
  if (power == 3) return loop([](float v) { return v * v * v; });
  if (power == 1) return loop([](float v) { return v; });
  if (power == -1) return loop([](float v) { return 1 / v; });
  // Unlike the root, the power of -0 is +0 and that of minus infinity is infinity.
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  if (power == 0.5f) {
    return loop([](float v) { return v == -kInfinity ? kInfinity : std::sqrt(v + 0.0f); });
  }
  return false;
}

template <class T>
struct FastPow {
  static constexpr KernelId id{PowOp::name, "fast", {kernel_type_of<T>, kernel_type_of<T>}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context) { return Pow<T, T>::check(context); }
  static Status run(const KernelContext& context) {
    const Isa isa = context.isa();
    const auto pow = pick_vector_math(isa, [](auto math) { return &decltype(math)::pow; });
    const bool same = context.input(1).count() == 1;
    compute_float_blocks<T>(context, [=](const float* x, const float* y, float* z, int64_t n) {
      bool done = false;
      if (same) on_isa(isa, [&done, x, y, z, n] { done = power_by_loop(x, *y, z, n); });
      if (!done) pow(x, y, z, n);
    });
    return {};
  }
};

}  // namespace

extern const KernelList binary_pow_kernels;
constinit const KernelList binary_pow_kernels =
    kernel_list<EachPair<Pow, Join<Floats, Types<int32_t, int64_t>>, Numbers>,
                Each<FastPow, Types<float, Float16, BFloat16>>>();

}  // namespace intarsia::cpu
