// SPDX-License-Identifier: Apache-2.0
//
// Verification of a plan's nodes, their operands and states, and the graphs that they form.
#include "core/runtime/verifier.h"

namespace intarsia {
namespace {

bool has_state(const plan::Node& node) {
  return (node.shape() & kHasState) != 0;
}

}  // namespace

bool Verifier::attributes(const plan::Node& node) {
  const uint64_t place = node.attributes();
  if (place == kNone) return true;
  if (!index("attributes", place, plan_.attribute_count)) return false;
  const uint64_t bytes = plan_.attributes[place];
  const uint64_t available = (plan_.attribute_count - place - 1) * 8;
  if (!at_most("attribute bytes", available, bytes)) return false;
  // Every node's attributes are checked. Were large ones shared, a plan could ask for more work
  // than it has bytes.
  if (bytes <= kSharedAttributeBytes) return true;
  if (!at_least("place of large attributes", next_attributes_, place)) return false;
  next_attributes_ = place + 1 + (bytes + 7) / 8;
  return true;
}

bool Verifier::operands(const plan::Node& node) {
  const uint32_t formal = uint32_t{node.inputs()} + node.outputs(), count = operand_count(node);
  const uint32_t* list = plan_.operands + next_operand_;
  next_operand_ += count;
  if (!at_most("operands", plan_.operand_count, next_operand_)) return false;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t operand = list[i];
    if (operand == kNone && i < formal) continue;
    if (!index("operand", operand, plan_.tensor_count)) return false;
    if (i < node.inputs()) continue;
    const plan::Tensor& tensor = plan_.tensors[operand];
    const auto memory = static_cast<Memory>(tensor.memory());
    const bool writable =
        memory == Memory::kArena || memory == Memory::kDeviceArena ||
        (memory == Memory::kSlot && (plan_.slots[tensor.place()].flags() & kReadOnlySlot) == 0);
    if (!require(writable, "output in read-only memory", 0, operand)) return false;
    if (i < formal) continue;
    // Workspace and state are plain bytes in the arena, aligned for any use.
    const bool plain = memory != Memory::kSlot && tensor.rank() == 1 &&
                       static_cast<DataType>(tensor.type()) == DataType::kUint8 &&
                       tensor.extents() >= plan_.dynamic_extents && tensor.place() % 16 == 0;
    if (!require(plain, "workspace", 0, operand)) return false;
  }
  return !has_state(node) || follows(list[count - 1]);
}

bool Verifier::node(const plan::Node& node) {
  const uint16_t shape = node.shape() & kNoShape;
  return index("kernel", node.kernel(), list(plan::Plan::VT_KERNELS).count) &&
         (shape == kNoShape || index("shape function", shape, list(plan::Plan::VT_SHAPES).count)) &&
         attributes(node) && operands(node);
}

/// Graphs lie one behind another, in them nodes, in those operands: so every node is in a graph and
/// every list of operands is one node's.
bool Verifier::graphs() {
  uint64_t begin = 0;
  for (uint32_t i = 0; i < plan_.graph_count; ++i) {
    const plan::Graph& graph = plan_.graphs[i];
    if (!equal("graph's first node", begin, graph.first()) ||
        !equal("graph's first operand", next_operand_, graph.operands())) {
      return false;
    }
    const uint64_t end = begin + graph.count();
    if (!at_most("graph's nodes", plan_.node_count, end)) return false;
    for (; begin < end; ++begin) {
      node_ = static_cast<int32_t>(begin);
      if (!node(plan_.nodes[begin])) return false;
    }
    node_ = -1;
    if (graph.parent() == kNone) continue;
    if (!index("graph's parent", graph.parent(), graph.first())) return false;
  }
  return equal("nodes of all graphs", plan_.node_count, begin);
}

Verifier::Region Verifier::region_of(const plan::Tensor& tensor) {
  uint64_t place = tensor.place(), bytes = 0;
  static_cast<void>(bytes_of(tensor, bytes));  // `tensors` has seen it succeed
  const auto memory = static_cast<Memory>(tensor.memory());
  if (memory == Memory::kWeights || memory == Memory::kDeviceWeights) bytes = 0;
  if (memory == Memory::kSlot) place = plan_.slots[place].place();
  return {place * kArenaUnit, place * kArenaUnit + bytes, on_device(memory)};
}

/// A node's state outlives runs and may hold what its kernel trusts. So states follow one another
/// in the nodes' order, and nothing else that is ever written lies between the first and the last
/// (`node_states`): which needs no memory to verify.
bool Verifier::follows(uint32_t state) {
  const Region region = region_of(plan_.tensors[state]);
  Region& range = state_range_[region.device ? 1 : 0];
  if (range.begin == range.end) range.begin = range.end = region.begin;
  if (!at_least("place of the node's state", range.end, region.begin)) return false;
  range.end = region.end;
  return true;
}

bool Verifier::outside_states(uint32_t tensor, const char* what) {
  const Region region = region_of(plan_.tensors[tensor]);
  const Region& range = state_range_[region.device ? 1 : 0];
  const bool overlap = region.begin < region.end && range.begin < range.end &&
                       region.begin < range.end && range.begin < region.end;
  return require(!overlap, what, range.end, region.begin);
}

bool Verifier::node_states() {
  if (state_range_[0].begin == state_range_[0].end &&
      state_range_[1].begin == state_range_[1].end) {
    return true;
  }
  for (uint32_t i = 0; i < plan_.slot_count; ++i) {
    if (!outside_states(plan_.slots[i].tensor(), "slot among the nodes' states")) return false;
  }
  const uint32_t* operand = plan_.operands;
  for (uint32_t i = 0; i < plan_.node_count; ++i) {
    const plan::Node& node = plan_.nodes[i];
    node_ = static_cast<int32_t>(i);
    for (uint32_t left = operand_count(node); left != 0; --left, ++operand) {
      const bool own_state = left == 1 && has_state(node);
      if (*operand == kNone || own_state) continue;
      if (!outside_states(*operand, "operand among the nodes' states")) return false;
    }
  }
  node_ = -1;
  return true;
}

}  // namespace intarsia
