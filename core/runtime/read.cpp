// SPDX-License-Identifier: Apache-2.0
//
// Reading a plan: the header, and raw pointers into the structure.
#include "core/runtime/session_state.h"

namespace intarsia {
Status read_header(std::span<const std::byte> bytes, PlanHeader& header, Diagnostic& diagnostic) {
  const auto fail = [&diagnostic](Code code, const char* what, uint64_t expected, uint64_t found) {
    return report(diagnostic, code, what, expected, found);
  };
  if (bytes.size() < sizeof(header.magic) ||
      std::memcmp(bytes.data(), kPlanMagic, sizeof(kPlanMagic)) != 0) {
    return fail(Code::kNotAPlan, "magic number", 0, 0);
  }
  if (bytes.size() < sizeof(header)) {
    return fail(Code::kTruncatedPlan, "plan header bytes", sizeof(header), bytes.size());
  }
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (header.format_version == __builtin_bswap32(kPlanFormatVersion)) {
    return fail(Code::kUnsupportedVersion, "byte order of the plan, seen in its format version",
                kPlanFormatVersion, header.format_version);
  }
  if (header.format_version != kPlanFormatVersion || header.header_bytes != sizeof(header)) {
    return fail(Code::kUnsupportedVersion, "plan format version", kPlanFormatVersion,
                header.format_version);
  }
  if (reinterpret_cast<uintptr_t>(bytes.data()) % kArenaAlignment != 0) {
    return fail(Code::kInvalidArgument, "alignment of the plan's bytes", kArenaAlignment,
                reinterpret_cast<uintptr_t>(bytes.data()) % kArenaAlignment);
  }
  const uint64_t size = bytes.size();
  const auto inside = [size](uint64_t offset, uint64_t length) {
    return offset <= size && length <= size - offset;
  };
  if (!inside(header.structure_offset, header.structure_bytes) ||
      !inside(header.weights_offset, header.weights_bytes)) {
    const uint64_t end = header.weights_offset + header.weights_bytes;
    return fail(Code::kTruncatedPlan, "plan bytes", end, size);
  }
  if (header.structure_offset % 64 != 0 || header.weights_offset % 64 != 0 ||
      header.structure_bytes < 8 || header.structure_bytes >= (uint64_t{1} << 31)) {
    return fail(Code::kCorruptPlan, "plan header", 0, 0);
  }
  return {};
}

List list_of(const void* table, uint16_t field) {
  const auto* vector = static_cast<const flatbuffers::Table*>(table)
                           ->GetPointer<const flatbuffers::Vector<uint8_t>*>(field);
  if (vector == nullptr) return {};
  return {vector->Data(), vector->size()};
}

PlanView view_of(std::span<const std::byte> bytes, const PlanHeader& header) {
  PlanView plan;
  plan.root = plan::GetPlan(bytes.data() + header.structure_offset);
  const auto read = [&plan]<class T>(uint16_t field, const T*& data, uint32_t& count) {
    const List list = list_of(plan.root, field);
    data = static_cast<const T*>(list.data);
    count = list.count;
  };
  read(plan::Plan::VT_TENSORS, plan.tensors, plan.tensor_count);
  read(plan::Plan::VT_EXTENTS, plan.extents, plan.extent_count);
  read(plan::Plan::VT_OPERANDS, plan.operands, plan.operand_count);
  read(plan::Plan::VT_NODES, plan.nodes, plan.node_count);
  read(plan::Plan::VT_GRAPHS, plan.graphs, plan.graph_count);
  read(plan::Plan::VT_ATTRIBUTES, plan.attributes, plan.attribute_count);
  read(plan::Plan::VT_SLOTS, plan.slots, plan.slot_count);
  plan.dynamic_extents = plan.root->dynamic_extents();
  // Weights are read only: the verifier refuses outputs there. Views carry one pointer type for
  // all.
  plan.weights = const_cast<std::byte*>(bytes.data() + header.weights_offset);
  plan.weights_bytes = header.weights_bytes;
  return plan;
}

MetadataCounts metadata_counts(const PlanView& plan) {
  const auto count = [&plan](uint16_t field) -> uint64_t {
    return list_of(plan.root, field).count;
  };
  const uint64_t strings = count(plan::Plan::VT_STRINGS);
  return {count(plan::Plan::VT_KERNELS),
          count(plan::Plan::VT_SHAPES),
          plan.slot_count,
          plan.dynamic_extents,
          plan.root->view_count(),
          plan.root->memory() != nullptr ? plan.root->memory()->segments() : 0,
          count(plan::Plan::VT_SYMBOLS),
          strings < kStringEnds ? 0 : strings - kStringEnds};
}

}  // namespace intarsia
