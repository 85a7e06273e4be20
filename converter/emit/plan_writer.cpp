// SPDX-License-Identifier: Apache-2.0
#include "converter/emit/plan_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "converter/emit/extent_rules.h"
#include "converter/emit/plan_tables.h"
#include "converter/graph/sequence.h"
#include "core/operators/control/control.h"
#include "core/plan_structure.h"

namespace intarsia::converter {

namespace {

/// Port::holds.
std::vector<int32_t> held_by(const Value& value) {
  if (!holds_elements(value.type)) return {};
  std::vector<int32_t> numbers;
  const definitions::SequencePointer outermost = sequence_type(value);
  for (const definitions::SequenceType* at = outermost.get(); at != nullptr; at = at->inner.get()) {
    if (at->key != DataType::kUndefined) numbers.push_back(static_cast<int32_t>(at->key));
    numbers.push_back(static_cast<int32_t>(at->type));
    if (holds_elements(at->type) || !at->shape) continue;
    for (int axis = 0; axis < at->shape->rank; ++axis) {
      const definitions::Dim& extent = (*at->shape)[axis];
      const bool fixed = is_constant(extent) && std::in_range<int32_t>(extent.upper());
      numbers.push_back(fixed ? static_cast<int32_t>(extent.upper()) : -1);
    }
  }
  return numbers;
}

class Writer {
 public:
  Writer(std::span<const PlanEntry> entries, const Storage& storage, const Lowering& lowering,
         const std::vector<State>& states, const PlanWriterOptions& options)
      : entries_(entries),
        storage_(storage),
        lowering_(lowering),
        states_(states),
        options_(options),
        tables_(storage) {}

  PlanFile run() {
    collect_requirements();
    for (const PlacedNode& node : storage_.nodes) add_node(node);
    // Ports need a tensor even if no node touches them.
    for (const SlotPlan& slot : storage_.slots) tables_.tensor(slot.value);
    fill_summary();
    write_structure();
    return assemble();
  }

 private:
  void collect_requirements() {
    std::map<uint64_t, Requirement> kernels, shapes;
    for (const PlacedNode& placed : storage_.nodes) {
      const LoweredNode& lowered = lowering_.at(placed.node);
      const definitions::KernelRow& kernel = *lowered.kernel;
      kernels[kernel.key] = {kernel.key, kernel_text(kernel.id),
                             fmt::format("intarsia::kernel_key({})", kernel_id_text(kernel.id)),
                             kernel.source, kernel.device != KernelDevice::kHost};
      if (!needs_shape(*placed.node)) continue;
      const definitions::OperatorDefinition& op = *placed.node->op;
      shapes[op.shape.key] = {op.shape.key, std::string(op.shape_name),
                              fmt::format("intarsia::shape_key(\"{}\")", op.shape_name), op.source};
    }
    for (auto& [key, requirement] : kernels) summary_.kernels.push_back(std::move(requirement));
    for (auto& [key, requirement] : shapes) summary_.shapes.push_back(std::move(requirement));
    if (summary_.shapes.size() >= kNoShape || summary_.kernels.size() > 0xffff) {
      throw Error("the model uses more distinct kernels than a plan can name");
    }
  }

  /// Control flow computes no extents: its branches do. Operators without a shape function for run
  /// time report the extents of their outputs themselves.
  bool needs_shape(const Node& node) const {
    if (node.op->shape.infer == nullptr || !node.graphs.empty()) return false;
    return std::any_of(node.outputs.begin(), node.outputs.end(), [this](const Value* value) {
      return value != nullptr && varies(*tables_.canonical(value));
    });
  }

  static uint16_t index_of(const std::vector<Requirement>& rows, uint64_t key) {
    const auto row = std::lower_bound(rows.begin(), rows.end(), key,
                                      [](const Requirement& a, uint64_t b) { return a.key < b; });
    return static_cast<uint16_t>(row - rows.begin());
  }

  void add_node(const PlacedNode& placed) {
    const Node& node = *placed.node;
    const LoweredNode& lowered = lowering_.at(&node);
    for (const auto* list : {&placed.inputs, &placed.outputs}) {
      for (const Value* value : *list) operands_.push_back(value ? tables_.tensor(value) : kNone);
    }
    uint16_t shape = needs_shape(node) ? index_of(summary_.shapes, node.op->shape.key) : kNoShape;
    if (lowered.workspace_bytes > 0) {
      shape |= kHasWorkspace;
      operands_.push_back(tables_.scratch(storage_.workspaces.at(&node), lowered.workspace_bytes,
                                          lowered.writes_device));
    }
    if (lowered.state_bytes > 0) {
      shape |= kHasState;
      operands_.push_back(tables_.scratch(storage_.node_states.at(&node), lowered.state_bytes,
                                          lowered.writes_device));
    }
    if (placed.inputs.size() > 0xffff || placed.outputs.size() > 0xffff) {
      throw Error(node.problem("more than 65,535 operands"));
    }
    nodes_.emplace_back(tables_.attributes(placed), index_of(summary_.kernels, lowered.kernel->key),
                        shape, static_cast<uint16_t>(placed.inputs.size()),
                        static_cast<uint16_t>(placed.outputs.size()));
  }

