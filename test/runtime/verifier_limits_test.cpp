// SPDX-License-Identifier: Apache-2.0
//
// As verifier_test.cpp: checks that need a plan for a device, a state, or a structure that no
// converter writes.
#include "test/runtime/forged_plan.h"

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
    ASSERT_EQ(plan.refusal(),
              "the plan is for a CUDA device; open it with intarsia::cuda::Session");
  }
  const plan::Memory& memory() { return *plan.root().memory(); }

  ForgedPlan plan{model(), options()};
};

TEST_F(DeviceVerifier, Memory) {
  EXPECT_CONTAINS(
      with_field(plan, &memory(), plan::Memory::VT_DEVICE_ARENA_BYTES, kDevicePrefix - 1),
      "device arena bytes: expected 256, found 255");
  EXPECT_CONTAINS(
      with_field(plan, &memory(), plan::Memory::VT_DEVICE_ARENA_BYTES, (uint64_t{1} << 34) + 1),
      "device arena bytes: expected 256");
  const uint64_t bytes = memory().device_weights_bytes();
  EXPECT_CONTAINS(with_field(plan, &memory(), plan::Memory::VT_DEVICE_WEIGHTS_BYTES, bytes + 4096),
                  "device weights: expected");
  EXPECT_CONTAINS(with_field(plan, &memory(), plan::Memory::VT_DEVICE_WEIGHTS_BYTES, ~uint64_t{0}),
                  "device weights: expected");
  // The offset, which is 0 and so not stored, takes the place of another field.
  const auto other = table(&memory()).GetOptionalFieldOffset(plan::Memory::VT_LOWER_BOUND_BYTES);
  const Forgery offset(table(&memory()).GetVTable(), plan::Memory::VT_DEVICE_WEIGHTS_OFFSET, other);
  EXPECT_CONTAINS(
      with_field(plan, &memory(), plan::Memory::VT_DEVICE_WEIGHTS_OFFSET, ~uint64_t{63}),
      "device weights: expected");
  const Forgery few(place_of(&memory(), plan::Memory::VT_DEVICE_WEIGHTS_BYTES), 0, uint64_t{1});
  EXPECT_CONTAINS(with_field(plan, &memory(), plan::Memory::VT_DEVICE_WEIGHTS_OFFSET, uint64_t{16}),
                  "alignment of device weights: expected 64, found 16");
}

TEST_F(DeviceVerifier, Segments) {
  const uint32_t nodes = plan.root().nodes()->size();
  const std::string expected = "device segments: expected " + std::to_string(nodes);
  EXPECT_CONTAINS(with_field(plan, &memory(), plan::Memory::VT_SEGMENTS, nodes + 1), expected);
  EXPECT_CONTAINS(with_field(plan, &memory(), plan::Memory::VT_SEGMENTS, uint32_t{0}), expected);
  EXPECT_CONTAINS(with_field(plan, &memory(), plan::Memory::VT_DEVICE_ARENA_BYTES, uint64_t{0}),
                  expected);
}

