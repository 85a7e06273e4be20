// SPDX-License-Identifier: Apache-2.0
//
// Dropout: how much is dropped, what becomes of the rest, and outside of training nothing.
#include <numeric>

#include "core/operators/random/random.h"
#include "intarsia/small_types.h"
#include "test/kernels/common/kernel_harness.h"

namespace intarsia::test {
namespace {

constexpr int32_t kMany = 1 << 18;

DropoutAttributes seeded(int64_t seed) {
  DropoutAttributes attributes;
  attributes.seed = seed;
  return attributes;
}

template <class T>
class Dropouts : public ::testing::Test {};
using Reals = ::testing::Types<float, double, Float16, BFloat16>;
TYPED_TEST_SUITE(Dropouts, Reals);

TYPED_TEST(Dropouts, DropTheirRatioAndScaleTheRest) {
  const std::string kernel = kernel_name("Dropout", {data_type_of<TypeParam>});
  std::mt19937 engine(1);
  const std::vector<TypeParam> x = random_values<TypeParam>(kMany, engine, -3, 3);
  for (const float ratio : {0.125F, 0.5F, 0.75F}) {
    for (const bool in_place : {false, true}) {
      for (const int threads : {1, 3}) {
        Node node;
        node.input<TypeParam>({kMany}, x);
        node.input<float>({}, {ratio}).input<bool>({1}, {true}).attributes(seeded(4));
        node.output(data_type_of<TypeParam>, {kMany}).output(DataType::kBool, {kMany});
        node.threads(threads).isa(threads == 1 ? Isa::kPortable : detect_isa());
        if (in_place) node.in_place(0);
        ASSERT_TRUE(node.run(kernel).ok());
        const std::vector<double> y = node.numbers(), mask = node.numbers(1);
        const double kept = std::accumulate(mask.begin(), mask.end(), 0.0) / kMany;
        const double expected = 1 - static_cast<double>(ratio);
        EXPECT_NEAR(kept, expected, 4 * std::sqrt(expected * (1 - expected) / kMany));
        for (size_t i = 0; i < y.size(); ++i) {
          const double scaled = mask[i] * as_double<TypeParam>(x[i]) / expected;
          ASSERT_NEAR(y[i], scaled, 2 * epsilon_of<TypeParam>() * std::fabs(scaled) + 0x1p-24);
        }
      }
    }
  }
}

TEST(Dropout, NeedsNoMaskAndNoRatio) {
  const std::vector<float> x(1000, 1.0F);
  Node with, without;
  with.input<float>({1000}, x).input<double>({}, {0.5}).input<bool>({}, {true});
  with.output<float>({1000}).output<bool>({1000}).attributes(seeded(-7));
  without.input<float>({1000}, x).absent().input<bool>({}, {true});
  without.output<float>({1000}).attributes(seeded(-7));
  ASSERT_TRUE(with.run("Dropout<float>").ok());
  ASSERT_TRUE(without.run("Dropout<float>").ok());
  EXPECT_EQ(with.result<float>(), without.result<float>());
  for (float y : without.result<float>()) ASSERT_TRUE(y == 0 || y == 2);
}

TEST(Dropout, DrawsAnewAtEachExecution) {
  const auto run = [](int executions, int64_t seed) {
    Node node;
    node.input<float>({1000}, std::vector<float>(1000, 1.0F)).absent().input<bool>({}, {true});
    node.output<float>({1000}).attributes(seeded(seed)).executions(executions);
    EXPECT_TRUE(node.run("Dropout<float>").ok());
    return node.result<float>();
  };
  EXPECT_EQ(run(1, 1), run(1, 1));
  EXPECT_NE(run(1, 1), run(2, 1));
  EXPECT_NE(run(1, 1), run(1, 2));
}

TEST(Dropout, OutsideTrainingIsAnIdentityWithATrueMask) {
  for (const Dims& dims : {Dims{2, 3}, Dims{}, Dims{0, 4}}) {
    const auto count = static_cast<size_t>(count_of(dims));
    std::vector<float> x(count);
    std::iota(x.begin(), x.end(), 1.0f);
    for (const bool training : {false, true}) {  // in training nothing is dropped either
      Node node;
      node.input<float>(dims, x).input<float>({}, {training ? 0.0F : 0.5F});
      node.input<bool>({}, {training}).output<float>(dims).output<bool>(dims);
      ASSERT_TRUE(node.attributes(seeded(1)).run("Dropout<float>").ok());
      EXPECT_EQ(node.result<float>(), x);
      EXPECT_EQ(node.numbers(1), std::vector<double>(count, 1.0));
    }
  }
}

TEST(Dropout, OfEightBitNumbers) {
  for (const DataType type : {DataType::kFloat8E4M3FN, DataType::kFloat8E4M3FNUZ,
                              DataType::kFloat8E5M2, DataType::kFloat8E5M2FNUZ}) {
    const FloatFormat format = float_format(type);
    const uint8_t one = encode_float(format, 1, true), half = encode_float(format, 0.5F, true);
    // The harness has no such types: bytes with another name.
    Node node;
    node.input<uint8_t>({100}, std::vector<uint8_t>(100, one)).input<uint8_t>({}, {half});
    node.input<bool>({}, {true}).output<uint8_t>({100}).attributes(seeded(1));
    node.retype_input(0, type).retype_input(1, type).retype_output(0, type);
    ASSERT_TRUE(node.run(kernel_name("Dropout", {type})).ok());
    int kept = 0;
    for (uint8_t code : node.result<uint8_t>()) {
      const float y = decode_float(format, code);
      ASSERT_TRUE(y == 0 || y == 2) << y;
      kept += y == 2 ? 1 : 0;
    }
    EXPECT_NEAR(kept, 50, 20);
  }
}

TEST(Dropout, RefusesARatioThatIsNone) {
  for (const float ratio : {1.0F, 1.5F, -0.1F, NAN}) {
    Node node;
    node.input<float>({2}, {1, 2}).input<float>({}, {ratio}).input<bool>({}, {true});
    node.output<float>({2}).attributes(seeded(1));
    EXPECT_EQ(node.run("Dropout<float>").code(), Code::kInvalidValue) << ratio;
    Node idle;  // where it has no meaning
    idle.input<float>({2}, {1, 2}).input<float>({}, {ratio}).output<float>({2});
    EXPECT_TRUE(idle.attributes(seeded(1)).run("Dropout<float>").ok()) << ratio;
  }
}

TEST(DropoutRefused, OperandsOfOtherTypesAndExtents) {
  Node mask;
  mask.input<float>({2}, {1, 2}).output<float>({2}).output<bool>({3}).attributes(seeded(1));
  EXPECT_EQ(mask.check("Dropout<float>").code(), Code::kWrongExtent);
  Node ratio;
  ratio.input<float>({2}, {1, 2}).input<int32_t>({}, {0}).output<float>({2}).attributes(seeded(1));
  EXPECT_EQ(ratio.check("Dropout<float>").code(), Code::kWrongType);
  Node several;
  several.input<float>({2}, {1, 2}).input<float>({2}, {0, 0}).output<float>({2});
  EXPECT_FALSE(several.attributes(seeded(1)).check("Dropout<float>").ok());
}

}  // namespace
}  // namespace intarsia::test