  static void check_arena(uint64_t bytes, std::string_view what) {
    if (bytes <= kLargestArena) return;
    throw Error(fmt::format("the plan needs {} of {} bytes, and {} are the most", what, bytes,
                            kLargestArena),
                "lower the maxima of symbolic dimensions (--dim), or split the model");
  }
  void fill_summary() {
    MetadataCounts counts;
    counts.kernels = summary_.kernels.size();
    counts.shapes = summary_.shapes.size();
    counts.slots = storage_.slots.size();
    counts.dynamic_extents = tables_.dynamic_extents;
    counts.views = storage_.view_count;
    for (const PlanEntry& entry : entries_) {
      if (entry.model->continued != nullptr) continue;  // its symbols are those of the other
      counts.symbols += static_cast<uint64_t>(entry.model->symbols->size());
    }
    summary_.strings = !storage_.strings.ends.empty();
    summary_.segments = segments();
    counts.segments = summary_.segments;
    counts.string_areas = storage_.strings.ends.size();
    summary_.metadata_bytes = metadata_bytes(counts);
    summary_.arena_bytes = summary_.metadata_bytes + static_cast<uint64_t>(storage_.tensor_bytes);
    summary_.workspace_bytes = static_cast<uint64_t>(storage_.largest_workspace);
    summary_.lower_bound_bytes = static_cast<uint64_t>(storage_.lower_bound_bytes);
    summary_.padding_bytes = static_cast<uint64_t>(
        std::max<int64_t>(0, storage_.tensor_bytes - storage_.lower_bound_bytes));
    summary_.weights_bytes = static_cast<uint64_t>(storage_.weights_bytes);
    check_arena(summary_.arena_bytes, "an arena");
    if (summary_.segments == 0) return;
    summary_.device_arena_bytes =
        kDevicePrefix + static_cast<uint64_t>(storage_.device_tensor_bytes);
    check_arena(summary_.device_arena_bytes, "a device arena");
    summary_.device_lower_bound_bytes = static_cast<uint64_t>(storage_.device_lower_bound_bytes);
    summary_.device_weights_offset = static_cast<uint64_t>(storage_.device_weights_offset);
    summary_.device_weights_bytes = static_cast<uint64_t>(storage_.device_weights_bytes);
  }

  /// Runs of nodes on the device. All of them are in the graphs of entry points.
  uint32_t segments() const {
    uint32_t count = 0;
    const Graph* open = nullptr;  // the graph of the run
    for (const PlacedNode& placed : storage_.nodes) {
      const LoweredNode& lowered = lowering_.at(placed.node);
      const bool device = lowered.reads_device && lowered.writes_device;
      if (device && open != placed.node->graph) ++count;
      open = device ? placed.node->graph : nullptr;
    }
    return count;
  }

  flatbuffers::Offset<plan::Port> port(const Value* value, const PlanSymbols& names) {
    std::vector<int32_t> symbols;
    for (int axis = 0; varies(*value) && axis < value->shape->rank; ++axis) {
      const int32_t rule = extent_rule((*value->shape)[axis], names);
      // What continues a run is given the extents that the run has found.
      const bool given = storage_.extents_of.count(value) != 0;
      symbols.push_back(given && rule >= 0 ? kDerivedExtent : rule);
    }
    const auto name = builder_.CreateString(value->name);
    const auto symbol_list = list_of(symbols), held_list = list_of(held_by(*value));
    return plan::CreatePort(builder_, name, storage_.places.at(value).slot, symbol_list, held_list);
  }
  /// Absent where it is empty.
  template <class T>
  flatbuffers::Offset<flatbuffers::Vector<T>> list_of(const std::vector<T>& numbers) {
    return numbers.empty() ? 0 : builder_.CreateVector(numbers);
  }

  /// What the states become after a run of the entry point, in the order of their slots.
  void add_updates(const Graph& graph, std::vector<plan::StateUpdate>& updates) {
    const auto first = static_cast<std::ptrdiff_t>(updates.size());
    for (const State& state : states_) {
      for (const Value* source : state.sources) {
        if (source->graph != &graph) continue;
        updates.emplace_back(storage_.places.at(state.inputs.front()).slot, tables_.tensor(source));
      }
    }
    std::sort(updates.begin() + first, updates.end(),
              [](const auto& a, const auto& b) { return a.slot() < b.slot(); });
  }

