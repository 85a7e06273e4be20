// SPDX-License-Identifier: Apache-2.0
//
// Verification of a plan from outside the program: after `read_untrusted` every index,
// place and extent in it may be used without a further check. One pass, no memory of its own.
#include "core/runtime/session_state.h"

namespace intarsia {
namespace {

/// Reports the first failure and keeps it.
class Verifier {
 public:
  Verifier(const PlanView& plan, Diagnostic& diagnostic) : plan_(plan), diagnostic_(diagnostic) {}

  Status run() {
    if (!(aligned(plan_.root->attributes()) && aligned(plan_.root->kernels()) &&
          aligned(plan_.root->shapes()) && memory() && tensors() && slots() && nodes() &&
          node_states() && graphs() && entries() && states())) {
      return diagnostic_.code;
    }
    return {};
  }

 private:
  bool fail(const char* what, uint64_t expected, uint64_t found) {
    diagnostic_ = Diagnostic{
        Code::kCorruptPlan,          what,    node_, -1, -1, static_cast<int64_t>(expected),
        static_cast<int64_t>(found), nullptr, 0};
    return false;
  }
  bool require(bool condition, const char* what, uint64_t expected, uint64_t found) {
    return condition || fail(what, expected, found);
  }
  bool equal(const char* what, uint64_t expected, uint64_t found) {
    return found == expected || fail(what, expected, found);
  }
  bool at_least(const char* what, uint64_t lowest, uint64_t found) {
    return found >= lowest || fail(what, lowest, found);
  }
  bool at_most(const char* what, uint64_t highest, uint64_t found) {
    return found <= highest || fail(what, highest, found);
  }
  bool index(const char* what, uint64_t found, uint64_t limit) {
    return found < limit || fail(what, limit, found);
  }

  /// FlatBuffers' verifier aligns the length of a vector, not its 64-bit elements.
  bool aligned(const flatbuffers::Vector<uint64_t>* vector) {
    if (vector == nullptr || vector->size() == 0) return true;
    const auto misalignment = reinterpret_cast<uintptr_t>(vector->Data()) % 8;
    return equal("alignment of 64-bit elements", 0, misalignment);
  }

  bool memory() {
    const plan::Memory* memory = plan_.root->memory();
    if (!equal("memory table", 1, memory != nullptr ? 1 : 0)) return false;
    const uint64_t prefix = metadata_bytes(metadata_counts(plan_));
    arena_bytes_ = memory->arena_bytes() - memory->metadata_bytes();
    return device_memory(*memory) && equal("metadata bytes", prefix, memory->metadata_bytes()) &&
           at_least("arena bytes", prefix, memory->arena_bytes()) &&
           at_most("arena bytes", kLargestArena, memory->arena_bytes()) &&
           at_most("dynamic extents", plan_.extent_count, plan_.dynamic_extents);
  }

  bool device_memory(const plan::Memory& memory) {
    const uint64_t arena = memory.device_arena_bytes();
    const uint64_t offset = memory.device_weights_offset();
    const uint64_t bytes = memory.device_weights_bytes();
    device_weights_ = bytes;
    device_bytes_ = arena > kDevicePrefix ? arena - kDevicePrefix : 0;
    return require(arena == 0 || (arena >= kDevicePrefix && arena <= kLargestArena),
                   "device arena bytes", kDevicePrefix, arena) &&
           require(offset <= plan_.weights_bytes && bytes <= plan_.weights_bytes - offset,
                   "device weights", plan_.weights_bytes, offset + bytes) &&
           require(offset % 64 == 0, "alignment of device weights", 64, offset % 64) &&
           require(
               (memory.segments() != 0) == (arena != 0) && memory.segments() <= plan_.node_count,
               "device segments", plan_.node_count, memory.segments());
  }

