// SPDX-License-Identifier: Apache-2.0
//
// Verification of a plan's nodes, their operands and states, and the graphs that they form.
#include "core/runtime/verifier.h"

namespace intarsia {
namespace {

bool has_state(const plan::Node& node) {
  return (node.shape() & kHasState) != 0;
}
/// The operand that is the state of a node that has one: its last.
uint32_t state_operand(const plan::Node& node) {
  return uint32_t{node.inputs()} + node.outputs() + ((node.shape() & kHasWorkspace) != 0 ? 1 : 0);
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
  const uint32_t formal = uint32_t{node.inputs()} + node.outputs();
  const uint32_t count = state_operand(node) + (has_state(node) ? 1 : 0);
  const uint64_t end = uint64_t{node.operands()} + count;
  if (!at_most("operands", plan_.operand_count, end)) return false;
  // Lists that overlapped would make the work of opening quadratic in the plan's size.
  if (!equal("first operand", next_operand_, node.operands())) return false;
  next_operand_ = end;
  for (uint32_t i = 0; i < count; ++i) {
    const uint32_t operand = plan_.operands[node.operands() + i];
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
  return !has_state(node) || follows(node);
}

bool Verifier::nodes() {
  const uint32_t kernels = list(plan::Plan::VT_KERNELS).count;
  const uint32_t shapes = list(plan::Plan::VT_SHAPES).count;
  for (uint32_t i = 0; i < plan_.node_count; ++i) {
    node_ = static_cast<int32_t>(i);
    const plan::Node& node = plan_.nodes[i];
    if (!index("kernel", node.kernel(), kernels)) return false;
    const uint16_t shape = node.shape() & kNoShape;
    if (shape != kNoShape && !index("shape function", shape, shapes)) return false;
    if (!attributes(node) || !operands(node)) return false;
  }
  node_ = -1;
  return true;
}

bool Verifier::graphs() {
  uint64_t begin = 0;
  for (uint32_t i = 0; i < plan_.graph_count; ++i) {
    const plan::Graph& graph = plan_.graphs[i];
    if (!equal("graph's first node", begin, graph.first())) return false;
    begin += graph.count();
    if (!at_most("graph's nodes", plan_.node_count, begin)) return false;
    if (graph.parent() == kNone) continue;
    if (!index("graph's parent", graph.parent(), graph.first())) return false;
  }
  return true;
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
bool Verifier::follows(const plan::Node& node) {
  const Region region =
      region_of(plan_.tensors[plan_.operands[node.operands() + state_operand(node)]]);
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
  for (uint32_t i = 0; i < plan_.node_count; ++i) {
    node_ = static_cast<int32_t>(i);
    const plan::Node& node = plan_.nodes[i];
    for (uint32_t j = 0; j < state_operand(node); ++j) {
      const uint32_t operand = plan_.operands[node.operands() + j];
      if (operand == kNone) continue;
      if (!outside_states(operand, "operand among the nodes' states")) return false;
    }
  }
  node_ = -1;
  return true;
}

}  // namespace intarsia
