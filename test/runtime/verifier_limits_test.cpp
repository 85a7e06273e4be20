// SPDX-License-Identifier: Apache-2.0
//
// As verifier_test.cpp: checks that need a plan for a device, a state, or a structure that no
// converter writes.
#include "test/runtime/built_plan.h"

namespace intarsia::test {
namespace {

using converter::contains;
using converter::OnnxBuilder;

/// Two nodes on the device, one on the host.
class DeviceVerifier : public testing::Test {
 protected:
  static OnnxBuilder model() {
    OnnxBuilder model;
    model.input("x", {4, 8});
    model.output("y");
    model.floats("w", {8, 16}, std::vector<float>(128, 0.5f));
    model.node("Gemm", {"x", "w"}, {"h"});
    model.node("Softmax", {"h"}, {"s"});
    model.node("Sin", {"s"}, {"y"});
    return model;
  }
  static converter::ConvertOptions options() {
    converter::ConvertOptions options;
    options.device = converter::ConvertOptions::Device::kCuda;
    return options;
  }
  void SetUp() override {
    ASSERT_EQ(plan.refusal(), "a plan for CUDA needs intarsia::cuda::Session");
  }
  const plan::Memory& memory() { return *plan.root().memory(); }

  ForgedPlan plan{model(), options()};
};

TEST_F(DeviceVerifier, Memory) {
  EXPECT_CONTAINS(with(plan, &memory(), field::kDeviceArenaBytes, kDevicePrefix - 1),
                  "device arena bytes: expected 2048, found 2047");
  EXPECT_CONTAINS(with(plan, &memory(), field::kDeviceArenaBytes, (uint64_t{1} << 34) + 1),
                  "device arena bytes: expected 2048");
  const uint64_t bytes = memory().device_weights_bytes();
  EXPECT_CONTAINS(with(plan, &memory(), field::kDeviceWeightsBytes, bytes + 4096),
                  "device weights: expected");
  EXPECT_CONTAINS(with(plan, &memory(), field::kDeviceWeightsBytes, ~uint64_t{0}),
                  "device weights: expected");
  EXPECT_CONTAINS(with(plan, &memory(), field::kDeviceWeightsOffset, ~uint64_t{63}),
                  "device weights: expected");
  const Forgery few(&memory(), field::kDeviceWeightsBytes, uint64_t{1});
  EXPECT_CONTAINS(with(plan, &memory(), field::kDeviceWeightsOffset, uint64_t{16}),
                  "alignment of device weights: expected 64, found 16");
}

/// Strings of two entry points.
TEST(StringVerifier, Characters) {
  OnnxBuilder model;
  model.input("x", {1}, DataType::kString);
  model.output("y");
  model.initializer("tail", DataType::kString, {1}).add_string_data("tail");
  model.node("Concat", {"x", "tail"}, {"y"});
  OnnxBuilder::set(*model.graph().mutable_node(0), "axis", int64_t{0});
  converter::ConvertOptions options;
  options.max_string = 16;
  ForgedPlan plan(Entries{{"one", model}, {"two", model}}, options);
  ASSERT_EQ(plan.refusal(), "");
  const auto* list = plan.root().strings();
  ASSERT_EQ(list->size(), 4u);
  const auto* numbers = reinterpret_cast<const uint32_t*>(list->Data());
  EXPECT_EQ(numbers[3], 32u);
  const auto forged = [&](size_t i, uint32_t value) { return with(plan, numbers + i, 0, value); };
  // As many numbers fit the prefix of the metadata.
  EXPECT_CONTAINS(with(plan, list, 0, uint32_t{5}), "numbers of the strings: expected 4, found 5");
  EXPECT_CONTAINS(with(plan, list, 0, uint32_t{3}), "numbers of the strings: expected 4, found 3");
  EXPECT_CONTAINS(forged(0, 0xffffffff), "characters of constants: expected");
  EXPECT_CONTAINS(forged(1, 4096), "characters of constants: expected");
  EXPECT_CONTAINS(forged(2, 33), "end of an entry point's strings: expected 33, found 32");
  EXPECT_CONTAINS(forged(3, 0x80000000), "characters of strings: expected 2147483647");
  EXPECT_CONTAINS(forged(3, 0x7fffffff), "characters of strings: expected");
  // A run would write over what lies there.
  const uint64_t tensors =
      plan.root().memory()->arena_bytes() - plan.root().memory()->metadata_bytes();
  const std::string over = forged(3, static_cast<uint32_t>(tensors));
  EXPECT_TRUE(contains(over, "place in the arena: expected 0")) << over;
}

TEST_F(DeviceVerifier, Segments) {
  const uint32_t nodes = plan.root().nodes()->size();
  const std::string expected = "device segments: expected " + std::to_string(nodes);
  EXPECT_CONTAINS(with(plan, &memory(), field::kSegments, nodes + 1), expected);
  EXPECT_CONTAINS(with(plan, &memory(), field::kSegments, uint32_t{0}), expected);
  EXPECT_CONTAINS(with(plan, &memory(), field::kDeviceArenaBytes, uint64_t{0}), expected);
}

TEST_F(DeviceVerifier, Places) {
  for (Memory kind : {Memory::kDeviceArena, Memory::kDeviceWeights}) {
    const char* what = kind == Memory::kDeviceArena ? "place in the device arena: expected"
                                                    : "place in the weights: expected";
    EXPECT_CONTAINS(with(plan, plan.tensor_in(kind), field::kTensorPlace, uint32_t{1} << 31), what);
  }
  // What is not copied to the device is not there.
  EXPECT_CONTAINS(with(plan, &memory(), field::kDeviceWeightsBytes, uint64_t{64}),
                  "place in the weights: expected 64");
  // An element of 8 bytes, at half of its alignment.
  const plan::Tensor* tensor = plan.tensor_in(Memory::kDeviceArena);
  const Forgery place(tensor, field::kTensorPlace, uint32_t{1});
  const Forgery extent(plan.extent(tensor, 0), 0, int32_t{1});
  EXPECT_CONTAINS(with(plan, tensor, field::kTensorType, static_cast<uint8_t>(DataType::kInt64)),
                  "alignment of place: expected 8, found 4");
}

TEST_F(DeviceVerifier, OutputsInDeviceWeights) {
  const auto weight =
      static_cast<uint32_t>(plan.tensor_in(Memory::kDeviceWeights) - plan.tensor(0));
  const uint32_t output = first_operand(plan.root(), 1) + plan.node(1)->inputs();
  EXPECT_CONTAINS(with(plan, plan.root().operands()->data() + output, 0, weight),
                  "output in read-only memory");
}

TEST(DeviceStateVerifier, SourceOnTheDevice) {
  OnnxBuilder model;
  model.input("x", {2, 3});
  model.input("state", {2, 3});
  model.output("next");
  model.node("Add", {"x", "state"}, {"a"});
  model.node("Relu", {"a"}, {"next"});
  converter::ConvertOptions options;
  options.device = converter::ConvertOptions::Device::kCuda;
  options.states["next"] = "state";
  ForgedPlan plan(model, options);
  uint32_t source = 0;
  while (plan.tensor(source)->memory() != static_cast<uint8_t>(Memory::kDeviceArena)) ++source;
  EXPECT_CONTAINS(with(plan, plan.root().states()->Get(0), field::kStateSource, source),
                  "state's source on the device");
}

class StateVerifier : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(plan.refusal(), ""); }
  const plan::StateUpdate* update() { return plan.root().states()->Get(0); }

