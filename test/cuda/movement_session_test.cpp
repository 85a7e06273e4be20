// SPDX-License-Identifier: Apache-2.0
//
// Movement and indexing in sessions over the emulator: lists that the host reads, failures that
// device code reports.
#include "test/cuda/cuda_plan.h"

namespace intarsia::test {
namespace {

void integers(OnnxBuilder& model, const std::string& name, const std::vector<int64_t>& values) {
  model.initializer(name, DataType::kInt64, {static_cast<int64_t>(values.size())}, values.data(),
                    values.size() * sizeof(int64_t));
}

/// Starts, pads and sizes from the plan, where the host reads them when graphs are captured.
TEST(CudaMovement, ListsAreConstantsOfThePlan) {
  OnnxBuilder model;
  model.input("x", {2, 5, 7});
  model.output("y");
  integers(model, "starts", {1, -1});
  integers(model, "ends", {4, -7});
  integers(model, "axes", {1, 2});
  integers(model, "steps", {1, -2});
  integers(model, "pads", {0, 1, 2, 1, 0, 1});
  integers(model, "sizes", {3, 4, 9});
  model.node("Slice", {"x", "starts", "ends", "axes", "steps"}, {"s"});
  OnnxBuilder::set(model.node("Pad", {"s", "pads"}, {"p"}), "mode", "reflect");
  OnnxBuilder::set(model.node("Resize", {"p", "", "", "sizes"}, {"y"}), "mode", "linear");
  expect_same_as_cpu(model, 1);
}

TEST(CudaMovement, AListThatIsComputedLeavesItsNodeOnTheHost) {
  OnnxBuilder model;
  model.input("x", {5, 7});
  model.input("starts", {1}, DataType::kInt64);
  model.output("y");
  integers(model, "one", {1});
  model.node("Add", {"starts", "one"}, {"ends"});
  model.node("Slice", {"x", "starts", "ends"}, {"s"});
  model.node("Exp", {"s"}, {"y"});
  emulation::Emulator::get().reset();
  const CudaPlan plan(model);
  std::string text;
  for (const std::string& warning : plan.conversion.warnings) text += warning + "\n";
  EXPECT_NE(text.find("(Slice) runs on the CPU"), std::string::npos) << text;
}

/// Columns and rows, at indices that are an input.
OnnxBuilder two_gathers() {
  OnnxBuilder model;
  model.input("x", {3, 5});
  model.input("at", {4}, DataType::kInt64);
  model.output("y");
  model.output("z");
  OnnxBuilder::set(model.node("Gather", {"x", "at"}, {"y"}), "axis", int64_t{1});
  OnnxBuilder::set(model.node("Gather", {"x", "at"}, {"z"}), "axis", int64_t{0});
  return model;
}

TEST(CudaIndexing, ASessionSaysWhichNodeFailsAndWhyAsOnTheCpu) {
  emulation::Emulator::get().reset();
  const OnnxBuilder model = two_gathers();
  CudaPlan plan(model);
  SmallPlan cpu(model);
  auto session = plan.open_on_device();
  auto reference = cpu.open();
  ASSERT_TRUE(session.ok() && reference.ok()) << plan.text(plan.diagnostic);
  EXPECT_EQ(session->graph_count(), 1);
  const auto run = [](auto& opened, const std::vector<int64_t>& indices) {
    for (float& value : opened.template input<float>(0).value()) value = 1;
    const auto input = opened.template input<int64_t>(1).value();
    std::copy(indices.begin(), indices.end(), input.begin());
    return opened.run();
  };
  // Of the second node alone, where its axis is shorter; of both; below the axis.
  for (const auto& indices : {std::vector<int64_t>{0, 4, -3, 3}, std::vector<int64_t>{0, 7, 5, -9},
                              std::vector<int64_t>{0, -8, -6, 1}}) {
    ASSERT_TRUE(run(*session, {0, 1, 2, -3}).ok());
    EXPECT_EQ(run(*session, indices).code(), Code::kIndexOutOfRange);
    EXPECT_EQ(run(*reference, indices).code(), Code::kIndexOutOfRange);
    const Diagnostic& found = session->diagnostic();
    const Diagnostic& expected = reference->diagnostic();
    EXPECT_STREQ(found.what, expected.what);
    EXPECT_EQ(found.expected, expected.expected);
    EXPECT_EQ(found.found, expected.found);
    EXPECT_EQ(found.operand, expected.operand);
    EXPECT_EQ(found.axis, expected.axis);
    // Copies are nodes too: the same node has another number.
    const std::string text = plan.text(found), wanted = cpu.text(expected);
    EXPECT_EQ(text.substr(text.find('\'')), wanted.substr(wanted.find('\'')));
  }
}

}  // namespace
}  // namespace intarsia::test