TEST_F(DeviceVerifier, Places) {
  for (Memory kind : {Memory::kDeviceArena, Memory::kDeviceWeights}) {
    const char* what = kind == Memory::kDeviceArena ? "place in the device arena: expected"
                                                    : "place in the weights: expected";
    EXPECT_CONTAINS(with(plan, plan.tensor_in(kind), field::kTensorPlace, uint32_t{1} << 31), what);
  }
  // What is not copied to the device is not there.
  EXPECT_CONTAINS(with_field(plan, &memory(), plan::Memory::VT_DEVICE_WEIGHTS_BYTES, uint64_t{64}),
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
  const uint32_t output = plan.node(1)->operands() + plan.node(1)->inputs();
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

/// Plans whose records a test writes itself: a structure that no converter gives.
class BuiltPlan {
 public:
  using Port = flatbuffers::Offset<plan::Port>;
  using Entry = flatbuffers::Offset<plan::Entry>;

  flatbuffers::FlatBufferBuilder builder;
  std::vector<plan::Tensor> tensors;
  std::vector<int32_t> extents;
  std::vector<uint32_t> operands;
  std::vector<plan::Node> nodes;
  std::vector<plan::Slot> slots;
  std::vector<Port> ports;
  int symbols = 0;
  size_t entries = 1;

  /// The sentence with which the verifier refuses the plan. What it lets pass fails at the arena.
  std::string refusal() {
    std::vector<flatbuffers::Offset<plan::Symbol>> named;
    for (int i = 0; i < symbols; ++i) named.push_back(plan::CreateSymbol(builder, 0, 1, 1));
    const auto inputs = builder.CreateVector(ports);
    const std::vector<Entry> shared(entries, plan::CreateEntry(builder, 0, 0, inputs));
    const std::vector<plan::Graph> graphs{{0, static_cast<uint32_t>(nodes.size()), kNone}};
    const uint64_t prefix = metadata_bytes({1, 0, slots.size(), 0, 0, 0});
    const auto memory = plan::CreateMemory(builder, prefix + 4096, prefix);
    const auto tensor_list = builder.CreateVectorOfStructs(tensors);
    const auto extent_list = builder.CreateVector(extents);
    const auto operand_list = builder.CreateVector(operands);
    const auto node_list = builder.CreateVectorOfStructs(nodes);
    const auto graph_list = builder.CreateVectorOfStructs(graphs);
    const auto kernel_list = builder.CreateVector(std::vector<uint64_t>{1});
    const auto slot_list = builder.CreateVectorOfStructs(slots);
    const auto entry_list = builder.CreateVector(shared);
    const auto symbol_list = builder.CreateVector(named);
    plan::PlanBuilder root(builder);
    root.add_tensors(tensor_list);
    root.add_extents(extent_list);
    root.add_operands(operand_list);
    root.add_nodes(node_list);
    root.add_graphs(graph_list);
    root.add_kernels(kernel_list);
    root.add_slots(slot_list);
    root.add_entries(entry_list);
    root.add_symbols(symbol_list);
    root.add_memory(memory);
    builder.Finish(root.Finish());
    return open();
  }

 private:
  std::string open() {
    const uint64_t size = builder.GetSize();
    PlanHeader header{
        {}, kPlanFormatVersion, sizeof(PlanHeader), 64, size, (64 + size + 63) / 64 * 64, 0, 0, 0};
    std::memcpy(header.magic, kPlanMagic, sizeof(kPlanMagic));
    tool::AlignedBytes plan(header.weights_offset);
    std::memcpy(plan.span().data(), &header, sizeof(header));
    std::memcpy(plan.span().data() + 64, builder.GetBufferPointer(), size);
    Diagnostic diagnostic;
    const auto session =
        Session::open(plan.span(), {}, tool::all_kernels(), ForgedPlan::unchecked(), &diagnostic);
    EXPECT_FALSE(session.ok());
    return session.status().code() == Code::kCorruptPlan
               ? tool::describe_text(diagnostic, plan.span())
               : "";
  }
};

TEST(VerifierLimits, NothingIsWrongWithAPlanOfNothing) {
  EXPECT_EQ(BuiltPlan().refusal(), "");
}

TEST(VerifierLimits, ASlotThatNoTensorLiesIn) {
  BuiltPlan plan;
  plan.slots.emplace_back(5, 0, 0);
  EXPECT_CONTAINS(plan.refusal(), "slot's tensor: expected 0, found 5");
}

TEST(VerifierLimits, TablesThatAreSharedThousandfold) {
  BuiltPlan plan;
  plan.entries = 10'000;
  EXPECT_CONTAINS(plan.refusal(), "FlatBuffers structure");
}

TEST(VerifierLimits, SymbolsTimesAxes) {
  const auto plan_with = [](size_t ports) {
    BuiltPlan plan;
    plan.extents.assign(8, 1);
    plan.tensors.emplace_back(0, 0, static_cast<uint8_t>(DataType::kFloat), 8,
                              static_cast<uint8_t>(Memory::kSlot), 0);
    plan.slots.emplace_back(0, 0, 0);
    plan.symbols = 4096;
    for (size_t i = 0; i < ports; ++i) {
      const auto symbols = plan.builder.CreateVector(std::vector<int32_t>(8, 0));
      plan.ports.push_back(plan::CreatePort(plan.builder, 0, 0, symbols));
    }
    return plan.refusal();
  };
  EXPECT_EQ(plan_with(512), "");
  EXPECT_CONTAINS(plan_with(513), "symbolic axes: expected 16777216, found 16809984");
}

TEST(VerifierLimits, PairsOfOperands) {
  const auto plan_with = [](uint16_t outputs) {
    BuiltPlan plan;
    plan.nodes.emplace_back(0, kNone, 0, kNoShape, 0, outputs);
    plan.operands.assign(outputs, kNone);
    return plan.refusal();
  };
  EXPECT_EQ(plan_with(8192), "");
  EXPECT_CONTAINS(plan_with(8193), "pairs of operands: expected 67108864, found 67125249");
}

TEST(VerifierLimits, WhatIsWrittenLiesApart) {
  const auto plan_with = [](uint16_t shape, uint16_t inputs, uint16_t outputs, uint32_t place) {
    BuiltPlan plan;
    plan.extents.assign(1, 64);
    for (uint32_t at : {uint32_t{0}, place}) {
      plan.tensors.emplace_back(at, 0, static_cast<uint8_t>(DataType::kUint8), 1, 0, 0);
    }
    plan.operands = {0, 1};
    plan.nodes.emplace_back(0, kNone, 0, shape, inputs, outputs);
    return plan.refusal();
  };
  const std::string overlap = "operands that overlap: expected 0, found 1";
  EXPECT_EQ(plan_with(kNoShape, 1, 1, 0), "") << "an output in the very memory of an input";
  EXPECT_CONTAINS(plan_with(kNoShape, 1, 1, 4), overlap);
  EXPECT_EQ(plan_with(kNoShape, 1, 1, 16), "");
  EXPECT_CONTAINS(plan_with(kNoShape, 0, 2, 0), overlap);
  EXPECT_CONTAINS(plan_with(kNoShape | kHasWorkspace, 1, 0, 0), overlap);
  EXPECT_CONTAINS(plan_with(kNoShape | kHasState, 1, 0, 0), overlap);
  EXPECT_EQ(plan_with(kNoShape | kHasState, 1, 0, 16), "");
}

TEST(VerifierLimits, StatesOfNodesLieBehindOneAnother) {
  const auto plan_with = [](uint32_t first, uint32_t second, uint32_t input) {
    BuiltPlan plan;
    plan.extents.assign(1, 64);
    for (uint32_t at : {first, second, input}) {
      plan.tensors.emplace_back(at, 0, static_cast<uint8_t>(DataType::kUint8), 1, 0, 0);
    }
    plan.operands = {2, 0, 1};
    plan.nodes.emplace_back(0, kNone, 0, kNoShape | kHasState, 1, 0);
    plan.nodes.emplace_back(2, kNone, 0, kNoShape | kHasState, 0, 0);
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
