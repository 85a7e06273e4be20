// SPDX-License-Identifier: Apache-2.0
#include "converter/emit/plan_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "converter/graph/kernel_selection.h"

namespace intarsia::converter {

PlanTables::PlanTables(const Storage& storage) : storage_(storage) {
  const auto add = [this](const Value* value) {
    if (value != nullptr && varies(*canonical(value))) tensor(value);
  };
  for (const PlacedNode& placed : storage_.nodes) {
    for (const Value* value : placed.inputs) add(value);
    for (const Value* value : placed.outputs) add(value);
  }
  for (const SlotPlan& slot : storage_.slots) add(slot.value);
  dynamic_extents = static_cast<uint32_t>(extents.size());
}

const Value* PlanTables::canonical(const Value* value) const {
  for (auto alias = storage_.aliases.find(value); alias != storage_.aliases.end();
       alias = storage_.aliases.find(value)) {
    value = alias->second;
  }
  return value;
}

uint32_t PlanTables::add_extents(const std::vector<int64_t>& planned, bool shared) {
  std::vector<int32_t> added(planned.begin(), planned.end());
  if (shared && added.empty()) return dynamic_extents;
  if (shared) {
    const auto found = place_of_.find(added);
    if (found != place_of_.end()) return found->second;
  }
  // Varying extents stand apart, each shape behind its mark.
  if (!shared) extents.push_back(varying_mark(static_cast<int>(added.size())));
  const auto index = static_cast<uint32_t>(extents.size());
  for (int32_t extent : added) {
    extents.push_back(extent);
    if (shared) note_extents_that_end_here();
  }
  return index;
}

/// Extents may be part of others, or span two of them.
void PlanTables::note_extents_that_end_here() {
  const size_t end = extents.size(), most = std::min<size_t>(kMaxRank, end - dynamic_extents);
  for (size_t count = 1; count <= most; ++count) {
    place_of_.try_emplace({extents.end() - static_cast<std::ptrdiff_t>(count), extents.end()},
                          static_cast<uint32_t>(end - count));
  }
}

/// Values that lie in one place one after another, with the same extents, are one record.
uint32_t PlanTables::add_tensor(uint32_t place, uint32_t first_extent, DataType type, size_t rank,
                                Memory memory) {
  const plan::Tensor record(place, first_extent, static_cast<uint8_t>(type),
                            static_cast<uint8_t>(rank), static_cast<uint8_t>(memory), 0);
  std::array<uint32_t, 3> words;
  static_assert(sizeof(words) == sizeof(record));
  std::memcpy(words.data(), &record, sizeof(record));
  const auto [known, fresh] = place_of_tensor_.emplace(words, tensors.size());
  if (fresh) tensors.push_back(record);
  return known->second;
}

uint32_t PlanTables::units(int64_t bytes, uint64_t unit, const char* what) {
  const uint64_t place = static_cast<uint64_t>(bytes) / unit;
  if (place > 0xfffffffe) throw Error(fmt::format("{} exceeds {} GiB", what, unit * 4));
  return static_cast<uint32_t>(place);
}

uint32_t PlanTables::tensor(const Value* value) {
  value = canonical(value);
  const auto known = tensor_of_.find(value);
  if (known != tensor_of_.end()) return known->second;
  const Place& place = storage_.places.at(value);
  uint32_t position = 0;
  switch (place.memory) {
    case Memory::kArena:
    case Memory::kDeviceArena:
      position = units(place.offset, kArenaUnit, "the arena");
      break;
    case Memory::kWeights:
    case Memory::kDeviceWeights:
      position = units(place.offset, kWeightUnit, "weights");
      break;
    case Memory::kSlot:
      position = place.slot;
      break;
  }
  const std::vector<int64_t> planned = planned_extents(*value);
  const auto like = storage_.extents_of.find(value);
  const uint32_t first = like != storage_.extents_of.end() ? tensors[tensor(like->second)].extents()
                                                           : add_extents(planned, !varies(*value));
  const DataType type = value->constant ? value->constant->type : value->type;
  const uint32_t index = add_tensor(position, first, type, planned.size(), place.memory);
  tensor_of_.emplace(value, index);
  return index;
}

uint32_t PlanTables::scratch(int64_t offset, int64_t bytes, bool device) {
  const uint32_t first = add_extents({bytes}, true);
  return add_tensor(units(offset, kArenaUnit, "the arena"), first, DataType::kUint8, 1,
                    device ? Memory::kDeviceArena : Memory::kArena);
}

uint32_t PlanTables::attributes(const PlacedNode& placed) {
  std::vector<std::byte> bytes = placed.node->attribute_bytes;
  // A control-flow operator's struct begins with the indices of its sub-graphs.
  for (size_t i = 0; i < placed.graphs.size(); ++i) {
    std::memcpy(bytes.data() + 4 * i, &placed.graphs[i], 4);
  }
  if (bytes.empty()) return kNone;
  std::vector<uint64_t> words(1 + (bytes.size() + 7) / 8);
  words[0] = bytes.size();
  std::memcpy(words.data() + 1, bytes.data(), bytes.size());
  const auto place = static_cast<uint32_t>(attribute_words.size());
  const bool shared = bytes.size() <= kSharedAttributeBytes;
  const auto found = shared ? attributes_of_.try_emplace(words, place).first->second : place;
  if (found == place) attribute_words.insert(attribute_words.end(), words.begin(), words.end());
  return found;
}

}  // namespace intarsia::converter