  void add_symbols(const PlanEntry& entry,
                   std::vector<flatbuffers::Offset<plan::Symbol>>& symbols) {
    const definitions::SymbolTable& table = *entry.model->symbols;
    for (int i = 0; i < table.size(); ++i) {
      const auto clamp = [](int64_t value) {
        return static_cast<int32_t>(std::clamp<int64_t>(value, 0, INT32_MAX));
      };
      const auto name = builder_.CreateString(qualified(entry, table[i].name));
      symbols.push_back(
          plan::CreateSymbol(builder_, name, clamp(table[i].min), clamp(table[i].max)));
    }
  }

  const PlanEntry& entry_of(const Node& node) const {
    const Graph& root = node.graph->root();
    return *std::find_if(entries_.begin(), entries_.end(), [&root](const PlanEntry& entry) {
      return entry.model->graph.get() == &root;
    });
  }
  /// An entry point that continues another has the other's symbols.
  PlanSymbols symbols_of(const PlanEntry& entry) const {
    PlanSymbols found{entry.model->symbols.get(), 0};
    int count = 0;
    for (const PlanEntry& each : entries_) {
      if (each.model->continued == nullptr) {
        found.first = count;
        count += each.model->symbols->size();
      }
      if (&each == &entry) break;
    }
    return found;
  }
  /// The entry point that this one continues; kNone if there is none.
  uint32_t continued_by(const PlanEntry& entry) const {
    for (size_t i = 0; i < entries_.size(); ++i) {
      if (entries_[i].model->graph == entry.model->continued) return static_cast<uint32_t>(i);
    }
    return kNone;
  }
  /// A name that the models of several entry points may have in common.
  std::string qualified(const PlanEntry& entry, const std::string& name) const {
    return entries_.size() > 1 ? entry.name + ":" + name : name;
  }

  /// Plan::strings.
  std::vector<uint32_t> string_numbers() const {
    const StringPlan& strings = storage_.strings;
    if (strings.ends.empty()) return {};
    std::vector<uint32_t> numbers{
        PlanTables::units(strings.constants_offset, kWeightUnit, "weights"),
        static_cast<uint32_t>(strings.constants.size())};
    numbers.insert(numbers.end(), strings.ends.begin(), strings.ends.end());
    return numbers;
  }

