// SPDX-License-Identifier: Apache-2.0
//
// Subnormal numbers among weights that a kernel packs: beside ordinary ones they count for nothing,
// for their products take a hundred times as long; where nothing else is there, they count.
#include <gtest/gtest.h>

#include <algorithm>

#include "test/converter/fused_model.h"

namespace intarsia::test {
namespace {

using converter::OnnxBuilder;

constexpr int64_t kTerms = 40, kColumns = 33, kSubnormal = 7;
constexpr float kLarge = 1e30f;

/// Weights of one size, of which a row is subnormal.
std::vector<float> weights(float size) {
  std::vector<float> numbers;
  for (int64_t i = 0; i < kTerms * kColumns; ++i) {
    numbers.push_back(i / kColumns == kSubnormal ? 1e-40f : size);
  }
  return numbers;
}

/// The largest of the products of a row that is 0 but for what meets the subnormal weights.
float product_of(float size) {
  OnnxBuilder model;
  model.input("x", {1, kTerms});
  model.floats("w", {kTerms, kColumns}, weights(size));
  model.node("MatMul", {"x", "w"}, {"y"});
  model.output("y");
  std::vector<float> x(kTerms, 0.0f);
  x[kSubnormal] = kLarge;
  return std::ranges::max(run(model, x));
}

/// The same by a convolution of one pixel, whose weights lie the other way round.
float convolution_of(float size) {
  OnnxBuilder model;
  const std::vector<float> rows = weights(size);
  std::vector<float> filters;
  for (int64_t n = 0; n < kColumns; ++n) {
    for (int64_t k = 0; k < kTerms; ++k) {
      filters.push_back(rows[static_cast<size_t>(k * kColumns + n)]);
    }
  }
  model.input("x", {1, kTerms, 2, 2});
  model.floats("w", {kColumns, kTerms, 1, 1}, filters);
  model.node("Conv", {"x", "w"}, {"y"});
  model.output("y");
  std::vector<float> x(kTerms * 4, 0.0f);
  std::fill_n(x.begin() + kSubnormal * 4, 4, kLarge);
  return std::ranges::max(run(model, x));
}

TEST(SubnormalWeights, CountForNothingBesideOrdinaryOnes) {
  EXPECT_EQ(product_of(1), 0);
  EXPECT_EQ(convolution_of(1), 0);
}

TEST(SubnormalWeights, CountWhereAllAreSmall) {
  EXPECT_NEAR(product_of(1e-30f), 1e-10, 1e-14);
  EXPECT_NEAR(convolution_of(1e-30f), 1e-10, 1e-14);
}

}  // namespace
}  // namespace intarsia::test
