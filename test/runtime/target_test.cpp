// SPDX-License-Identifier: Apache-2.0
//
// `--target` and `--plan-growth`: how much a packed weight may exceed the weight itself.
#include "test/runtime/small_plan.h"

namespace intarsia::test {
namespace {

converter::ConvertOptions for_target(std::string target, std::optional<double> growth = {}) {
  converter::ConvertOptions options;
  options.target = std::move(target);
  options.plan_growth = growth;
  return options;
}

uint64_t weights_bytes(SmallPlan& plan) {
  return plan_info(plan.plan()).value().weights_bytes;
}

float first_output(SmallPlan& plan) {
  Session session = plan.open().value();
  const std::span<float> x = session.input<float>(0).value();
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i + 1);
  EXPECT_TRUE(session.run().ok());
  return session.output<float>(0).value()[0];
}

// Four columns are padded to the sixteen of a panel: a factor of four.
TEST(Target, CortexMKeepsWeightsAtTheirOwnSize) {
  SmallPlan generic(mlp()), cortex(mlp(), for_target("cortex-m"));
  EXPECT_GE(weights_bytes(generic), 3 * 16 * sizeof(float));
  EXPECT_LT(weights_bytes(cortex), 3 * 16 * sizeof(float));
  EXPECT_FLOAT_EQ(first_output(generic), first_output(cortex));
}

TEST(Target, PlanGrowthOverridesTheTarget) {
  SmallPlan generic(mlp()), below(mlp(), for_target("generic", 3.9));
  SmallPlan cortex(mlp(), for_target("cortex-m", 4.0));
  EXPECT_LT(weights_bytes(below), weights_bytes(generic));
  EXPECT_EQ(weights_bytes(cortex), weights_bytes(generic));
}

TEST(Target, UnknownOnesAreRefused) {
  EXPECT_EQ(conversion_error(mlp(), for_target("z80")),
            "--target z80: no such target; the targets are generic, x86-64-v3, x86-64-v4, aarch64, "
            "cortex-m");
}

}  // namespace
}  // namespace intarsia::test
