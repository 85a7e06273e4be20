// SPDX-License-Identifier: Apache-2.0
//
// Plans from outside: truncated at every byte, and with any byte changed, they are refused or run
// inside their arena. Meaningful under AddressSanitizer and UndefinedBehaviorSanitizer.
#include "core/plan_file.h"
#include "core/plan_structure.h"
#include "test/runtime/small_plan.h"

namespace intarsia::test {
namespace {

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

/// A plan whose records a test changes before it is opened without its checksum.
class Forged : public SmallPlan {
 public:
  using SmallPlan::SmallPlan;
  const plan::Plan& root() {
    PlanHeader header;
    std::memcpy(&header, plan().data(), sizeof(header));
    return *plan::GetPlan(plan().data() + header.structure_offset);
  }
  /// Overwrites a number of a record with another one of its size.
  template <class T>
  void set(const void* record, size_t offset, T value) {
    std::memcpy(static_cast<uint8_t*>(const_cast<void*>(record)) + offset, &value, sizeof(value));
  }
  const plan::Tensor* tensor(uint32_t index) { return root().tensors()->Get(index); }
  uint32_t operand(uint32_t node, uint32_t index) {
    return root().operands()->Get(root().nodes()->Get(node)->operands() + index);
  }
  std::string refusal() {
    SessionOptions options;
    options.checksum = false;
    return open(options).ok() ? "" : text(diagnostic);
  }
};

TEST(HostilePlan, NodesThatShareTheirOperandsAreRefused) {
  OnnxBuilder model;
  model.input("x", {4});
  model.output("y");
  model.node("Sin", {"x"}, {"a"});
  model.node("Cos", {"a"}, {"y"});
  Forged plan(model);
  ASSERT_EQ(plan.refusal(), "");
  plan.set<uint32_t>(plan.root().nodes()->Get(1), 0, 0);
  EXPECT_EQ(plan.refusal(),
            "node 1: first operand: expected 2, found 0; the plan is damaged; convert the model "
            "again");
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
  Forged plan(convolution());
  ASSERT_EQ(plan.refusal(), "");
  uint32_t node = 0;
  while ((plan.root().nodes()->Get(node)->shape() & kHasWorkspace) == 0) ++node;
  const plan::Node& conv = *plan.root().nodes()->Get(node);
  const uint32_t outputs = conv.inputs();
  const uint32_t workspace = outputs + conv.outputs();
  const plan::Tensor* output = plan.tensor(plan.operand(node, outputs));
  ASSERT_EQ(output->memory(), 0) << "the output lies in the arena";
  const uint32_t place = output->place();
  // The workspace at the start, where another operand lies, unless it is there: then the image.
  const plan::Tensor* scratch = plan.tensor(plan.operand(node, workspace));
  const plan::Tensor* moved = scratch->place() != 0 ? scratch : plan.tensor(plan.operand(node, 0));
  const uint32_t old = moved->place();
  plan.set<uint32_t>(moved, 0, 0);
  EXPECT_NE(plan.refusal().find("operands that overlap"), std::string::npos) << plan.refusal();
  plan.set<uint32_t>(moved, 0, old);
  // One unit behind the start of the image.
  plan.set<uint32_t>(output, 0, plan.tensor(plan.operand(node, 0))->place() + 1);
  EXPECT_NE(plan.refusal().find("operands that overlap"), std::string::npos) << plan.refusal();
  plan.set<uint32_t>(output, 0, place);
  EXPECT_EQ(plan.refusal(), "");
}

TEST(HostilePlan, AStateOfOtherExtentsThanItsSourceIsRefused) {
  OnnxBuilder model;
  model.input("x", {2, 3});
  model.input("state", {2, 3});
  model.output("next");
  model.output("y");
  model.node("Add", {"x", "state"}, {"next"});
  model.node("Neg", {"next"}, {"y"});
  converter::ConvertOptions options;
  options.states["next"] = "state";
  Forged plan(model, options);
  ASSERT_EQ(plan.refusal(), "");
  const plan::StateUpdate& update = *plan.root().states()->Get(0);
  // Both have six elements, but a rank of 1 has no extent of axis 1.
  plan.set<uint8_t>(plan.tensor(update.source()), 9, 1);
  EXPECT_NE(plan.refusal(), "");
}

/// Both have the same bytes, so that only the kernel can tell; the indices were checked, and would
/// be overwritten by the elements before they are used.
TEST(HostilePlan, AnOutputInTheMemoryOfItsIndicesFails) {
  OnnxBuilder model;
  model.input("data", {4}, DataType::kInt64);
  model.input("i", {4}, DataType::kInt64);
  model.output("y");
  model.node("Abs", {"i"}, {"indices"});
  model.node("GatherElements", {"data", "indices"}, {"g"});
  model.node("Neg", {"g"}, {"y"});
  Forged plan(model);
  ASSERT_EQ(plan.refusal(), "");
  const plan::Tensor* indices = plan.tensor(plan.operand(1, 1));
  const plan::Tensor* output = plan.tensor(plan.operand(1, 2));
  plan.set<uint32_t>(indices, 0, output->place());
  plan.set<uint8_t>(indices, 10, output->memory());
  SessionOptions options;
  options.checksum = false;
  auto session = plan.open(options);
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  for (int input = 0; input < 2; ++input) {
    const auto values = session->input<int64_t>(input).value();
    std::fill(values.begin(), values.end(), input == 0 ? int64_t{1} << 40 : 0);
  }
  EXPECT_EQ(session->run().code(), Code::kInvalidArgument);
  EXPECT_STREQ(session->diagnostic().what, "output in the memory of an input");
}

}  // namespace
}  // namespace intarsia::test
