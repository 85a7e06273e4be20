// SPDX-License-Identifier: Apache-2.0
//
// Verification of a plan's sizes, tensors and slots; what it reports; the order of all.
#include "core/runtime/verifier.h"

namespace intarsia {

Status Verifier::run() {
  if (!(alignment() && memory() && tensors() && slots() && graphs() && node_states() && entries() &&
        states())) {
    return diagnostic_.code;
  }
  return {};
}

bool Verifier::fail(const char* what, uint64_t expected, uint64_t found) {
  static_cast<void>(report(diagnostic_, Code::kCorruptPlan, what, expected, found));
  diagnostic_.node = node_;
  return false;
}
bool Verifier::require(bool condition, const char* what, uint64_t expected, uint64_t found) {
  return condition || fail(what, expected, found);
}
bool Verifier::equal(const char* what, uint64_t expected, uint64_t found) {
  return found == expected || fail(what, expected, found);
}
bool Verifier::at_least(const char* what, uint64_t lowest, uint64_t found) {
  return found >= lowest || fail(what, lowest, found);
}
bool Verifier::at_most(const char* what, uint64_t highest, uint64_t found) {
  return found <= highest || fail(what, highest, found);
}
bool Verifier::index(const char* what, uint64_t found, uint64_t limit) {
  return found < limit || fail(what, limit, found);
}

/// FlatBuffers aligns the length of a vector, not its 64-bit elements.
bool Verifier::alignment() {
  for (const uint16_t field :
       {plan::Plan::VT_ATTRIBUTES, plan::Plan::VT_KERNELS, plan::Plan::VT_SHAPES}) {
    const List words = list(field);
    const auto misalignment = reinterpret_cast<uintptr_t>(words.data) % 8;
    if (words.count != 0 && !equal("alignment of 64-bit elements", 0, misalignment)) return false;
  }
  return true;
}

bool Verifier::memory() {
  const plan::Memory* memory = plan_.root->memory();
  if (!equal("memory table", 1, memory != nullptr ? 1 : 0)) return false;
  const uint64_t prefix = metadata_bytes(metadata_counts(plan_));
  limits_[static_cast<int>(Memory::kArena)] = memory->arena_bytes() - memory->metadata_bytes();
  limits_[static_cast<int>(Memory::kWeights)] = plan_.weights_bytes;
  return device_memory(*memory) && equal("metadata bytes", prefix, memory->metadata_bytes()) &&
         at_least("arena bytes", prefix, memory->arena_bytes()) &&
         at_most("arena bytes", kLargestArena, memory->arena_bytes()) &&
         at_most("dynamic extents", plan_.extent_count, plan_.dynamic_extents) && strings(*memory);
}

/// Characters lie where no tensor does: a run writes them.
bool Verifier::strings(const plan::Memory& memory) {
  const List list = this->list(plan::Plan::VT_STRINGS);
  if (list.count == 0) return true;
  const auto* numbers = static_cast<const uint32_t*>(list.data);
  const uint64_t expected = kStringEnds + uint64_t{this->list(plan::Plan::VT_ENTRIES).count};
  if (!equal("numbers of the strings", expected, list.count)) return false;
  const uint64_t constants = numbers[0] * kWeightUnit + numbers[1];
  if (!at_most("characters of constants", plan_.weights_bytes, constants)) return false;
  uint64_t begin = 0;
  for (uint32_t i = kStringEnds; i < list.count; ++i) {
    if (!at_least("end of an entry point's strings", begin, numbers[i])) return false;
    begin = numbers[i];
  }
  uint64_t& arena = limits_[static_cast<int>(Memory::kArena)];
  const uint64_t most = begin > numbers[1] ? begin : numbers[1];
  if (!at_most("characters of strings", StringPool::kMostBytes, most) ||
      !at_most("characters of strings", memory.arena_bytes() - memory.metadata_bytes(), begin)) {
    return false;
  }
  arena -= begin;
  return true;
}

bool Verifier::device_memory(const plan::Memory& memory) {
  const uint64_t arena = memory.device_arena_bytes();
  const uint64_t offset = memory.device_weights_offset();
  const uint64_t bytes = memory.device_weights_bytes();
  const uint32_t segments = memory.segments();
  limits_[static_cast<int>(Memory::kDeviceArena)] = arena != 0 ? arena - kDevicePrefix : 0;
  limits_[static_cast<int>(Memory::kDeviceWeights)] = bytes;
  return require(arena == 0 || (arena >= kDevicePrefix && arena <= kLargestArena),
                 "device arena bytes", kDevicePrefix, arena) &&
         require(offset <= plan_.weights_bytes && bytes <= plan_.weights_bytes - offset,
                 "device weights", plan_.weights_bytes, offset + bytes) &&
         require(offset % 64 == 0, "alignment of device weights", 64, offset % 64) &&
         require((segments != 0) == (arena != 0) && segments <= plan_.node_count, "device segments",
                 plan_.node_count, segments);
}

/// Bytes of a tensor at its planned extents, or false if they are impossible.
bool Verifier::bytes_of(const plan::Tensor& tensor, uint64_t& bytes) {
  const auto bits = static_cast<uint64_t>(element_bits(static_cast<DataType>(tensor.type())));
  if (!require(bits != 0, "element type", kLastDataType, tensor.type())) return false;
  if (!at_most("rank", kMaxRank, tensor.rank())) return false;
  const uint64_t end = uint64_t{tensor.extents()} + tensor.rank();
  if (!at_most("extents index", plan_.extent_count, end)) return false;
  const int32_t* extents = plan_.extents + tensor.extents();
  if (tensor.extents() < plan_.dynamic_extents) {
    // A tensor's extents are all run-time ones or none: the kernel sees one array.
    if (!at_most("dynamic extents", plan_.dynamic_extents, end)) return false;
    // The mark before a varying shape is negative and no extent is: so shapes cannot overlap, and
    // what the session notes of one tensor is no part of another's.
    const int64_t mark = tensor.extents() > 0 ? extents[-1] : 0;
    const int64_t expected = varying_mark(tensor.rank());
    if (!equal("mark before varying extents", static_cast<uint64_t>(expected),
               static_cast<uint64_t>(mark))) {
      return false;
    }
  }
  uint64_t count = 1;
  bool empty = false;
  for (int axis = 0; axis < tensor.rank(); ++axis) {
    const int64_t extent = extents[axis];
    if (!require(extent >= 0, "extent", 0, static_cast<uint64_t>(extent))) return false;
    empty |= extent == 0;
    // Guard the product of the non-zero extents too: other axes may grow when one is resized.
    if (extent != 0) count *= static_cast<uint64_t>(extent);
    if (!at_most("element count", static_cast<uint64_t>(kMaxElements), count)) return false;
  }
  bytes = empty ? 0 : (count * bits + 7) / 8;
  return true;
}

bool Verifier::in_memory(Memory memory, uint32_t place, uint64_t bytes) {
  const bool weights = memory == Memory::kWeights || memory == Memory::kDeviceWeights;
  const uint64_t end = place * (weights ? kWeightUnit : kArenaUnit) + bytes;
  const char* what = memory == Memory::kArena ? "place in the arena"
                     : weights                ? "place in the weights"
                                              : "place in the device arena";
  return at_most(what, limits_[static_cast<int>(memory)], end);
}

/// A slot's buffer is sized for one tensor; views of it may be smaller, not larger.
bool Verifier::in_slot(const plan::Tensor& tensor, uint64_t bytes) {
  if (!index("slot", tensor.place(), plan_.slot_count)) return false;
  const uint32_t index_of_owner = plan_.slots[tensor.place()].tensor();
  if (!index("tensor of its slot", index_of_owner, plan_.tensor_count)) return false;
  const plan::Tensor& owner = plan_.tensors[index_of_owner];
  uint64_t capacity = 0;
  return bytes_of(owner, capacity) && at_most("bytes in the slot", capacity, bytes) &&
         require(element_bits(static_cast<DataType>(tensor.type())) <=
                     element_bits(static_cast<DataType>(owner.type())),
                 "type in the slot", owner.type(), tensor.type());
}

bool Verifier::tensors() {
  const uint64_t device_arena = plan_.root->memory()->device_arena_bytes();
  for (uint32_t i = 0; i < plan_.tensor_count; ++i) {
    const plan::Tensor& tensor = plan_.tensors[i];
    uint64_t bytes = 0;
    if (!bytes_of(tensor, bytes)) return false;
    if (!at_most("memory kind", kMemories - 1, tensor.memory())) return false;
    const auto memory = static_cast<Memory>(tensor.memory());
    if (memory == Memory::kSlot) {
      if (!in_slot(tensor, bytes)) return false;
      continue;
    }
    if (!require(device_arena != 0 || !on_device(memory), "device arena bytes", 1, 0) ||
        !in_memory(memory, tensor.place(), bytes)) {
      return false;
    }
    // Kernels rely on the natural alignment of elements; places are multiples of 4 bytes.
    const bool in_units_of_4 = memory == Memory::kArena || memory == Memory::kDeviceArena;
    const bool wide = element_bits(static_cast<DataType>(tensor.type())) > 32;
    if (!require(!wide || !in_units_of_4 || tensor.place() % 2 == 0, "alignment of place", 8, 4)) {
      return false;
    }
  }
  return true;
}

bool Verifier::slots() {
  const uint64_t arena = limits_[static_cast<int>(Memory::kArena)];
  uint64_t states = 0;
  for (uint32_t i = 0; i < plan_.slot_count; ++i) {
    const plan::Slot& slot = plan_.slots[i];
    if (!index("slot's tensor", slot.tensor(), plan_.tensor_count)) return false;
    const plan::Tensor& tensor = plan_.tensors[slot.tensor()];
    uint64_t bytes = 0;
    if (!bytes_of(tensor, bytes) || !in_memory(Memory::kArena, slot.place(), bytes)) return false;
    if (!require(slot.place() % 2 == 0, "alignment of slot", 8, 4)) return false;
    if (!require(static_cast<Memory>(tensor.memory()) == Memory::kSlot && tensor.place() == i,
                 "slot's tensor", i, tensor.place())) {
      return false;
    }
    // States are cleared and copied: the arena's size bounds the time of that.
    if ((slot.flags() & kStateSlot) != 0) states += bytes;
    if (!at_most("bytes of states", arena, states)) return false;
    if (slot.initial() != kNone && !in_memory(Memory::kWeights, slot.initial(), bytes))
      return false;
  }
  return true;
}

Status read_untrusted(std::span<const std::byte> bytes, bool checksum, PlanView& plan,
                      Diagnostic& diagnostic) {
  PlanHeader header;
  if (Status status = read_header(bytes, header, diagnostic); !status) return status;
  if (Status status = verify_structure(bytes, header, checksum, diagnostic); !status) return status;
  plan = view_of(bytes, header);
  return Verifier(plan, diagnostic).run();
}

}  // namespace intarsia
