// SPDX-License-Identifier: Apache-2.0
//
// Formulas of codes without divisions, beside what DequantizeLinear, Add or Mul, and QuantizeLinear
// say of every pair of codes.
#include "converter/passes/code_formulas.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

namespace intarsia::converter {
namespace {

/// Calls body(a, b) for all codes of the type.
template <class T, class Body>
void for_codes(const Body& body) {
  using L = std::numeric_limits<T>;
  for (int a = L::min(); a <= L::max(); ++a) {
    for (int b = L::min(); b <= L::max(); ++b) body(static_cast<float>(a), static_cast<float>(b));
  }
}

template <class T>
float saturated(float number) {
  using L = std::numeric_limits<T>;
  return std::clamp<float>(number, L::min(), L::max());
}

template <class T>
DequantizedNumbers draw(std::mt19937& engine) {
  using L = std::numeric_limits<T>;
  const auto zero = [&] {
    return static_cast<float>(std::uniform_int_distribution<>(L::min(), L::max())(engine));
  };
  const auto scale = [&] { return std::uniform_real_distribution<float>(0.003f, 0.1f)(engine); };
  DequantizedNumbers by{};
  by.a_zero = zero(), by.a_scale = scale();
  by.b_zero = zero(), by.b_scale = scale();
  by.scale = scale(), by.zero = zero();
  return by;
}

/// How many of the pairs become another code.
template <class T>
int differing(const DequantizedNumbers& by, const std::array<float, 3>& sum) {
  int count = 0;
  for_codes<T>([&](float a, float b) {
    const float number = (a - by.a_zero) * by.a_scale + (b - by.b_zero) * by.b_scale;
    const float code = saturated<T>(std::nearbyint(number / by.scale) + by.zero);
    const float fused = std::fma(b, sum[2], std::fma(a, sum[0], sum[1]));
    for (const float other : {(a * sum[0] + sum[1]) + b * sum[2], fused}) {
      count += saturated<T>(std::nearbyint(other)) == code ? 0 : 1;
    }
  });
  return count;
}
template <class T>
int differing(const DequantizedNumbers& by, const std::array<float, 4>& product) {
  int count = 0;
  for_codes<T>([&](float a, float b) {
    const float number = (a - by.a_zero) * by.a_scale * ((b - by.b_zero) * by.b_scale);
    const float code = saturated<T>(std::nearbyint(number / by.scale) + by.zero);
    const float other = (a - product[0]) * (b - product[1]) * product[2] + product[3];
    count += saturated<T>(std::nearbyint(other)) == code ? 0 : 1;
  });
  return count;
}

template <class T>
void expect_same_codes(DataType type) {
  std::mt19937 engine(11);
  int sums = 0, products = 0;
  constexpr int kTrials = 12;
  for (int trial = 0; trial < kTrials; ++trial) {
    DequantizedNumbers by = draw<T>(engine);
    // Numbers in the middle between two codes.
    if (trial % 4 == 0) by.a_scale = by.b_scale = 0.5f, by.scale = 1;
    if (const auto sum = as_sum_of_codes(type, by)) {
      EXPECT_EQ(differing<T>(by, *sum), 0);
      ++sums;
    }
    if (const auto product = as_product_of_codes(type, by)) {
      EXPECT_EQ(differing<T>(by, *product), 0);
      ++products;
    }
  }
  EXPECT_GE(sums, kTrials - 2);
  EXPECT_GE(products, kTrials - 2);
}

TEST(CodeFormulas, GiveTheSameCodes) {
  expect_same_codes<uint8_t>(DataType::kUint8);
  expect_same_codes<int8_t>(DataType::kInt8);
}

TEST(CodeFormulas, NumbersThatOverflowHaveNone) {
  const DequantizedNumbers by{3, 1e38f, 5, 1e38f, 1, 0};
  EXPECT_FALSE(as_sum_of_codes(DataType::kUint8, by));
  EXPECT_FALSE(as_product_of_codes(DataType::kUint8, by));
}

}  // namespace
}  // namespace intarsia::converter