  ForgedPlan plan{stateful_model(), stateful_options()};
};

TEST_F(StateVerifier, SlotAndSource) {
  const uint32_t slots = plan.root().slots()->size();
  const uint32_t tensors = plan.root().tensors()->size();
  EXPECT_CONTAINS(with(plan, update(), field::kStateSlot, slots),
                  "state's slot; the plan is damaged");
  EXPECT_CONTAINS(with(plan, update(), field::kStateSource, tensors),
                  "state's source; the plan is damaged");
}

TEST_F(StateVerifier, TypeRankAndExtents) {
  // A tensor of its own, which no node needs to agree with.
  const plan::Tensor* source = plan.tensor(update()->source());
  EXPECT_CONTAINS(with(plan, source, field::kTensorType, static_cast<uint8_t>(DataType::kInt32)),
                  "state type: expected 1, found 6");
  EXPECT_CONTAINS(with(plan, source, field::kTensorRank, uint8_t{1}),
                  "state rank: expected 2, found 1");
  // Extents are shared: those of the source become another pair of the vector, 3 and what follows.
  const Forgery shifted(source, field::kTensorExtents, source->extents() + 1);
  const Forgery rank(source, field::kTensorRank, uint8_t{1});
  const plan::Tensor* state = plan.tensor(plan.root().slots()->Get(update()->slot())->tensor());
  EXPECT_CONTAINS(with(plan, state, field::kTensorRank, uint8_t{1}),
                  "state extent: expected 2, found 3");
}

