// SPDX-License-Identifier: Apache-2.0
//
// The converter's choice of the order of execution.
#include "test/runtime/small_plan.h"

namespace intarsia::test {
namespace {

constexpr int kBranches = 6;
constexpr int kWide = 1000;

/// Each branch widens x to a thousand elements and adds them up; the model lists all wide products
/// first, so that in the given order all of them are live at once.
converter::OnnxBuilder wide_branches() {
  converter::OnnxBuilder model;
  model.input("x", {1, 1});
  model.output("y");
  std::vector<std::string> sums;
  for (int branch = 0; branch < kBranches; ++branch) {
    const std::string number = std::to_string(branch);
    std::vector<float> weights(kWide, static_cast<float>(branch + 1));
    model.floats("w" + number, {1, kWide}, weights);
    model.node("MatMul", {"x", "w" + number}, {"wide" + number});
  }
  for (int branch = 0; branch < kBranches; ++branch) {
    const std::string number = std::to_string(branch);
    model.node("ReduceSum", {"wide" + number}, {"sum" + number});
    sums.push_back("sum" + number);
  }
  model.node("Sum", sums, {"y"});
  return model;
}

TEST(Order, BranchesRunOneAfterAnother) {
  converter::ConvertOptions given;
  const std::vector<converter::Pass> passes = converter::passes_without({"order"});
  given.passes = passes;
  SmallPlan kept(wide_branches(), given), chosen(wide_branches());
  constexpr uint64_t kWideBytes = kWide * sizeof(float);
  EXPECT_GT(kept.arena().size(), kBranches * kWideBytes);
  EXPECT_LT(chosen.arena().size(), 2 * kWideBytes);
  for (SmallPlan* plan : {&kept, &chosen}) {
    Session session = plan->open().value();
    write(session, 0, {2});
    ASSERT_TRUE(session.run().ok());
    EXPECT_EQ(read(session, 0), std::vector<float>{2 * kWide * (1 + 2 + 3 + 4 + 5 + 6)});
  }
}

}  // namespace
}  // namespace intarsia::test
