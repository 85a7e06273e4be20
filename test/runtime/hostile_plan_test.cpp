// SPDX-License-Identifier: Apache-2.0
//
// Plans from outside: truncated at every byte, and with any byte changed, they are refused or run
// inside their arena. Meaningful under AddressSanitizer and UndefinedBehaviorSanitizer.
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

}  // namespace
}  // namespace intarsia::test
