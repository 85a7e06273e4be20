// SPDX-License-Identifier: Apache-2.0
//
// Every check of core/runtime/verifier.h has a forged plan here that it alone refuses, with its
// sentence: a check that is lost turns one of these red.
#include "test/runtime/forged_plan.h"

namespace intarsia::test {
namespace {

using converter::contains;
using converter::OnnxBuilder;

constexpr auto kLarge = uint32_t{1} << 31;
/// A place that many units away, inside what the other was inside of.
uint32_t near(uint32_t place, uint32_t units) {
  return place >= units ? place - units : place + units;
}

/// A weight, a workspace, attributes, a branch, a shape function, a symbol.
class Verifier : public testing::Test {
 protected:
  static OnnxBuilder model() {
    OnnxBuilder model;
    symbol(model.input("x", {0, 8, 3}), 0, "n");
    model.input("condition", {}, DataType::kBool);
    model.output("y");
    model.floats("w", {4, 8, 2}, std::vector<float>(64, 0.25f));
    model.floats("one", {1}, {1});
    model.node("Conv", {"x", "w"}, {"c"});
    auto& node = model.node("If", {"condition"}, {"z"});
    for (const char* attribute : {"then_branch", "else_branch"}) {
      auto& graph =
          *OnnxBuilder::attribute(node, attribute, onnx::AttributeProto::GRAPH).mutable_g();
      graph.set_name(attribute);
      const char* type = attribute[0] == 't' ? "Add" : "Mul";
      OnnxBuilder::add_node(*graph.mutable_node(), type, {"c", "one"}, {attribute});
      graph.add_output()->set_name(attribute);
    }
    model.node("Transpose", {"z"}, {"t"});
    OnnxBuilder::set(model.node("Cast", {"t"}, {"d"}), "to",
                     static_cast<int64_t>(DataType::kDouble));
    model.node("Sin", {"d"}, {"e"});
    OnnxBuilder::set(model.node("Cast", {"e"}, {"y"}), "to",
                     static_cast<int64_t>(DataType::kFloat));
    return model;
  }
  static converter::ConvertOptions options() {
    converter::ConvertOptions options;
    options.dims["n"] = converter::DimRange{1, 3};
    return options;
  }

  void SetUp() override { ASSERT_EQ(plan.refusal(), ""); }

  const plan::Memory& memory() { return *plan.root().memory(); }
  uint32_t node_with(uint16_t flag) {
    for (uint32_t i = 0; i < plan.root().nodes()->size(); ++i) {
      if ((plan.node(i)->shape() & flag) != 0) return i;
    }
    ADD_FAILURE() << "no node with " << flag;
    return 0;
  }
  uint32_t sub_graph() {
    uint32_t index = 0;
    while (plan.root().graphs()->Get(index)->parent() == kNone) ++index;
    return index;
  }