  void write_structure() {
    std::vector<plan::Slot> slots;
    for (const SlotPlan& slot : storage_.slots) {
      slots.emplace_back(
          tables_.tensor(slot.value), PlanTables::units(slot.offset, kArenaUnit, "the arena"),
          (slot.read_only ? kReadOnlySlot : 0) | (slot.state ? kStateSlot : 0),
          slot.initial ? PlanTables::units(slot.initial_offset, kWeightUnit, "weights") : kNone);
    }
    std::vector<plan::Graph> graphs;
    uint32_t operands_before = 0;
    for (const PlacedGraph& graph : storage_.graphs) {
      graphs.emplace_back(graph.first, graph.count, operands_before, graph.parent);
      for (uint32_t i = 0; i < graph.count; ++i) {
        operands_before += operand_count(nodes_[graph.first + i]);
      }
    }
    std::vector<std::vector<flatbuffers::Offset<plan::Port>>> inputs(entries_.size()),
        outputs(entries_.size());
    std::vector<flatbuffers::Offset<plan::Port>> state_ports;
    for (size_t i = 0; i < entries_.size(); ++i) {
      const Graph& graph = *entries_[i].model->graph;
      const PlanSymbols names = symbols_of(entries_[i]);
      for (const Value* input : graph.inputs()) {
        const bool state = is_state(states_, input);
        // A state has one port, whoever reads it.
        if (state && storage_.aliases.count(input) != 0) continue;
        (state ? state_ports : inputs[i]).push_back(port(input, names));
      }
      for (const Value* output : graph.outputs()) {
        if (!is_state(states_, output)) outputs[i].push_back(port(output, names));
      }
    }
    std::vector<plan::StateUpdate> updates;
    for (const PlanEntry& entry : entries_) {
      if (!states_.empty() && &entry != &entries_.front()) updates.emplace_back(kNone, 0);
      add_updates(*entry.model->graph, updates);
    }
    std::vector<flatbuffers::Offset<plan::Symbol>> symbols;
    for (const PlanEntry& entry : entries_) {
      if (entry.model->continued == nullptr) add_symbols(entry, symbols);
    }
    std::vector<uint64_t> kernels, shapes;
    for (const Requirement& row : summary_.kernels) kernels.push_back(row.key);
    for (const Requirement& row : summary_.shapes) shapes.push_back(row.key);
    std::vector<std::string> names, operators, kernel_names;
    if (!options_.strip_names) {
      for (const PlacedNode& placed : storage_.nodes) {
        names.push_back(qualified(entry_of(*placed.node), placed.node->name));
        operators.push_back(placed.node->qualified_type());
      }
      for (const Requirement& row : summary_.kernels) kernel_names.push_back(row.text);
    }
    const auto strings = [this](const std::vector<std::string>& list) {
      return list.empty() ? 0 : builder_.CreateVectorOfStrings(list);
    };
    std::vector<flatbuffers::Offset<plan::Entry>> entry_list;
    for (size_t i = 0; i < entries_.size(); ++i) {
      const auto entry_name = builder_.CreateString(entries_[i].name);
      entry_list.push_back(plan::CreateEntry(
          builder_, entry_name, storage_.entry_graphs[i], builder_.CreateVector(inputs[i]),
          builder_.CreateVector(outputs[i]), continued_by(entries_[i])));
    }
    const plan::Memory memory(summary_.arena_bytes, summary_.metadata_bytes,
                              summary_.workspace_bytes, summary_.padding_bytes,
                              summary_.lower_bound_bytes, summary_.device_arena_bytes,
                              summary_.device_lower_bound_bytes, summary_.device_weights_offset,
                              summary_.device_weights_bytes, summary_.segments, 0);
    const auto tensors = builder_.CreateVectorOfStructs(tables_.tensors);
    const auto extents = builder_.CreateVector(tables_.extents);
    const auto operands = builder_.CreateVector(operands_);
    const auto nodes = builder_.CreateVectorOfStructs(nodes_);
    const auto graph_vector = builder_.CreateVectorOfStructs(graphs);
    const auto attributes = builder_.CreateVector(tables_.attribute_words);
    const auto kernel_vector = builder_.CreateVector(kernels);
    const auto shape_vector = builder_.CreateVector(shapes);
    const auto slot_vector = builder_.CreateVectorOfStructs(slots);
    const auto entries = builder_.CreateVector(entry_list);
    const auto symbol_vector = builder_.CreateVector(symbols);
    const auto update_vector = builder_.CreateVectorOfStructs(updates);
    const auto state_vector = builder_.CreateVector(state_ports);
    const auto producer = builder_.CreateString("intarsia");
    const auto name_vector = strings(names), operator_vector = strings(operators),
               kernel_name_vector = strings(kernel_names);
    const auto promised_vector = list_of(promised_extents(
        storage_, tables_, [this](const Node& node) { return symbols_of(entry_of(node)); }));
    const auto string_vector = list_of(string_numbers());
    builder_.Finish(
        plan::CreatePlan(builder_, tensors, extents, tables_.dynamic_extents, operands, nodes,
                         graph_vector, attributes, kernel_vector, shape_vector, slot_vector,
                         entries, symbol_vector, update_vector, state_vector, storage_.view_count,
                         static_cast<uint32_t>(options_.threads), &memory, producer, name_vector,
                         operator_vector, kernel_name_vector, string_vector, promised_vector));
  }

  PlanFile assemble() {
    const auto align = [](uint64_t bytes) { return (bytes + 63) / 64 * 64; };
    PlanHeader header{};
    std::memcpy(header.magic, kPlanMagic, sizeof(kPlanMagic));
    header.format_version = kPlanFormatVersion;
    header.header_bytes = sizeof(header);
    header.structure_offset = sizeof(header);
    header.structure_bytes = builder_.GetSize();
    header.weights_offset = align(header.structure_offset + header.structure_bytes);
    header.weights_bytes = static_cast<uint64_t>(storage_.weights_bytes);

    PlanFile file;
    file.bytes.resize(header.weights_offset + header.weights_bytes);
    std::memcpy(file.bytes.data() + header.structure_offset, builder_.GetBufferPointer(),
                builder_.GetSize());
    for (const WeightPlan& weight : storage_.weights) {
      if (weight.constant.size == 0) continue;
      std::memcpy(file.bytes.data() + header.weights_offset + weight.offset,
                  weight.constant.data.get(), weight.constant.size);
    }
    std::memcpy(file.bytes.data(), &header, sizeof(header));
    header.checksum = plan_checksum(file.bytes, header);
    std::memcpy(file.bytes.data(), &header, sizeof(header));
    summary_.plan_bytes = file.bytes.size();
    file.summary = std::move(summary_);
    return file;
  }

  const std::span<const PlanEntry> entries_;
  const Storage& storage_;
  const Lowering& lowering_;
  const std::vector<State>& states_;
  const PlanWriterOptions& options_;
  PlanSummary summary_;
  flatbuffers::FlatBufferBuilder builder_;
  PlanTables tables_;
  std::vector<uint32_t> operands_;
  std::vector<plan::Node> nodes_;
};

}  // namespace

PlanFile write_plan(std::span<const PlanEntry> entries, const Storage& storage,
                    const Lowering& lowering, const std::vector<State>& states,
                    const PlanWriterOptions& options) {
  return Writer(entries, storage, lowering, states, options).run();
}

}  // namespace intarsia::converter