  /// Bytes of a tensor at its planned extents, or false if they are impossible.
  bool bytes_of(const plan::Tensor& tensor, uint64_t& bytes) {
    const auto type = static_cast<DataType>(tensor.type());
    const auto bits = static_cast<uint64_t>(element_bits(type));
    if (!require(bits != 0, "element type", kLastDataType, tensor.type())) return false;
    if (!at_most("rank", kMaxRank, tensor.rank())) return false;
    const uint64_t end = uint64_t{tensor.extents()} + tensor.rank();
    if (!at_most("extents index", plan_.extent_count, end)) return false;
    // A tensor's extents are all run-time ones or none: the kernel sees one array.
    const bool varies = tensor.extents() < plan_.dynamic_extents;
    if (!require(!varies || end <= plan_.dynamic_extents, "dynamic extents", plan_.dynamic_extents,
                 end)) {
      return false;
    }
    // The mark before a varying shape is negative and no extent is: so shapes cannot overlap, and
    // what the session notes of one tensor is no part of another's.
    if (varies) {
      const int32_t mark = tensor.extents() > 0 ? plan_.extents[tensor.extents() - 1] : 0;
      if (!require(mark == varying_mark(tensor.rank()), "mark before varying extents",
                   static_cast<uint64_t>(int64_t{varying_mark(tensor.rank())}),
                   static_cast<uint64_t>(int64_t{mark}))) {
        return false;
      }
    }
    uint64_t count = 1;
    bool empty = false;
    for (int axis = 0; axis < tensor.rank(); ++axis) {
      const int32_t extent = plan_.extents[tensor.extents() + axis];
      if (!require(extent >= 0, "extent", 0, static_cast<uint64_t>(int64_t{extent}))) return false;
      empty |= extent == 0;
      // Guard the product of the non-zero extents too: other axes may grow when one is resized.
      if (extent != 0) count *= static_cast<uint64_t>(extent);
      if (!at_most("element count", static_cast<uint64_t>(kMaxElements), count)) {
        return false;
      }
    }
    bytes = empty ? 0 : (count * bits + 7) / 8;
    return true;
  }

  bool in_arena(uint64_t place, uint64_t bytes) {
    const uint64_t end = place * kArenaUnit + bytes;
    return at_most("place in the arena", arena_bytes_, end);
  }
  bool in_device_arena(uint64_t place, uint64_t bytes) {
    const uint64_t end = place * kArenaUnit + bytes;
    return at_most("place in the device arena", device_bytes_, end);
  }
  bool has_device() {
    const uint64_t bytes = plan_.root->memory()->device_arena_bytes();
    return require(bytes != 0, "device arena bytes of a plan with tensors there", 1, bytes);
  }
  bool in_weights(uint64_t place, uint64_t bytes, uint64_t limit) {
    const uint64_t end = place * kWeightUnit + bytes;
    return at_most("place in the weights", limit, end);
  }

  /// A slot's buffer is sized for one tensor; views of it may be smaller, not larger.
  bool in_slot(const plan::Tensor& tensor, uint64_t bytes) {
    if (!index("slot", tensor.place(), plan_.slot_count)) return false;
    const uint32_t owner = plan_.slots[tensor.place()].tensor();
    uint64_t capacity = 0;
    return index("tensor of its slot", owner, plan_.tensor_count) &&
           bytes_of(plan_.tensors[owner], capacity) &&
           at_most("bytes in the slot", capacity, bytes) &&
           require(element_bits(static_cast<DataType>(tensor.type())) <=
                       element_bits(static_cast<DataType>(plan_.tensors[owner].type())),
                   "type in the slot", plan_.tensors[owner].type(), tensor.type());
  }