TEST_F(StateVerifier, PortsOfStatesAreVerified) {
  const uint32_t slots = plan.root().slots()->size();
  EXPECT_CONTAINS(with_field(plan, plan.root().state_ports()->Get(0), plan::Port::VT_SLOT, slots),
                  "port's slot; the plan is damaged");
}

TEST(VerifierLimits, NothingIsWrongWithAPlanOfNothing) {
  EXPECT_EQ(BuiltPlan().refusal(), "");
}

TEST(VerifierLimits, ASlotThatNoTensorLiesIn) {
  BuiltPlan plan;
  plan.slots.emplace_back(5, 0, 0, kNone);
  EXPECT_CONTAINS(plan.refusal(), "slot's tensor: expected 0, found 5");
}

TEST(VerifierLimits, TablesThatAreSharedThousandfold) {
  BuiltPlan plan;
  plan.entries = 10'000;
  EXPECT_CONTAINS(plan.refusal(), "FlatBuffers structure");
}

/// Were a slot named twice, lists of ports could be longer than the plan: clearing states, for one,
/// would take longer than its bytes allow.
TEST(VerifierLimits, PortsHaveSlotsOfTheirOwn) {
  const auto plan_with = [](std::vector<uint32_t> slots) {
    BuiltPlan plan;
    plan.extents.assign(1, 8);
    for (uint32_t i = 0; i < 2; ++i) plan.add_slot(DataType::kFloat, 0, 1, 32 * i, kReadOnlySlot);
    for (uint32_t slot : slots) plan.inputs.push_back(plan.port("x", slot));
    return plan.refusal();
  };
  EXPECT_EQ(plan_with({0, 1}), "");
  EXPECT_CONTAINS(plan_with({0, 0}), "port's slot (at least): expected 1, found 0");
  EXPECT_CONTAINS(plan_with({1, 0}), "port's slot (at least): expected 2, found 0");
}

/// Nodes may write what a caller binds to an output, never what it binds to an input.
TEST(VerifierLimits, PortsHaveSlotsOfTheirKind) {
  for (uint32_t flags : {0u, kReadOnlySlot, kStateSlot, kReadOnlySlot | kStateSlot}) {
    for (int list = 0; list < 3; ++list) {
      BuiltPlan plan;
      plan.extents.assign(1, 8);
      plan.add_slot(DataType::kFloat, 0, 1, 0, flags);
      auto& ports = list == 0 ? plan.inputs : list == 1 ? plan.outputs : plan.state_ports;
      ports.push_back(plan.port("x", 0));
      const uint32_t expected = list == 0 ? 1 : list == 1 ? 0 : 3;
      if (flags == expected) {
        EXPECT_EQ(plan.refusal(), "");
      } else {
        EXPECT_CONTAINS(plan.refusal(), "flags of the port's slot: expected " +
                                            std::to_string(expected) + ", found " +
                                            std::to_string(flags));
      }
    }
  }
}

TEST(VerifierLimits, StatesAreUpdatedInSlotsOfStatesOnce) {
  const auto plan_with = [](std::vector<plan::StateUpdate> updates, uint32_t flags) {
    BuiltPlan plan;
    plan.extents.assign(1, 8);
    plan.add_slot(DataType::kFloat, 0, 1, 0, flags);
    plan.states = std::move(updates);
    return plan.refusal();
  };
  EXPECT_EQ(plan_with({{0, 0}}, 3), "");
  EXPECT_CONTAINS(plan_with({{0, 0}}, 1), "flags of the state's slot: expected 3, found 1");
  EXPECT_CONTAINS(plan_with({{0, 0}, {0, 0}}, 3), "state's slot (at least): expected 1, found 0");
}

TEST(VerifierLimits, StatesAreNoLargerThanTheArena) {
  const auto plan_with = [](uint32_t states) {
    BuiltPlan plan;
    plan.extents.assign(1, 2048);
    for (uint32_t i = 0; i < states; ++i) {
      plan.add_slot(DataType::kUint8, 0, 1, 0, kReadOnlySlot | kStateSlot);
      plan.state_ports.push_back(plan.port("s", i));
    }
    return plan.refusal();
  };
  EXPECT_EQ(plan_with(2), "");
  EXPECT_CONTAINS(plan_with(3), "bytes of states: expected 4096, found 6144");
}

