// SPDX-License-Identifier: Apache-2.0
//
// Plans from outside: truncated at every byte, and with any byte changed, they are refused or run
// inside their arena. Meaningful under AddressSanitizer and UndefinedBehaviorSanitizer.
#include "test/runtime/forged_plan.h"

namespace intarsia::test {
namespace {

using converter::contains;
using converter::OnnxBuilder;

/// A model with a packed weight, a view, a branch, shape functions and a workspace.
OnnxBuilder rich_model() {
  OnnxBuilder model;
  symbol(model.input("x", {0, 8, 3}), 0, "n");
  model.input("condition", {}, DataType::kBool);
  model.output("y");
  model.floats("w", {4, 8, 2}, std::vector<float>(64, 0.25f));
  model.floats("one", {1}, {1});
  model.node("Conv", {"x", "w"}, {"c"});
  model.node("Softmax", {"c"}, {"s"});
  auto& node = model.node("If", {"condition"}, {"z"});
  for (const char* attribute : {"then_branch", "else_branch"}) {
    auto& graph = *OnnxBuilder::attribute(node, attribute, onnx::AttributeProto::GRAPH).mutable_g();
    graph.set_name(attribute);
    const char* type = attribute[0] == 't' ? "Add" : "Mul";
    OnnxBuilder::add_node(*graph.mutable_node(), type, {"s", "one"}, {attribute});
    graph.add_output()->set_name(attribute);
  }
  model.node("Transpose", {"z"}, {"y"});
  return model;
}

converter::ConvertOptions rich_options() {
  converter::ConvertOptions options;
  options.dims["n"] = converter::DimRange{1, 3};
  return options;
}

/// Opens and, if that succeeds, runs; the arena has guard bytes behind it.
void try_plan(std::span<const std::byte> plan, size_t arena_bytes, bool checksum) {
  // The heap's own guards catch any access beyond the exact size.
  tool::AlignedBytes arena(arena_bytes);
  std::memset(arena.span().data(), 0, arena_bytes);
  SessionOptions options;
  options.checksum = checksum;
  auto session = Session::open(plan, arena.span(), tool::all_kernels(), options);
  if (!session.ok()) return;
  for (int i = 0; i < session->input_count(); ++i) {
    const TensorView input = session->input_port(i).value().tensor;
    std::memset(input.data, 1, static_cast<size_t>(input.bytes()));
  }
  (void)session->run();
}

TEST(HostilePlan, TheModelItselfRuns) {
  SmallPlan plan(rich_model(), rich_options());
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  ASSERT_TRUE(session->resize_input(0, std::array<int32_t, 3>{2, 8, 3}).ok());
  session->input<bool>(1).value()[0] = true;
  const auto x = session->input<float>(0).value();
  std::fill(x.begin(), x.end(), 1.0f);
  ASSERT_TRUE(session->run().ok()) << plan.text(session->diagnostic());
  EXPECT_EQ(read(*session, 0)[0], 1.5f);
}

TEST(HostilePlan, EveryPrefixIsRefused) {
  SmallPlan plan(rich_model(), rich_options());
  for (size_t size = 0; size < plan.plan().size(); ++size) {
    // A copy of the exact size, so that reading behind it is seen.
    tool::AlignedBytes prefix(size);
    std::memcpy(prefix.span().data(), plan.plan().data(), size);
    const auto session = Session::open(prefix.span(), plan.arena(), tool::all_kernels());
    ASSERT_FALSE(session.ok()) << size;
  }
}

TEST(HostilePlan, AnyByteChangedIsCaughtByTheChecksum) {
  SmallPlan plan(rich_model(), rich_options());
  PlanHeader header;
  std::memcpy(&header, plan.plan().data(), sizeof(header));
  const uint64_t structure_end = header.structure_offset + header.structure_bytes;
  for (size_t i = 0; i < structure_end; ++i) {
    if (i >= offsetof(PlanHeader, reserved) && i < sizeof(header)) continue;
    plan.plan()[i] ^= std::byte{0x10};
    EXPECT_FALSE(plan.open().ok()) << i;
    plan.plan()[i] ^= std::byte{0x10};
  }
  EXPECT_TRUE(plan.open().ok());
}

TEST(HostilePlan, AnyByteChangedStaysInsideTheArena) {
  SmallPlan plan(rich_model(), rich_options());
  for (size_t i = 0; i < plan.plan().size(); ++i) {
    for (int change : {0x01, 0x80, 0xff}) {
      plan.plan()[i] ^= static_cast<std::byte>(change);
      try_plan(plan.plan(), plan.arena().size(), false);
      plan.plan()[i] ^= static_cast<std::byte>(change);
    }
  }
}

/// Convolution of an image that comes from another node, so that it lies in the arena.
OnnxBuilder convolution() {
  OnnxBuilder model;
  model.input("x", {1, 3, 9, 9});
  model.output("y");
  model.floats("w", {8, 3, 3, 3}, std::vector<float>(216, 0.5f));
  model.node("Sin", {"x"}, {"s"});
  model.node("Conv", {"s", "w"}, {"c"});
  model.node("ReduceSum", {"c"}, {"y"});
  return model;
}

TEST(HostilePlan, OperandsThatOverlapAreRefused) {
  ForgedPlan plan(convolution());
  ASSERT_EQ(plan.refusal(), "");
  uint32_t node = 0;
  while ((plan.node(node)->shape() & kHasWorkspace) == 0) ++node;
  const uint32_t outputs = plan.node(node)->inputs();
  const plan::Tensor* image = plan.operand_tensor(node, 0);
  const plan::Tensor* output = plan.operand_tensor(node, outputs);
  const plan::Tensor* scratch = plan.operand_tensor(node, outputs + plan.node(node)->outputs());
  ASSERT_EQ(output->memory(), 0) << "the output lies in the arena";
  {
    // The workspace at the start, where another operand lies, unless it is there: then the image.
    const Forgery moved(scratch->place() != 0 ? scratch : image, field::kTensorPlace, uint32_t{0});
    EXPECT_CONTAINS(plan.refusal(), "operands that overlap");
  }
  {
    // The image one unit behind the start of the output, which is longer.
    const Forgery moved(image, field::kTensorPlace, output->place() + 1);
    EXPECT_CONTAINS(plan.refusal(), "operands that overlap");
  }
  EXPECT_EQ(plan.refusal(), "");
}

TEST(HostilePlan, AStateOfOtherExtentsThanItsSourceIsRefused) {
  ForgedPlan plan(stateful_model(), stateful_options());
  ASSERT_EQ(plan.refusal(), "");
  const plan::StateUpdate& update = *plan.root().states()->Get(0);
  // Both have six elements, but a rank of 1 has no extent of axis 1.
  const Forgery flat(plan.tensor(update.source()), field::kTensorRank, uint8_t{1});
  EXPECT_CONTAINS(plan.refusal(), "state rank: expected 2, found 1");
}

/// The indices would be overwritten by elements after they were checked.
TEST(HostilePlan, AnOutputInTheMemoryOfItsIndicesIsRefused) {
  OnnxBuilder model;
  model.input("data", {4}, DataType::kInt64);
  model.input("i", {4}, DataType::kInt64);
  model.output("y");
  model.node("Abs", {"i"}, {"indices"});
  model.node("GatherElements", {"data", "indices"}, {"g"});
  model.node("Neg", {"g"}, {"y"});
  ForgedPlan plan(model);
  ASSERT_EQ(plan.refusal(), "");
  const plan::Tensor* indices = plan.operand_tensor(1, 1);
  const plan::Tensor* output = plan.operand_tensor(1, 2);
  const Forgery place(indices, field::kTensorPlace, output->place());
  const Forgery memory(indices, field::kTensorMemory, output->memory());
  EXPECT_CONTAINS(plan.refusal(), "node 1: operands that overlap: expected 1, found 2");
}

}  // namespace
}  // namespace intarsia::test