  bool tensors() {
    for (uint32_t i = 0; i < plan_.tensor_count; ++i) {
      const plan::Tensor& tensor = plan_.tensors[i];
      uint64_t bytes = 0;
      if (!bytes_of(tensor, bytes)) return false;
      switch (static_cast<Memory>(tensor.memory())) {
        case Memory::kArena:
          if (!in_arena(tensor.place(), bytes)) return false;
          break;
        case Memory::kWeights:
          if (!in_weights(tensor.place(), bytes, plan_.weights_bytes)) return false;
          break;
        case Memory::kDeviceArena:
          if (!has_device() || !in_device_arena(tensor.place(), bytes)) return false;
          break;
        case Memory::kDeviceWeights:
          if (!has_device() || !in_weights(tensor.place(), bytes, device_weights_)) return false;
          break;
        case Memory::kSlot:
          if (!in_slot(tensor, bytes)) return false;
          break;
        default:
          return require(false, "memory kind", 4, tensor.memory());
      }
      // Kernels rely on the natural alignment of elements; places are multiples of 4 bytes.
      const int bits = element_bits(static_cast<DataType>(tensor.type()));
      const auto memory = static_cast<Memory>(tensor.memory());
      const bool in_units_of_4 = memory == Memory::kArena || memory == Memory::kDeviceArena;
      const bool aligned = bits <= 32 || !in_units_of_4 || tensor.place() % 2 == 0;
      if (!require(aligned, "alignment of place", 8, 4)) return false;
    }
    return true;
  }

  bool slots() {
    uint64_t states = 0;
    for (uint32_t i = 0; i < plan_.slot_count; ++i) {
      const plan::Slot& slot = plan_.slots[i];
      if (!index("slot's tensor", slot.tensor(), plan_.tensor_count)) return false;
      const plan::Tensor& tensor = plan_.tensors[slot.tensor()];
      uint64_t bytes = 0;
      if (!bytes_of(tensor, bytes) || !in_arena(slot.place(), bytes)) return false;
      if (!require(slot.place() % 2 == 0, "alignment of slot", 8, 4)) return false;
      if (!require(static_cast<Memory>(tensor.memory()) == Memory::kSlot && tensor.place() == i,
                   "slot's tensor", i, tensor.place())) {
        return false;
      }
      // States are cleared and copied: the arena's size bounds the time of that.
      if ((slot.flags() & kStateSlot) != 0) states += bytes;
      if (!at_most("bytes of states", arena_bytes_, states)) return false;
    }
    return true;
  }

  bool operands(const plan::Node& node) {
    const uint32_t formal = uint32_t{node.inputs()} + node.outputs();
    const uint32_t extra = ((node.shape() & kHasWorkspace) != 0 ? 1u : 0u) +
                           ((node.shape() & kHasState) != 0 ? 1u : 0u);
    const uint64_t end = uint64_t{node.operands()} + formal + extra;
    if (!at_most("operands", plan_.operand_count, end)) return false;
    // Lists that overlapped would make the work of opening quadratic in the plan's size.
    if (!equal("first operand", next_operand_, node.operands())) {
      return false;
    }
    next_operand_ = end;
    for (uint32_t i = 0; i < formal + extra; ++i) {
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
      // Workspace and state are plain bytes in the arena, aligned for any use.
      if (i >= formal) {
        const bool plain = memory != Memory::kSlot && tensor.rank() == 1 &&
                           static_cast<DataType>(tensor.type()) == DataType::kUint8 &&
                           tensor.extents() >= plan_.dynamic_extents && tensor.place() % 16 == 0;
        if (!require(plain, "workspace", 0, operand)) return false;
      }
    }
    return !has_state(node) || follows(node);
  }

  /// The bytes of a tensor in the arena, or in the device's; none for weights.
  struct Region {
    uint64_t begin = 0, end = 0;
    bool device = false;
    bool overlaps(const Region& other) const {
      return device == other.device && begin < end && other.begin < other.end &&
             begin < other.end && other.begin < end;
    }
  };
  bool region_of(const plan::Tensor& tensor, Region& region) {
    uint64_t place = tensor.place(), bytes = 0;
    if (!bytes_of(tensor, bytes)) return false;
    const auto memory = static_cast<Memory>(tensor.memory());
    if (memory == Memory::kWeights || memory == Memory::kDeviceWeights) bytes = 0;
    if (memory == Memory::kSlot) place = plan_.slots[place].place();
    region = {place * kArenaUnit, place * kArenaUnit + bytes, on_device(memory)};
    return true;
  }

  static bool has_state(const plan::Node& node) { return (node.shape() & kHasState) != 0; }
  /// The operand that is the state of a node that has one: its last.
  static uint32_t state_operand(const plan::Node& node) {
    return uint32_t{node.inputs()} + node.outputs() + ((node.shape() & kHasWorkspace) != 0 ? 1 : 0);
  }

