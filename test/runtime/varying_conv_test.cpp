// SPDX-License-Identifier: Apache-2.0
//
// Convolutions of images whose size varies: every size up to the planned one, each compared with
// the plan of reference kernels. Smaller images may be cut into longer blocks than larger ones, so
// workspace must suffice for all.
#include <random>

#include "test/runtime/small_plan.h"

namespace intarsia::test {
namespace {

struct Case {
  const char* name;
  int64_t channels, filters, kernel, stride, dilation;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

std::vector<float> random_floats(int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> value(-1, 1);
  std::vector<float> values(static_cast<size_t>(count));
  for (float& v : values) v = value(random);
  return values;
}

converter::OnnxBuilder model_of(const Case& c) {
  converter::OnnxBuilder model;
  symbol(model.input("x", {1, c.channels, 0, 0}), 2, "h");
  symbol(*model.graph().mutable_input(0), 3, "w");
  model.output("y");
  model.floats("w0", {c.filters, c.channels, c.kernel, c.kernel},
               random_floats(c.filters * c.channels * c.kernel * c.kernel, 1));
  auto& node = model.node("Conv", {"x", "w0"}, {"y"});
  const int64_t pad = c.dilation * (c.kernel - 1) / 2;
  model.set(node, "strides", std::vector<int64_t>{c.stride, c.stride});
  model.set(node, "dilations", std::vector<int64_t>{c.dilation, c.dilation});
  model.set(node, "pads", std::vector<int64_t>{pad, pad, pad, pad});
  return model;
}

class VaryingConv : public testing::TestWithParam<Case> {};

TEST_P(VaryingConv, EverySizeUpToTheMaximum) {
  const Case& c = GetParam();
  converter::ConvertOptions options;
  options.dims["h"] = converter::DimRange{1, 33};
  options.dims["w"] = converter::DimRange{1, 70};
  SmallPlan fast(model_of(c), options);
  const std::vector<converter::Pass> slow = converter::passes_without({"kernels"});
  options.passes = slow;
  SmallPlan reference(model_of(c), options);
  Session session = fast.open().value();
  Session yardstick = reference.open().value();
  for (int32_t h = 1; h <= 33; h += 4) {
    for (int32_t w = 1; w <= 70; w += 3) {
      const int32_t extents[] = {1, static_cast<int32_t>(c.channels), h, w};
      const std::vector<float> x = random_floats(c.channels * h * w, static_cast<unsigned>(h * w));
      for (Session* each : {&session, &yardstick}) {
        ASSERT_TRUE(each->resize_input(0, extents).ok());
        write(*each, 0, x);
      }
      ASSERT_TRUE(session.run().ok()) << h << " x " << w << ": " << fast.text(session.diagnostic());
      ASSERT_TRUE(yardstick.run().ok());
      const std::vector<float> y = read(session, 0), expected = read(yardstick, 0);
      ASSERT_EQ(y.size(), expected.size());
      for (size_t i = 0; i < y.size(); ++i) {
        // At most 16 * 9 terms of at most 1: rounding stays below 144 * 2^-24 * sqrt(144).
        ASSERT_NEAR(y[i], expected[i], 1e-4) << h << " x " << w << ", element " << i;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, VaryingConv,
    testing::Values(Case{"strip", 3, 8, 3, 1, 1}, Case{"strip_7", 3, 8, 7, 2, 1},
                    Case{"taps", 16, 24, 3, 1, 1}, Case{"dilated", 4, 8, 3, 1, 2},
                    Case{"product", 16, 24, 1, 1, 1}, Case{"strided", 16, 8, 1, 2, 1}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace intarsia::test
