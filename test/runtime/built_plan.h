// SPDX-License-Identifier: Apache-2.0
//
// Plans whose records a test writes itself: structures that no converter gives.
#pragma once

#include "test/runtime/forged_plan.h"

namespace intarsia::test {

class BuiltPlan {
 public:
  using Port = flatbuffers::Offset<plan::Port>;

  flatbuffers::FlatBufferBuilder builder;
  std::vector<plan::Tensor> tensors;
  std::vector<int32_t> extents;
  uint32_t dynamic_extents = 0;
  std::vector<uint32_t> operands;
  std::vector<plan::Node> nodes;
  std::vector<uint64_t> attributes;
  std::vector<uint64_t> kernels{1};
  std::vector<plan::Slot> slots;
  std::vector<Port> inputs, outputs, state_ports;
  std::vector<plan::StateUpdate> states;
  int symbols = 0;
  size_t entries = 1;
  uint32_t views = 0;
  uint64_t tensor_bytes = 4096;

  Port port(const char* name, uint32_t slot, const std::vector<int32_t>& axes = {}) {
    const auto text = builder.CreateString(name);
    return plan::CreatePort(builder, text, slot, builder.CreateVector(axes));
  }
  /// A tensor in the arena; `byte` is its place. Gives its index.
  uint32_t add_tensor(DataType type, uint32_t first_extent, uint8_t rank, uint32_t byte) {
    tensors.emplace_back(byte / static_cast<uint32_t>(kArenaUnit), first_extent,
                         static_cast<uint8_t>(type), rank, static_cast<uint8_t>(Memory::kArena), 0);
    return static_cast<uint32_t>(tensors.size() - 1);
  }
  /// A slot, and the tensor that is its.
  uint32_t add_slot(DataType type, uint32_t first_extent, uint8_t rank, uint32_t byte,
                    uint32_t flags, uint32_t initial = kNone) {
    const auto slot = static_cast<uint32_t>(slots.size());
    tensors.emplace_back(slot, first_extent, static_cast<uint8_t>(type), rank,
                         static_cast<uint8_t>(Memory::kSlot), 0);
    slots.emplace_back(static_cast<uint32_t>(tensors.size() - 1),
                       byte / static_cast<uint32_t>(kArenaUnit), flags, initial);
    return static_cast<uint32_t>(tensors.size() - 1);
  }

  /// Opens in an arena of its own, which lives as long as this.
  Result<Session> open(KernelSet set) {
    finish();
    const uint64_t prefix = metadata_bytes(counts());
    arena_ = std::make_unique<tool::AlignedBytes>(prefix + tensor_bytes);
    return Session::open(plan_->span(), arena_->span(), set, ForgedPlan::unchecked(), &diagnostic);
  }
  /// The sentence with which the plan is refused; "" if it opens.
  std::string refusal(KernelSet set) {
    return open(set).ok() ? "" : tool::describe_text(diagnostic, plan_->span());
  }
  /// The same of the structure alone. What the verifier lets pass fails at the arena.
  std::string refusal() {
    finish();
    const auto session =
        Session::open(plan_->span(), {}, tool::all_kernels(), ForgedPlan::unchecked(), &diagnostic);
    EXPECT_FALSE(session.ok());
    return session.status().code() == Code::kCorruptPlan
               ? tool::describe_text(diagnostic, plan_->span())
               : "";
  }

  size_t bytes() { return plan_->span().size(); }

  Diagnostic diagnostic;

 private:
  MetadataCounts counts() const {
    return {
        kernels.size(), 0, slots.size(), dynamic_extents, views, 0, static_cast<uint64_t>(symbols)};
  }

  void finish() {
    std::vector<flatbuffers::Offset<plan::Symbol>> named;
    for (int i = 0; i < symbols; ++i) named.push_back(plan::CreateSymbol(builder, 0, 1, 1));
    const auto input_list = builder.CreateVector(inputs);
    const auto output_list = builder.CreateVector(outputs);
    const std::vector<flatbuffers::Offset<plan::Entry>> shared(
        entries, plan::CreateEntry(builder, 0, 0, input_list, output_list));
    const std::vector<plan::Graph> graphs{{0, static_cast<uint32_t>(nodes.size()), 0, kNone}};
    const uint64_t prefix = metadata_bytes(counts());
    const plan::Memory memory(prefix + tensor_bytes, prefix, 0, 0, 0, 0, 0, 0, 0, 0, 0);
    const auto tensor_list = builder.CreateVectorOfStructs(tensors);
    const auto extent_list = builder.CreateVector(extents);
    const auto operand_list = builder.CreateVector(operands);
    const auto node_list = builder.CreateVectorOfStructs(nodes);
    const auto graph_list = builder.CreateVectorOfStructs(graphs);
    const auto attribute_list = builder.CreateVector(attributes);
    const auto kernel_list = builder.CreateVector(kernels);
    const auto slot_list = builder.CreateVectorOfStructs(slots);
    const auto entry_list = builder.CreateVector(shared);
    const auto symbol_list = builder.CreateVector(named);
    const auto state_list = builder.CreateVectorOfStructs(states);
    const auto state_port_list = builder.CreateVector(state_ports);
    plan::PlanBuilder root(builder);
    root.add_tensors(tensor_list);
    root.add_extents(extent_list);
    root.add_dynamic_extents(dynamic_extents);
    root.add_operands(operand_list);
    root.add_nodes(node_list);
    root.add_graphs(graph_list);
    root.add_attributes(attribute_list);
    root.add_kernels(kernel_list);
    root.add_slots(slot_list);
    root.add_entries(entry_list);
    root.add_symbols(symbol_list);
    root.add_states(state_list);
    root.add_state_ports(state_port_list);
    root.add_view_count(views);
    root.add_threads(1);
    root.add_memory(&memory);
    builder.Finish(root.Finish());

    const uint64_t size = builder.GetSize();
    PlanHeader header{
        {}, kPlanFormatVersion, sizeof(PlanHeader), 64, size, (64 + size + 63) / 64 * 64, 0, 0, 0};
    std::memcpy(header.magic, kPlanMagic, sizeof(kPlanMagic));
    plan_ = std::make_unique<tool::AlignedBytes>(header.weights_offset);
    std::memcpy(plan_->span().data(), &header, sizeof(header));
    std::memcpy(plan_->span().data() + 64, builder.GetBufferPointer(), size);
  }

  std::unique_ptr<tool::AlignedBytes> plan_, arena_;
};

}  // namespace intarsia::test