  /// A node's state outlives runs and may hold what its kernel trusts. So states follow one another
  /// in the nodes' order, and nothing else that is ever written lies between the first and the last
  /// (`node_states`): which needs no memory to verify.
  bool follows(const plan::Node& node) {
    Region region;
    if (!region_of(plan_.tensors[plan_.operands[node.operands() + state_operand(node)]], region)) {
      return false;
    }
    Region& range = state_range_[region.device ? 1 : 0];
    if (range.begin == range.end) range = {region.begin, region.begin, region.device};
    if (!at_least("place of the node's state", range.end, region.begin)) {
      return false;
    }
    range.end = region.end;
    return true;
  }
  bool outside_states(const plan::Tensor& tensor, const char* what) {
    Region region;
    if (!region_of(tensor, region)) return false;
    const Region& range = state_range_[region.device ? 1 : 0];
    return require(!region.overlaps(range), what, range.end, region.begin);
  }
  bool node_states() {
    if (state_range_[0].begin == state_range_[0].end &&
        state_range_[1].begin == state_range_[1].end) {
      return true;
    }
    for (uint32_t i = 0; i < plan_.slot_count; ++i) {
      if (!outside_states(plan_.tensors[plan_.slots[i].tensor()], "slot among the nodes' states")) {
        return false;
      }
    }
    for (uint32_t i = 0; i < plan_.node_count; ++i) {
      node_ = static_cast<int32_t>(i);
      const plan::Node& node = plan_.nodes[i];
      for (uint32_t j = 0; j < state_operand(node); ++j) {
        const uint32_t operand = plan_.operands[node.operands() + j];
        if (operand == kNone) continue;
        if (!outside_states(plan_.tensors[operand], "operand among the nodes' states"))
          return false;
      }
    }
    node_ = -1;
    return true;
  }

  bool nodes() {
    const uint64_t kernels = plan_.root->kernels() ? plan_.root->kernels()->size() : 0;
    const uint64_t shapes = plan_.root->shapes() ? plan_.root->shapes()->size() : 0;
    for (uint32_t i = 0; i < plan_.node_count; ++i) {
      node_ = static_cast<int32_t>(i);
      const plan::Node& node = plan_.nodes[i];
      if (!index("kernel", node.kernel(), kernels)) return false;
      const uint16_t shape = node.shape() & kNoShape;
      if (shape != kNoShape && !index("shape function", shape, shapes)) return false;
      if (node.attributes() != kNone) {
        if (!index("attributes", node.attributes(), plan_.attribute_count)) return false;
        const uint64_t bytes = plan_.attributes[node.attributes()];
        const uint64_t available = (plan_.attribute_count - node.attributes() - 1) * uint64_t{8};
        if (!at_most("attribute bytes", available, bytes)) return false;
        // Every node's attributes are checked. Were large ones shared, a plan could ask for more
        // work than it has bytes.
        if (bytes > kSharedAttributeBytes) {
          if (!at_least("place of large attributes", next_attributes_, node.attributes())) {
            return false;
          }
          next_attributes_ = node.attributes() + 1 + (bytes + 7) / 8;
        }
      }
      if (!operands(node)) return false;
    }
    node_ = -1;
    return true;
  }

