// SPDX-License-Identifier: Apache-2.0
//
// The header of a plan file, and where its parts lie. docs/plan_format.md has the picture.
//
// A plan is one block of bytes: this header, the structure (a FlatBuffer of core/plan.fbs), and the
// weights segment. All numbers are little endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace intarsia {

inline constexpr char kPlanMagic[8] = {'I', 'N', 'T', 'A', 'R', 'S', 'I', 'A'};
inline constexpr uint32_t kPlanFormatVersion = 1;
inline constexpr uint32_t kNone = 0xffffffffu;      // absent operand, no attributes, end of updates
inline constexpr uint16_t kNoShape = 0x3fffu;       // Node::shape without a shape function
inline constexpr uint16_t kHasWorkspace = 0x4000u;  // Node::shape, bit 14
inline constexpr uint16_t kHasState = 0x8000u;      // Node::shape, bit 15
inline constexpr uint32_t kReadOnlySlot = 1;        // Slot::flags: nodes never write it
inline constexpr uint32_t kStateSlot = 2;           // Slot::flags: kept from run to run
inline constexpr int32_t kFixedExtent = -1;         // Port::symbols
inline constexpr int32_t kDerivedExtent = -2;       // Port::symbols: varies, but is no symbol alone
inline constexpr uint64_t kArenaUnit = 4;           // Tensor::place in the arena
/// Largest arena, the host's and the device's: keeps sums of places and sizes far from overflow.
inline constexpr uint64_t kLargestArena = uint64_t{1} << 34;
inline constexpr uint64_t kWeightUnit = 16;  // Tensor::place in the weights segment

/// The entry of `extents` before those of a tensor that vary.
constexpr int32_t varying_mark(int rank) {
  return -1 - rank;
}
/// Nodes share attributes of at most so many bytes. Longer ones have a node each, in the nodes'
/// order: checks read attributes once for each node, and opening a plan must stay linear in its
/// size.
inline constexpr uint64_t kSharedAttributeBytes = 256;

enum class Memory : uint8_t {
  kArena = 0,
  kWeights = 1,
  kSlot = 2,
  kDeviceArena = 3,
  kDeviceWeights = 4
};
inline constexpr int kMemories = 5;
constexpr bool on_device(Memory memory) {
  return memory == Memory::kDeviceArena || memory == Memory::kDeviceWeights;
}
/// Alignment of a device's memory; its arena begins with as many bytes for the session's own use.
inline constexpr uint64_t kDevicePrefix = 2048;

struct PlanHeader {
  char magic[8];
  uint32_t format_version;
  uint32_t header_bytes;
  uint64_t structure_offset;
  uint64_t structure_bytes;
  uint64_t weights_offset;
  uint64_t weights_bytes;
  uint64_t checksum;  // of the fields above and the structure
  uint64_t reserved;
};
static_assert(sizeof(PlanHeader) == 64);

/// FNV-1a over 64-bit words; the last word is padded with zeros. A change of a single byte always
/// changes the result, since every step is a bijection of the state.
inline uint64_t checksum_words(std::span<const std::byte> bytes, uint64_t state) {
  size_t position = 0;
  for (; position + 8 <= bytes.size(); position += 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data() + position, 8);
    state = (state ^ word) * 0x100000001b3u;
  }
  if (position < bytes.size()) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + position, bytes.size() - position);
    state = (state ^ word) * 0x100000001b3u;
  }
  return state;
}

inline uint64_t plan_checksum(std::span<const std::byte> plan, const PlanHeader& header) {
  const uint64_t state =
      checksum_words(plan.first(offsetof(PlanHeader, checksum)), 0xcbf29ce484222325u);
  return checksum_words(plan.subspan(header.structure_offset, header.structure_bytes), state);
}

/// Bytes of the metadata prefix of an arena, enough on 32-bit and 64-bit targets.
struct MetadataCounts {
  uint64_t kernels = 0;
  uint64_t shapes = 0;
  uint64_t slots = 0;
  uint64_t dynamic_extents = 0;
  uint64_t views = 0;
  uint64_t segments = 0;
  uint64_t symbols = 0;
  uint64_t string_areas = 0;  // entry points, if there are strings
};
inline constexpr uint64_t kStateBytes = 384;
inline constexpr uint64_t kSegmentBytes = 24;
inline constexpr uint64_t kDeviceStateBytes = 64;
inline constexpr uint64_t kViewBytes = 24;
/// Elements of Plan::strings before the ends of the entry points' parts.
inline constexpr uint32_t kStringEnds = 2;
inline constexpr uint64_t kStringPoolBytes = 48;
inline constexpr uint64_t kStringAreaBytes = 8;
constexpr uint64_t metadata_bytes(const MetadataCounts& counts) {
  const uint64_t device =
      counts.segments == 0 ? 0 : kDeviceStateBytes + kSegmentBytes * counts.segments;
  const uint64_t strings =
      counts.string_areas == 0 ? 0 : kStringPoolBytes + kStringAreaBytes * counts.string_areas;
  const uint64_t bytes = kStateBytes + 8 * (counts.kernels + counts.shapes + counts.slots) +
                         kViewBytes * counts.views + device + strings +
                         4 * (counts.dynamic_extents + counts.symbols);
  return (bytes + 63) / 64 * 64;
}

}  // namespace intarsia
