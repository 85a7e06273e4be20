// SPDX-License-Identifier: Apache-2.0
//
// The algebra of symbolic extents: canonical forms, division, bounds, and agreement with the
// arithmetic on numbers.
#include "core/definitions/dim.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "intarsia/checked_int.h"
#include "test/slow_build.h"

namespace intarsia::definitions {

// Found by GoogleTest when an expectation fails.
static void PrintTo(const Dim& dim, std::ostream* stream) {
  *stream << dim.to_string();
}

namespace {

class DimTest : public testing::Test {
 protected:
  SymbolTable table_;
  Dim n_ = table_.add("N", 1, 16);
  Dim c_ = table_.add("C", 1, 8);
  Dim h_ = table_.add("H", 32, 640);
  Dim zero_or_more_ = table_.add("Z", 0, 9);
  Dim any_ = table_.add("A");
};

TEST_F(DimTest, EqualFormsAreEqual) {
  EXPECT_EQ((n_ + c_) * (n_ - c_), n_ * n_ - c_ * c_);
  EXPECT_EQ(n_ * c_ * 2, c_ + c_ * n_ * 2 - c_);
  EXPECT_EQ(n_ - n_, Dim(0));
  EXPECT_FALSE(n_ == c_);
  EXPECT_FALSE(n_ * n_ == n_);
  EXPECT_TRUE((n_ + 3 - n_).is_constant());
  EXPECT_EQ((n_ + 3 - n_).constant(), 3);
}

TEST_F(DimTest, DivisionIsExactWherePossible) {
  EXPECT_EQ(floor_div(n_ * c_ * 12, n_ * 4), c_ * 3);
  EXPECT_EQ(floor_div(n_ * n_ - 1, n_ + 1), n_ - 1);
  EXPECT_EQ(floor_div(n_ * 3 + 5, 2), n_ + 2 + floor_div(n_ + 1, 2));
  EXPECT_EQ(floor_div(n_ * 6 + 5, 6), n_);
  EXPECT_EQ(floor_div(n_ * 4 + 6, 8), floor_div(n_ * 2 + 3, 4));
  EXPECT_EQ(floor_div(n_ * 4 + 7, 8), floor_div(n_ + 1, 2));
  EXPECT_EQ(floor_div(floor_div(h_, 2) + 3, 4), floor_div(h_ + 6, 8));
  EXPECT_EQ(floor_div(n_ * c_ + 2, n_), c_ + floor_div(Dim(2), n_));
  EXPECT_EQ(ceil_div(n_ * 8, 4), n_ * 2);
  EXPECT_EQ(floor_div(n_, n_ + 1), Dim(0));
}

/// What depends on values is bounded by what went before, node for node of a chain: the terms would
/// be compared with each other at each.
TEST_F(DimTest, LongChainsOfUnknownsStayShort) {
  Dim least = c_ * 2, most = c_ * 2;
  for (int i = 0; i < 2000; ++i) {
    least = dim_min(least, Dim::unknown(0));
    most = dim_max(most, Dim::unknown(3, 20));
    ASSERT_LT(least.to_string().size(), 600U);
    ASSERT_LT(most.to_string().size(), 600U);
  }
  EXPECT_EQ(least.lower(), 0);
  EXPECT_EQ(least.upper(), 16);
  EXPECT_EQ(most.lower(), 3);
  EXPECT_EQ(most.upper(), 20);
}

TEST_F(DimTest, ADivisorThatMayBeZeroDoesNotCancel) {
  EXPECT_FALSE(floor_div(zero_or_more_ * 3, zero_or_more_) == Dim(3));
  const std::vector<int64_t> assignment = {1, 1, 32, 0};
  EXPECT_EQ(floor_div(zero_or_more_ * 3, zero_or_more_).evaluate(assignment), 0);
}

TEST_F(DimTest, StrideTwoChainsCollapse) {
  // Five convolutions of kernel 3, padding 1, stride 2.
  Dim extent = h_;
  for (int i = 0; i < 5; ++i) extent = floor_div(extent - 1, 2) + 1;
  EXPECT_EQ(extent, floor_div(h_ + 31, 32));
  EXPECT_EQ(extent.lower(), 1);
  EXPECT_EQ(extent.upper(), 20);
}

TEST_F(DimTest, PaddingToAMultipleCancels) {
  const auto mod = [](const Dim& a, const Dim& b) { return a - b * floor_div(a, b); };
  const Dim padding = mod(Dim(8) - mod(h_, 8), 8);
  EXPECT_EQ(padding.lower(), 0);
  EXPECT_EQ(padding.upper(), 7);
  EXPECT_EQ(h_ + padding, ceil_div(h_, 8) * 8);
}

TEST_F(DimTest, BoundsSeeCorrelation) {
  EXPECT_EQ((h_ - h_ * 2).upper(), -32);
  EXPECT_EQ((h_ - floor_div(h_, 2)).lower(), 16);
  EXPECT_EQ((h_ - floor_div(h_, 2)).upper(), 320);
  EXPECT_EQ((h_ - dim_min(h_, 40)).lower(), 0);
  EXPECT_EQ((h_ - dim_min(h_, 40)).upper(), 600);
  EXPECT_EQ((n_ * n_ - n_).lower(), 0);
  EXPECT_EQ((n_ * n_ - n_).upper(), 240);
  EXPECT_EQ(dim_max(any_, 4).upper(), kInfinite);
  EXPECT_EQ((any_ * 4 + 1).lower(), 5);
  EXPECT_EQ((any_ - h_).upper(), kInfinite);
  EXPECT_EQ((Dim(5) - any_).lower(), -kInfinite);
}

TEST_F(DimTest, ExtremaDropWhatIsDominated) {
  EXPECT_EQ(dim_max(h_, 8), h_);
  EXPECT_EQ(dim_min(h_, 8), Dim(8));
  EXPECT_EQ(dim_max(n_ + 1, n_), n_ + 1);
  EXPECT_EQ(dim_max(n_, c_), dim_max(c_, n_));
  EXPECT_EQ(dim_max(dim_max(n_, c_), n_), dim_max(n_, c_));
  EXPECT_EQ(dim_max(dim_max(n_, c_), h_), h_);
}

TEST_F(DimTest, BroadcastTakesTheExtentThatDecides) {
  EXPECT_EQ(dim_broadcast(n_, n_), n_);
  EXPECT_EQ(dim_broadcast(n_, 1), n_);
  EXPECT_EQ(dim_broadcast(n_, 5), Dim(5));
  EXPECT_EQ(dim_broadcast(n_, h_), h_);
  EXPECT_EQ(dim_broadcast(n_, c_), dim_broadcast(c_, n_));
  EXPECT_EQ(dim_broadcast(n_, c_).upper(), 16);
  EXPECT_EQ(dim_broadcast(zero_or_more_, n_).lower(), 0);
  EXPECT_EQ(dim_broadcast(zero_or_more_, n_).evaluate(std::vector<int64_t>{1, 1, 32, 0}), 0);
}

TEST_F(DimTest, UnknownValuesDiffer) {
  const Dim a = Dim::unknown(0, 7);
  EXPECT_EQ(a, a);
  EXPECT_FALSE(a == Dim::unknown(0, 7));
  EXPECT_TRUE((a * n_ + 1).has_unknown());
  EXPECT_EQ((a * n_ + 1).upper(), 113);
  EXPECT_FALSE((a * n_).evaluate(std::vector<int64_t>{1, 1, 32, 1}).has_value());
}

TEST_F(DimTest, EitherOfTwoKeepsHowItRelatesToThem) {
  const Dim count = Dim::unknown(0);
  EXPECT_EQ((dim_either(count, count + 3) - count).upper(), 3);
  EXPECT_EQ((dim_either(count + 3, count) - count).lower(), 0);
  EXPECT_EQ((dim_either(count, count + Dim::unknown(2, 5)) - count).upper(), 5);
  EXPECT_EQ(dim_either(count, 4).upper(), kInfinite);
  EXPECT_EQ(dim_either(n_, n_), n_);
  // Never wider than the two intervals.
  const Dim bounded = Dim::unknown(0, 8);
  EXPECT_EQ(dim_either(bounded, 3).upper(), 8);
  EXPECT_EQ(dim_either(bounded, bounded * 2).upper(), 16);
  EXPECT_EQ(dim_either(3, 5).lower(), 3);
  EXPECT_EQ(dim_either(3, 5).upper(), 5);
}

TEST_F(DimTest, ArithmeticSaturates) {
  EXPECT_EQ(Dim(kInfinite) + 1, Dim(kInfinite));
  EXPECT_EQ(Dim(std::numeric_limits<int64_t>::min()) - 1, Dim(-kInfinite));
  EXPECT_EQ(dim_min(n_, kInfinite), n_);
}

TEST_F(DimTest, SubstitutionSimplifies) {
  const Dim extent = floor_div(h_ + n_, 2) * c_;
  const Dim fixed =
      extent.substitute([&](int symbol) { return symbol == 1 ? Dim(3) : table_.dim(symbol); });
  EXPECT_EQ(fixed, floor_div(h_ + n_, 2) * 3);
  EXPECT_EQ(fixed.symbols(), (std::vector<int>{0, 2}));
}

TEST_F(DimTest, VariablesAreSymbolsAndUnknownValues) {
  const Dim found = Dim::unknown(1, 7);
  const Dim extent = dim_min(found * 2, n_) + floor_div(n_, found);
  const std::vector<DimVariable> variables = extent.variables();
  ASSERT_EQ(variables.size(), 2U);
  EXPECT_FALSE(variables[0].is_symbol);
  EXPECT_EQ(variables[0].upper, 7);
  EXPECT_EQ(Dim(3).variables().size(), 0U);
  const Dim value = extent.substitute([&](const DimVariable& variable) -> std::optional<Dim> {
    return variable.is_symbol ? 12 : 5;
  });
  EXPECT_EQ(value, 10 + 2);
  // What nothing is given for stays.
  const auto kept = [](const DimVariable&) -> std::optional<Dim> { return std::nullopt; };
  EXPECT_EQ(extent.substitute(kept), extent);
}

TEST_F(DimTest, TextIsReadable) {
  EXPECT_EQ((n_ * 3 + floor_div(h_, 2)).to_string(), "N*3 + floor(H/2)");
  EXPECT_EQ((Dim(1) - n_).to_string(), "-N + 1");
  EXPECT_EQ(floor_div(h_ + 1, 4).to_string(), "floor((H + 1)/4)");
  EXPECT_EQ(dim_max(n_, c_ * 2).to_string(), "max(C*2, N)");
  EXPECT_EQ(Dim(0).to_string(), "0");
  // Quotients of what has saturated have bounds, and no more.
  const Dim vast = n_ * kInfinite;
  EXPECT_EQ(floor_div(vast, kInfinite).upper(), kInfinite);
  EXPECT_EQ(floor_div(n_ + kInfinite, c_).upper(), kInfinite);
  EXPECT_EQ(floor_div(n_, kInfinite).upper(), 0);
  EXPECT_GE(floor_div(n_ * (kInfinite - 1) + c_ * 5, n_ * 3 + 1).upper(), 0);
}

/// A random expression next to its value for one assignment.
struct Pair {
  Dim dim;
  int64_t value;
};

class RandomExpression {
 public:
  RandomExpression(std::mt19937& random, std::vector<Pair> leaves)
      : random_(random), leaves_(std::move(leaves)) {}

