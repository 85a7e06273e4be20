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

TEST(HostileOperator, OutputsInTheMemoryOfAnInputAreRefused) {
  ForgedPlan plan(reverse(), sample_options());
  const plan::Tensor* input = plan.operand_tensor(1, 0);
  const plan::Tensor* output = plan.operand_tensor(1, 1);
  // The input moves to the slot of the output.
  const Forgery memory(input, field::kTensorMemory, output->memory());
  const Forgery place(input, field::kTensorPlace, output->place());
  EXPECT_CONTAINS(plan.refusal(), "node 1: operands that overlap: expected 0, found 1");
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

/// A node of vectors of four elements, by hand.
struct Vectors {
  Vectors(const std::vector<DataType>& inputs, const std::vector<DataType>& outputs) {
    for (const auto* list : {&inputs, &outputs}) {
      for (DataType type : *list) views.push_back({nullptr, &four, type, 1});
    }
    host.diagnostic = &diagnostic;
    context.operands_ = views.data();
    context.input_count_ = static_cast<int32_t>(inputs.size());
    context.output_count_ = static_cast<int32_t>(outputs.size());
    context.host_ = &host;
  }
  Vectors(const Vectors&) = delete;
  Vectors& operator=(const Vectors&) = delete;

  const int32_t four = 4;
  std::vector<TensorView> views;
  KernelHost host;
  Diagnostic diagnostic;
  KernelContext context;
};

TEST(HostileOperator, InputsOfOneVariableHaveOneType) {
  Vectors node({DataType::kInt64, DataType::kInt64}, {DataType::kInt64});
  EXPECT_TRUE(OperatorKernel<Pair>::check(node.context).ok());
  node.views[1].type = DataType::kInt8;
  EXPECT_EQ(OperatorKernel<Pair>::check(node.context).code(), Code::kWrongType);
  EXPECT_EQ(node.diagnostic.operand, 1);
}

/// Too few, too many, absent or of another type: what the signature of `run` does not allow never
/// gets there, in any place.
TEST(HostileOperator, OperandsThatTheSignatureForbidsAreRefused) {
  constexpr DataType f = DataType::kFloat, none = DataType::kUndefined, l = DataType::kInt64;
  const auto code = [](auto check, const std::vector<DataType>& in,
                       const std::vector<DataType>& out) {
    Vectors node(in, out);
    return check(node.context).code();
  };
  const auto many = &OperatorKernel<sample::Multiples>::check;
  EXPECT_EQ(code(many, {f}, {f, f}), Code::kOk);
  EXPECT_EQ(code(many, {f}, {f, f, f}), Code::kOk);
  EXPECT_EQ(code(many, {f}, {f}), Code::kCorruptPlan) << "minimum of 2";
  EXPECT_EQ(code(many, {f}, {}), Code::kCorruptPlan);
  EXPECT_EQ(code(many, {f}, {f, none, f}), Code::kCorruptPlan) << "written, wanted or not";
  EXPECT_EQ(code(many, {f}, {f, f, l}), Code::kWrongType);
  EXPECT_EQ(code(many, {}, {f, f}), Code::kCorruptPlan);
  EXPECT_EQ(code(many, {none}, {f, f}), Code::kCorruptPlan);
  EXPECT_EQ(code(many, {f, f}, {f, f}), Code::kCorruptPlan);
  const auto wanted = &OperatorKernel<sample::WantedMultiples>::check;
  EXPECT_EQ(code(wanted, {f}, {f, none, f}), Code::kOk);
  EXPECT_EQ(code(wanted, {f}, {none}), Code::kOk);
  EXPECT_EQ(code(wanted, {f}, {}), Code::kCorruptPlan) << "minimum of 1";
  // Offset, and at least two parts.
  const auto join = [&](std::vector<DataType> parts) {
    parts.insert(parts.begin(), l);
    Vectors node(parts, {f});
    const int32_t one = 1, all = 4 * static_cast<int32_t>(parts.size() - 1);
    node.views[0].extents = &one;
    node.views.back().extents = &all;
    return OperatorKernel<sample::Join>::check(node.context).code();
  };
  EXPECT_EQ(join({f, f}), Code::kOk);
  EXPECT_EQ(join({f, f, f}), Code::kOk);
  EXPECT_EQ(join({f}), Code::kCorruptPlan);
  EXPECT_EQ(join({}), Code::kCorruptPlan);
  EXPECT_EQ(join({f, none, f}), Code::kCorruptPlan);
  EXPECT_EQ(join({f, f, l}), Code::kWrongType);
}

/// Opening reads attributes once for each node: what many nodes shared would make it quadratic.
TEST(HostileOperator, OnlyShortAttributesAreSharedByNodes) {
  const auto attributes = [](size_t length) {
    OnnxBuilder model;
    model.input("x", {4});
    for (const char* output : {"a", "b", "c"}) {
      model.output(output);
      auto& node = sample_node(model, "ReadsAttributes", {"x"}, {output});
      OnnxBuilder::set(node, "integer", int64_t{1});
      OnnxBuilder::set(node, "text", std::string(length, 'n').c_str());
    }
    ForgedPlan plan(model, sample_options());
    EXPECT_EQ(plan.refusal(), "");
    std::vector<uint32_t> places;
    for (uint32_t i = 0; i < plan.root().nodes()->size(); ++i) {
      places.push_back(plan.node(i)->attributes());
    }
    return places;
  };
  const std::vector<uint32_t> shared = attributes(1);
  ASSERT_EQ(shared.size(), 3u);
  EXPECT_EQ(shared, (std::vector<uint32_t>{0, 0, 0}));
  const std::vector<uint32_t> apart = attributes(kSharedAttributeBytes);
  ASSERT_EQ(apart.size(), 3u);
  constexpr auto kWords = static_cast<uint32_t>(kSharedAttributeBytes / 8);
  EXPECT_EQ(apart[0], 0u);
  EXPECT_GT(apart[1], apart[0] + kWords);
  EXPECT_GT(apart[2], apart[1] + kWords);
}

/// The bytes of a bool are data, and may be any: in C++ such a bool must not even be read.
TEST(HostileOperator, ABoolIsAnyByteButZero) {
  Vectors node({DataType::kFloat, DataType::kBool, DataType::kBool}, {DataType::kFloat});
  float x[] = {1, 2, 3, 4}, y[4] = {};
  uint8_t mask[] = {2, 0, 1, 0xff}, open = 0x80;
  void* const data[] = {x, &open, mask, y};
  for (size_t i = 0; i < 4; ++i) node.views[i].data = data[i];
  node.views[1].rank = 0;
  ASSERT_TRUE(OperatorKernel<sample::Gate>::check(node.context).ok());
  ASSERT_TRUE(OperatorKernel<sample::Gate>::run(node.context).ok());
  EXPECT_EQ(std::vector<float>(y, y + 4), (std::vector<float>{1, 0, 3, 4}));
  open = 0;
  ASSERT_TRUE(OperatorKernel<sample::Gate>::run(node.context).ok());
  EXPECT_EQ(std::vector<float>(y, y + 4), (std::vector<float>{0, 0, 0, 0}));
}

}  // namespace
}  // namespace intarsia::test
