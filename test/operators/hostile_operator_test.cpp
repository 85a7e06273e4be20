// SPDX-License-Identifier: Apache-2.0
//
// Forged plans of operators of one's own: what `run` may rely on holds for them too, and a state is
// its node's alone. Meaningful under AddressSanitizer.
#include "test/operators/sample_models.h"
#include "test/runtime/forged_plan.h"

namespace intarsia::test {
namespace {

using converter::contains;
using converter::OnnxBuilder;

/// Two nodes with a state, and before them tensors and a workspace in the arena.
OnnxBuilder states() {
  OnnxBuilder model;
  model.input("x", {40});
  model.output("count");
  model.output("other");
  model.node("Sin", {"x"}, {"s"});
  sample_node(model, "Reverse", {"s"}, {"r"});
  sample_node(model, "Counter", {"s"}, {"count"});
  sample_node(model, "Counter", {"r"}, {"other"});
  return model;
}

class HostileState : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(plan.refusal(), "");
    for (uint32_t i = 0; i < plan.root().nodes()->size(); ++i) {
      const plan::Node& node = *plan.node(i);
      if ((node.shape() & kHasState) == 0) continue;
      (first == nullptr ? first : second) =
          plan.operand_tensor(i, uint32_t{node.inputs()} + node.outputs());
    }
    ASSERT_NE(second, nullptr);
  }
  void TearDown() override { EXPECT_EQ(sample::Counter::alive, 0); }

  ForgedPlan plan{states(), sample_options()};
  const plan::Tensor* first = nullptr;
  const plan::Tensor* second = nullptr;
};

TEST_F(HostileState, OfFewerBytesThanTheObjectIsRefused) {
  EXPECT_EQ(*plan.extent(first, 0), static_cast<int32_t>(sizeof(sample::Counter)));
  EXPECT_CONTAINS(with(plan, plan.extent(first, 0), 0, int32_t{1}),
                  "state bytes: expected 8, found 1");
}

TEST_F(HostileState, ThatANodeLacksIsRefused) {
  // The state becomes the node's second output.
  const plan::Node& node = *plan.node(3);
  const auto shape = static_cast<uint16_t>(node.shape() & ~kHasState);
  ASSERT_NE(shape, node.shape());
  const Forgery stateless(&node, field::kNodeShape, shape);
  EXPECT_NE(with(plan, &node, field::kNodeOutputs, uint16_t{2}), "");
}

TEST_F(HostileState, OfTwoNodesInOnePlaceIsRefused) {
  ASSERT_GT(second->place(), first->place());
  EXPECT_CONTAINS(with(plan, second, field::kTensorPlace, first->place()),
                  "place of the node's state");
}

/// No tensor that another node reads or writes may lie there, in whatever role, nor a port.
TEST_F(HostileState, UnderAnotherTensorIsRefused) {
  int tensors = 0, ports = 0;
  for (const plan::Tensor* tensor : *plan.root().tensors()) {
    if (tensor == first || tensor == second) continue;
    if (static_cast<Memory>(tensor->memory()) != Memory::kArena) continue;
    const std::string found = with(plan, tensor, field::kTensorPlace, first->place());
    EXPECT_TRUE(contains(found, "operand among the nodes' states") ||
                contains(found, "operands that overlap"))
        << found;
    ++tensors;
  }
  for (const plan::Slot* slot : *plan.root().slots()) {
    const std::string found = with(plan, slot, field::kSlotPlace, first->place());
    EXPECT_TRUE(contains(found, "among the nodes' states") ||
                contains(found, "operands that overlap"))
        << found;
    ++ports;
  }
  EXPECT_GE(tensors, 3) << "s, r and the workspace";
  EXPECT_EQ(ports, 3);
}

OnnxBuilder reverse() {
  OnnxBuilder model;
  model.input("x", {5}, DataType::kInt32);
  model.output("y");
  model.node("Neg", {"x"}, {"n"});
  sample_node(model, "Reverse", {"n"}, {"y"});
  return model;
}

/// It copies as many bytes as the input has: an output of a smaller type would not hold them.
TEST(HostileOperator, OutputsOfAnotherTypeThanTheShapeFunctionSaysAreRefused) {
  ForgedPlan plan(reverse(), sample_options());
  ASSERT_EQ(plan.refusal(), "");
  EXPECT_CONTAINS(with(plan, plan.operand_tensor(1, 1), field::kTensorType,
                       static_cast<uint8_t>(DataType::kInt8)),
                  "node 1: output type, operand 1: expected int32, found int8");
}

TEST(HostileOperator, OutputsInTheMemoryOfAnInputFail) {
  ForgedPlan plan(reverse(), sample_options());
  const plan::Tensor* input = plan.operand_tensor(1, 0);
  const plan::Tensor* output = plan.operand_tensor(1, 1);
  // The input moves to the slot of the output.
  const Forgery memory(input, field::kTensorMemory, output->memory());
  const Forgery place(input, field::kTensorPlace, output->place());
  auto session = plan.open(ForgedPlan::unchecked());
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  EXPECT_EQ(session->run().code(), Code::kInvalidArgument);
  EXPECT_STREQ(session->diagnostic().what, "output in the memory of an input");
}

/// An operator of which only the run can tell the extents is checked for everything else.
TEST(HostileOperator, AScalarWithoutElementsFails) {
  OnnxBuilder model;
  model.input("x", {4});
  model.output("y");
  model.floats("limit", {}, {1});
  sample_node(model, "Above", {"x", "limit"}, {"a"});
  model.node("Neg", {"a"}, {"y"});
  converter::ConvertOptions options = sample_options();
  options.bounds["a"] = {3};
  ForgedPlan plan(model, options);
  ASSERT_EQ(plan.refusal(), "");
  const plan::Tensor* limit = plan.operand_tensor(0, 1);
  const Forgery vector(limit, field::kTensorRank, uint8_t{1});
  const Forgery empty(plan.extent(limit, 0), 0, int32_t{0});
  // Extents vary, so that the check counts when the node is run.
  auto session = plan.open(ForgedPlan::unchecked());
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  EXPECT_EQ(session->run().code(), Code::kWrongExtent);
  EXPECT_STREQ(session->diagnostic().what, "elements of a scalar");
}

/// Two inputs of any type, but of one variable.
struct Pair {
  static constexpr OperatorInfo info{
      .domain = "sample", .name = "Pair", .inputs = {"a", "b"}, .outputs = {"y"}};
  static void run(Input<Any> a, Input<Any> b, Output<Any> y) {
    std::memcpy(y.view().data, b.view().data, static_cast<size_t>(a.view().bytes()));
  }
};

TEST(HostileOperator, InputsOfOneVariableHaveOneType) {
  const int32_t four = 4;
  TensorView views[] = {{nullptr, &four, DataType::kInt64, 1},
                        {nullptr, &four, DataType::kInt64, 1},
                        {nullptr, &four, DataType::kInt64, 1}};
  KernelHost host;
  Diagnostic diagnostic;
  host.diagnostic = &diagnostic;
  KernelContext context;
  context.operands_ = views;
  context.input_count_ = 2;
  context.output_count_ = 1;
  context.host_ = &host;
  EXPECT_TRUE(OperatorKernel<Pair>::check(context).ok());
  views[1].type = DataType::kInt8;
  EXPECT_EQ(OperatorKernel<Pair>::check(context).code(), Code::kWrongType);
  EXPECT_EQ(diagnostic.operand, 1);
}

}  // namespace
}  // namespace intarsia::test