  Pair operator()(int depth) {
    if (depth == 0) return leaves_[below(leaves_.size())];
    const Pair a = (*this)(depth - 1);
    const Pair b = (*this)(static_cast<int>(below(static_cast<size_t>(depth))));
    switch (below(7)) {
      case 0:
        return {a.dim + b.dim, a.value + b.value};
      case 1:
        return {a.dim - b.dim, a.value - b.value};
      case 2:
        return {a.dim * b.dim, a.value * b.value};
      case 3:
        return {floor_div(a.dim, b.dim), floor_div(CheckedInt(a.value), b.value).value()};
      case 4:
        return {ceil_div(a.dim, b.dim), ceil_div(CheckedInt(a.value), b.value).value()};
      case 5:
        return {dim_max(a.dim, b.dim), std::max(a.value, b.value)};
      default:
        return {dim_min(a.dim, b.dim), std::min(a.value, b.value)};
    }
  }

 private:
  size_t below(size_t count) { return random_() % count; }
  std::mt19937& random_;
  std::vector<Pair> leaves_;
};

TEST(DimProperty, ExpressionsAgreeWithNumbersAndLieWithinBounds) {
  std::mt19937 random(7);
  for (int round = 0; round < test::part_of(1000); ++round) {
    SymbolTable table;
    std::vector<Pair> leaves;
    std::vector<int64_t> assignment;
    for (int symbol = 0; symbol < 3; ++symbol) {
      const int64_t low = static_cast<int64_t>(random() % 3);
      const int64_t high = low + static_cast<int64_t>(random() % 6);
      assignment.push_back(low +
                           static_cast<int64_t>(random() % static_cast<size_t>(high - low + 1)));
      leaves.push_back({table.add(std::string(1, static_cast<char>('a' + symbol)), low, high),
                        assignment.back()});
    }
    for (int64_t constant : {-2, 1, 2, 3, 4}) leaves.push_back({constant, constant});
    const Pair pair = RandomExpression(random, leaves)(4);
    ASSERT_EQ(pair.dim.evaluate(assignment), pair.value) << pair.dim.to_string();
    ASSERT_LE(pair.dim.lower(), pair.value) << pair.dim.to_string();
    ASSERT_GE(pair.dim.upper(), pair.value) << pair.dim.to_string();
    const Pair other = RandomExpression(random, leaves)(2);
    const Dim either = dim_either(pair.dim, other.dim);
    ASSERT_LE(either.lower(), std::min(pair.value, other.value)) << either.to_string();
    ASSERT_GE(either.upper(), std::max(pair.value, other.value)) << either.to_string();
    ASSERT_EQ(either.lower(), std::min(pair.dim.lower(), other.dim.lower()));
    ASSERT_EQ(either.upper(), std::max(pair.dim.upper(), other.dim.upper()));
  }
}

}  // namespace
}  // namespace intarsia::definitions