  bool graphs() {
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

  /// Ports of one list have slots of their own, in ascending order, with these flags.
  bool ports(const flatbuffers::Vector<flatbuffers::Offset<plan::Port>>* ports, uint32_t flags) {
    const uint64_t symbols = plan_.root->symbols() ? plan_.root->symbols()->size() : 0;
    uint32_t lowest = 0;
    for (uint32_t i = 0; ports != nullptr && i < ports->size(); ++i) {
      const plan::Port* port = ports->Get(i);
      if (!index("port's slot", port->slot(), plan_.slot_count)) return false;
      if (!at_least("port's slot (at least)", lowest, port->slot())) {
        return false;
      }
      lowest = port->slot() + 1;
      const uint32_t found = plan_.slots[port->slot()].flags();
      if (!equal("flags of the port's slot", flags, found)) return false;
      if (port->symbols() == nullptr || port->symbols()->size() == 0) continue;
      const plan::Tensor& tensor = plan_.tensors[plan_.slots[port->slot()].tensor()];
      if (!equal("port's symbols", tensor.rank(), port->symbols()->size())) {
        return false;
      }
      for (int32_t symbol : *port->symbols()) {
        if (symbol == kFixedExtent || symbol == kDerivedExtent) continue;
        if (!index("symbol", static_cast<uint32_t>(symbol), symbols)) return false;
      }
    }
    return true;
  }

  bool entries() {
    const auto* entries = plan_.root->entries();
    if (!require(entries != nullptr && entries->size() > 0, "entry points", 1, 0)) return false;
    for (uint32_t i = 0; i < entries->size(); ++i) {
      const plan::Entry* entry = entries->Get(i);
      if (!index("entry's graph", entry->graph(), plan_.graph_count)) return false;
      const uint32_t parent = plan_.graphs[entry->graph()].parent();
      if (!equal("entry's graph is a sub-graph", kNone, parent)) return false;
      if (!ports(entry->inputs(), kReadOnlySlot) || !ports(entry->outputs(), 0)) return false;
    }
    return ports(plan_.root->state_ports(), kReadOnlySlot | kStateSlot);
  }

  bool states() {
    const auto* states = plan_.root->states();
    uint32_t lowest = 0;
    for (uint32_t i = 0; states != nullptr && i < states->size(); ++i) {
      const plan::StateUpdate& update = *states->Get(i);
      if (!at_least("state's slot (at least)", lowest, update.slot())) {
        return false;
      }
      lowest = update.slot() + 1;
      if (!index("state's slot", update.slot(), plan_.slot_count) ||
          !index("state's source", update.source(), plan_.tensor_count)) {
        return false;
      }
      // The buffer of another slot may be the caller's, and constant.
      const uint32_t flags = plan_.slots[update.slot()].flags();
      if (!require((flags & kStateSlot) != 0, "flags of the state's slot",
                   kReadOnlySlot | kStateSlot, flags)) {
        return false;
      }
      const auto memory = static_cast<Memory>(plan_.tensors[update.source()].memory());
      if (!require(!on_device(memory), "state's source on the device", 0, update.source())) {
        return false;
      }
      const plan::Tensor& to = plan_.tensors[plan_.slots[update.slot()].tensor()];
      const plan::Tensor& from = plan_.tensors[update.source()];
      if (!outside_states(from, "state's source among the nodes' states")) return false;
      if (!equal("state type", to.type(), from.type()) ||
          !equal("state rank", to.rank(), from.rank())) {
        return false;
      }
      for (int axis = 0; axis < to.rank(); ++axis) {
        const int32_t expected = plan_.extents[to.extents() + axis];
        const int32_t found = plan_.extents[from.extents() + axis];
        if (!require(expected == found, "state extent", static_cast<uint64_t>(int64_t{expected}),
                     static_cast<uint64_t>(int64_t{found}))) {
          return false;
        }
      }
    }
    return true;
  }

  const PlanView& plan_;
  Diagnostic& diagnostic_;
  uint64_t arena_bytes_ = 0;
  uint64_t device_bytes_ = 0;
  uint64_t device_weights_ = 0;
  uint64_t next_operand_ = 0;
  uint64_t next_attributes_ = 0;
  Region state_range_[2];  // from the first node state to the last, in the arena and the device's
  int32_t node_ = -1;
};

}  // namespace

Status verify_plan(const PlanView& plan, Diagnostic& diagnostic) {
  return Verifier(plan, diagnostic).run();
}

Status read_untrusted(std::span<const std::byte> bytes, bool checksum, PlanView& plan,
                      Diagnostic& diagnostic) {
  PlanHeader header;
  if (Status status = read_header(bytes, header, diagnostic); !status) return status;
  if (Status status = verify_structure(bytes, header, checksum, diagnostic); !status) return status;
  plan = view_of(bytes, header);
  return verify_plan(plan, diagnostic);
}

}  // namespace intarsia