/// Attributes are checked node by node: large ones that nodes shared would make that quadratic.
TEST(VerifierLimits, LargeAttributesBelongToOneNode) {
  const auto plan_with = [](uint64_t bytes, uint32_t second) {
    BuiltPlan plan;
    plan.attributes.assign(2 * (1 + (bytes + 7) / 8), 0);
    plan.attributes[0] = plan.attributes[1 + (bytes + 7) / 8] = bytes;
    plan.nodes.emplace_back(0, 0, kNoShape, 0, 0);
    plan.nodes.emplace_back(second, 0, kNoShape, 0, 0);
    return plan.refusal();
  };
  EXPECT_EQ(plan_with(256, 0), "");
  EXPECT_CONTAINS(plan_with(257, 0), "place of large attributes: expected 34, found 0");
  EXPECT_EQ(plan_with(257, 34), "");
}

/// What a session notes of one shape can be no part of another, whatever the plan says.
TEST(VerifierLimits, VaryingShapesAreOneOrApart) {
  const auto plan_with = [](std::vector<int32_t> extents, uint32_t first, uint8_t rank) {
    BuiltPlan plan;
    plan.extents = std::move(extents);
    plan.dynamic_extents = static_cast<uint32_t>(plan.extents.size());
    plan.tensors.emplace_back(0, first, static_cast<uint8_t>(DataType::kUint8), rank, 0, 0);
    return plan.refusal();
  };
  EXPECT_EQ(plan_with({-3, 2, 2}, 1, 2), "");
  EXPECT_CONTAINS(plan_with({-3, 2, 2}, 1, 1),
                  "mark before varying extents: expected -2, found -3");
  EXPECT_CONTAINS(plan_with({-3, 2, 2}, 2, 1), "mark before varying extents: expected -2, found 2");
  EXPECT_CONTAINS(plan_with({2, 2}, 0, 1), "mark before varying extents: expected -2, found 0");
  EXPECT_CONTAINS(plan_with({-4, -2, 2, 2}, 1, 3), "extent: expected 0, found -2");
}

TEST(VerifierLimits, WorkspaceDoesNotVary) {
  const auto plan_with = [](uint32_t dynamic) {
    BuiltPlan plan;
    plan.extents = {varying_mark(1), 64};
    plan.dynamic_extents = dynamic;
    plan.operands = {plan.add_tensor(DataType::kUint8, 1, 1, 0)};
    plan.nodes.emplace_back(kNone, 0, kNoShape | kHasWorkspace, 0, 0);
    return plan.refusal();
  };
  EXPECT_EQ(plan_with(0), "");
  EXPECT_CONTAINS(plan_with(2), "node 0: workspace");
}

TEST(VerifierLimits, StatesOfNodesLieBehindOneAnother) {
  const auto plan_with = [](uint32_t first, uint32_t second, uint32_t input) {
    BuiltPlan plan;
    plan.extents.assign(1, 64);
    for (uint32_t at : {first, second, input}) {
      plan.tensors.emplace_back(at, 0, static_cast<uint8_t>(DataType::kUint8), 1, 0, 0);
    }
    plan.operands = {2, 0, 1};
    plan.nodes.emplace_back(kNone, 0, kNoShape | kHasState, 1, 0);
    plan.nodes.emplace_back(kNone, 0, kNoShape | kHasState, 0, 0);
    return plan.refusal();
  };
  EXPECT_EQ(plan_with(0, 16, 32), "");
  EXPECT_EQ(plan_with(16, 32, 0), "");
  EXPECT_EQ(plan_with(0, 32, 64), "") << "a gap is none's";
  EXPECT_CONTAINS(plan_with(16, 16, 0), "place of the node's state: expected 128, found 64");
  EXPECT_CONTAINS(plan_with(32, 16, 0), "place of the node's state: expected 192, found 64");
  EXPECT_CONTAINS(plan_with(0, 32, 20), "operand among the nodes' states");
  EXPECT_CONTAINS(plan_with(0, 16, 28), "operand among the nodes' states");
}

}  // namespace
}  // namespace intarsia::test