  ForgedPlan plan{model(), options()};
};

TEST_F(Verifier, AlignmentOf64BitElements) {
  for (uint16_t field :
       {plan::Plan::VT_ATTRIBUTES, plan::Plan::VT_KERNELS, plan::Plan::VT_SHAPES}) {
    // A vector that begins 4 bytes later: the first half of its first element is its length.
    const void* place = place_of(&plan.root(), field);
    uint32_t offset;
    std::memcpy(&offset, place, 4);
    const Forgery length(static_cast<const uint8_t*>(place) + offset, 4, uint32_t{1});
    EXPECT_CONTAINS(with(plan, place, 0, offset + 4), "alignment of 64-bit elements: expected 0");
  }
}

TEST_F(Verifier, Memory) {
  EXPECT_CONTAINS(without(plan, &plan.root(), plan::Plan::VT_MEMORY), "memory table");
  const uint64_t prefix = memory().metadata_bytes();
  EXPECT_CONTAINS(with(plan, &memory(), field::kMetadataBytes, prefix + 64),
                  "metadata bytes: expected " + std::to_string(prefix));
  EXPECT_CONTAINS(with(plan, &memory(), field::kArenaBytes, prefix - 1),
                  "arena bytes: expected " + std::to_string(prefix));
  EXPECT_CONTAINS(with(plan, &memory(), field::kArenaBytes, (uint64_t{1} << 34) + 1),
                  "arena bytes: expected 17179869184, found 17179869185");
}

TEST_F(Verifier, DynamicExtents) {
  // The prefix follows from their number, so that it has to be forged with it.
  const uint32_t beyond = plan.root().extents()->size() + 1;
  const Forgery count(place_of(&plan.root(), plan::Plan::VT_DYNAMIC_EXTENTS), 0, beyond);
  const uint64_t least = memory().metadata_bytes();
  for (uint64_t bytes = least + 4 * uint64_t{beyond} + 64; bytes >= least; --bytes) {
    const Forgery metadata(&memory(), field::kMetadataBytes, bytes);
    const Forgery arena(&memory(), field::kArenaBytes, bytes + 4096);
    const std::string found = plan.refusal();
    if (contains(found, "metadata bytes")) continue;
    EXPECT_CONTAINS(found, "dynamic extents: expected " + std::to_string(beyond - 1));
    return;
  }
  ADD_FAILURE() << "no prefix fits";
}

TEST_F(Verifier, TensorsTypeRankAndExtents) {
  const plan::Tensor* tensor = plan.tensor_in(Memory::kWeights);
  EXPECT_CONTAINS(with(plan, tensor, field::kTensorType, uint8_t{0}), "element type: expected");
  EXPECT_CONTAINS(with(plan, tensor, field::kTensorType, uint8_t{200}), "element type: expected");
  EXPECT_CONTAINS(with(plan, tensor, field::kTensorRank, uint8_t{9}), "rank: expected 8, found 9");
  const uint32_t extents = plan.root().extents()->size();
  EXPECT_CONTAINS(with(plan, tensor, field::kTensorExtents, extents),
                  "extents index: expected " + std::to_string(extents));
  EXPECT_CONTAINS(with(plan, tensor, field::kTensorExtents, uint32_t{0xffffffff}),
                  "extents index: expected " + std::to_string(extents));
  const uint32_t varying = plan.root().dynamic_extents();
  ASSERT_GT(varying, 0U);
  EXPECT_CONTAINS(with(plan, tensor, field::kTensorExtents, varying - 1), "dynamic extents");
  EXPECT_CONTAINS(with(plan, plan.extent(tensor, 0), 0, int32_t{-1}),
                  "extent: expected 0, found -1");
  const Forgery first(plan.extent(tensor, 0), 0, INT32_MAX);
  EXPECT_CONTAINS(with(plan, plan.extent(tensor, 1), 0, INT32_MAX),
                  "element count: expected 4398046511104");
  // An extent of 0 leaves no bytes, but the others may not grow without limit.
  const Forgery second(plan.extent(tensor, 1), 0, INT32_MAX);
  EXPECT_CONTAINS(with(plan, plan.extent(tensor, 2), 0, int32_t{0}),
                  "element count: expected 4398046511104");
}

TEST_F(Verifier, TensorsPlace) {
  EXPECT_CONTAINS(with(plan, plan.tensor_in(Memory::kArena), field::kTensorPlace, kLarge),
                  "place in the arena: expected");
  EXPECT_CONTAINS(with(plan, plan.tensor_in(Memory::kWeights), field::kTensorPlace, kLarge),
                  "place in the weights: expected");
  for (Memory kind : {Memory::kDeviceArena, Memory::kDeviceWeights}) {
    EXPECT_CONTAINS(with(plan, plan.tensor_in(Memory::kArena), field::kTensorMemory, kind),
                    "device arena bytes");
  }
  EXPECT_CONTAINS(with(plan, plan.tensor_in(Memory::kArena), field::kTensorMemory, uint8_t{5}),
                  "memory kind: expected 4, found 5");
  for (const plan::Tensor* tensor : *plan.root().tensors()) {
    if (tensor->type() != static_cast<uint8_t>(DataType::kDouble)) continue;
    if (static_cast<Memory>(tensor->memory()) != Memory::kArena) continue;
    EXPECT_CONTAINS(with(plan, tensor, field::kTensorPlace, near(tensor->place(), 1)),
                    "alignment of place: expected 8, found 4");
    return;
  }
  ADD_FAILURE() << "no tensor of 8-byte elements in the arena";
}

TEST_F(Verifier, TensorsInSlots) {
  const uint32_t slots = plan.root().slots()->size();
  const plan::Tensor* weight = plan.tensor_in(Memory::kWeights);
  const Forgery in_slot(weight, field::kTensorMemory, Memory::kSlot);
  EXPECT_CONTAINS(with(plan, weight, field::kTensorPlace, slots), "slot; the plan is damaged");
  // Slot 1 is the condition: one byte.
  const Forgery place(weight, field::kTensorPlace, uint32_t{1});
  EXPECT_CONTAINS(plan.refusal(), "bytes in the slot: expected 1");
  // As few bytes, but of a type that a bound buffer need not be aligned for.
  const Forgery extent(plan.extent(weight, 0), 0, int32_t{0});
  EXPECT_CONTAINS(plan.refusal(), "type in the slot: expected 9, found 1");
}

TEST_F(Verifier, Slots) {
  const plan::Slot* slot = plan.root().slots()->Get(0);
  const uint32_t tensors = plan.root().tensors()->size();
  EXPECT_CONTAINS(with(plan, slot, field::kSlotTensor, tensors),
                  "tensor of its slot; the plan is damaged");
  EXPECT_CONTAINS(with(plan, slot, field::kSlotPlace, kLarge), "place in the arena: expected");
  EXPECT_CONTAINS(with(plan, slot, field::kSlotPlace, near(slot->place(), 1)),
                  "alignment of slot: expected 8, found 4");
  // The tensor of another slot, and one that is in no slot.
  const plan::Slot* other = plan.root().slots()->Get(2);
  const Forgery room(&memory(), field::kArenaBytes, memory().arena_bytes() + 4096);
  EXPECT_CONTAINS(with(plan, plan.root().slots()->Get(1), field::kSlotTensor, slot->tensor()),
                  "slot's tensor: expected 1, found 0");
  ASSERT_EQ(plan.root().slots()->size(), 3U);
  const Forgery views_nothing(plan.tensor(other->tensor()), field::kTensorPlace, uint32_t{0});
  EXPECT_CONTAINS(with(plan, plan.tensor(other->tensor()), field::kTensorMemory, Memory::kArena),
                  "slot's tensor: expected 2, found 0");
}

TEST_F(Verifier, Operands) {
  const uint32_t operands = plan.root().operands()->size();
  const uint32_t last = plan.root().nodes()->size() - 1;
  EXPECT_CONTAINS(with(plan, plan.node(last), field::kNodeInputs, uint16_t{65535}),
                  "operands: expected " + std::to_string(operands));
  const uint32_t tensors = plan.root().tensors()->size();
  const uint32_t* list = plan.root().operands()->data();
  EXPECT_CONTAINS(with(plan, list, 0, tensors), "operand; the plan is damaged");
  const uint32_t output = plan.node(0)->inputs();
  const auto index_of = [&](const plan::Tensor* tensor) {
    return static_cast<uint32_t>(tensor - plan.tensor(0));
  };
  const uint32_t x = plan.root().slots()->Get(0)->tensor();
  for (uint32_t read_only : {index_of(plan.tensor_in(Memory::kWeights)), x}) {
    EXPECT_CONTAINS(with(plan, list + output, 0, read_only), "output in read-only memory");
  }
}

TEST_F(Verifier, WorkspaceIsPlainBytesInTheArena) {
  const uint32_t node = node_with(kHasWorkspace);
  const uint32_t index =
      first_operand(plan.root(), node) + plan.node(node)->inputs() + plan.node(node)->outputs();
  const uint32_t* list = plan.root().operands()->data();
  EXPECT_CONTAINS(with(plan, list + index, 0, kNone), ": operand: expected");
  const plan::Tensor* scratch = plan.tensor(list[index]);
  EXPECT_CONTAINS(with(plan, scratch, field::kTensorPlace, near(scratch->place(), 4)),
                  "workspace: expected 0");
  EXPECT_CONTAINS(with(plan, scratch, field::kTensorType, static_cast<uint8_t>(DataType::kInt8)),
                  "workspace: expected 0");
  EXPECT_CONTAINS(with(plan, scratch, field::kTensorRank, uint8_t{0}), "workspace: expected 0");
  // In a slot, whose buffer the caller may choose.
  const Forgery few(plan.extent(scratch, 0), 0, int32_t{1});
  const Forgery writable(plan.root().slots()->Get(0), field::kSlotFlags, uint32_t{0});
  const Forgery place(scratch, field::kTensorPlace, uint32_t{0});
  EXPECT_CONTAINS(with(plan, scratch, field::kTensorMemory, Memory::kSlot),
                  "workspace: expected 0");
}

TEST_F(Verifier, Nodes) {
  const plan::Node* node = plan.node(0);
  const uint32_t kernels = plan.root().kernels()->size();
  const uint32_t shapes = plan.root().shapes()->size();
  EXPECT_CONTAINS(with(plan, node, field::kNodeKernel, static_cast<uint16_t>(kernels)),
                  "kernel; the plan is damaged");
  const auto flags = static_cast<uint16_t>(node->shape() & ~kNoShape);
  EXPECT_CONTAINS(with(plan, node, field::kNodeShape, static_cast<uint16_t>(flags | shapes)),
                  "shape function; the plan is damaged");
  const uint32_t words = plan.root().attributes()->size();
  EXPECT_CONTAINS(with(plan, node, field::kNodeAttributes, words),
                  "attributes; the plan is damaged");
  const uint64_t available = 8 * (uint64_t{words} - node->attributes() - 1);
  EXPECT_CONTAINS(
      with(plan, plan.root().attributes()->data() + node->attributes(), 0, available + 1),
      "attribute bytes: expected " + std::to_string(available));
}

TEST_F(Verifier, Graphs) {
  const auto* graphs = plan.root().graphs();
  const uint32_t nodes = plan.root().nodes()->size();
  EXPECT_CONTAINS(with(plan, graphs->Get(0), field::kGraphFirst, uint32_t{1}),
                  "graph's first node: expected 0, found 1");
  EXPECT_CONTAINS(with(plan, graphs->Get(0), field::kGraphOperands, uint32_t{1}),
                  "graph's first operand: expected 0, found 1");
  const uint32_t last = graphs->size() - 1;
  EXPECT_CONTAINS(with(plan, graphs->Get(last), field::kGraphCount, nodes),
                  "graph's nodes: expected " + std::to_string(nodes));
  // A graph that a node of its own would run.
  const uint32_t sub = sub_graph();
  const uint32_t first = graphs->Get(sub)->first();
  EXPECT_CONTAINS(with(plan, graphs->Get(sub), field::kGraphParent, first),
                  "graph's parent; the plan is damaged");
}

TEST_F(Verifier, Entries) {
  EXPECT_CONTAINS(without(plan, &plan.root(), plan::Plan::VT_ENTRIES), "entry points");
  EXPECT_CONTAINS(with(plan, plan.root().entries(), 0, uint32_t{0}), "entry points");
  // Graph 0 is the default, which is not stored: the field of the inputs takes its place.
  const plan::Entry& entry = *plan.root().entries()->Get(0);
  const auto field = table(&entry).GetOptionalFieldOffset(plan::Entry::VT_INPUTS);
  const Forgery graph(table(&entry).GetVTable(), plan::Entry::VT_GRAPH, field);
  const uint32_t graphs = plan.root().graphs()->size();
  const Forgery none(place_of(&entry, plan::Entry::VT_GRAPH), 0, graphs);
  const Forgery no_inputs(table(&entry).GetVTable(), plan::Entry::VT_INPUTS, uint16_t{0});
  EXPECT_CONTAINS(plan.refusal(), "entry's graph; the plan is damaged");
  EXPECT_CONTAINS(with_field(plan, &entry, plan::Entry::VT_GRAPH, sub_graph()),
                  "entry's graph is a sub-graph");
}

TEST_F(Verifier, Ports) {
  const plan::Entry& entry = *plan.root().entries()->Get(0);
  const uint32_t slots = plan.root().slots()->size();
  const plan::Port& output = *entry.outputs()->Get(0);
  EXPECT_CONTAINS(with_field(plan, &output, plan::Port::VT_SLOT, slots),
                  "port's slot; the plan is damaged");
  const plan::Port& input = *entry.inputs()->Get(0);
  ASSERT_EQ(input.symbols()->size(), 3U);
  EXPECT_CONTAINS(with(plan, input.symbols(), 0, uint32_t{2}),
                  "port's symbols: expected 3, found 2");
  EXPECT_CONTAINS(with(plan, input.symbols(), 4, int32_t{1}), "symbol; the plan is damaged");
  EXPECT_CONTAINS(with(plan, input.symbols(), 4, int32_t{-3}), "symbol: expected 1");
}

}  // namespace
}  // namespace intarsia::test
