// SPDX-License-Identifier: Apache-2.0
//
// Places in the weights segment.
#include <algorithm>
#include <map>

#include "converter/memory/storage.h"

namespace intarsia::converter {

void place_weights(Storage& storage, const Lowering& lowering, bool device) {
  const int64_t start = (storage.weights_bytes + 63) / 64 * 64;  // 0 for the host
  int64_t end = start;
  std::map<std::pair<size_t, uint64_t>, std::vector<size_t>> by_content;
  const auto place = [&](const Constant& constant) -> int64_t {
    const uint64_t hash = checksum_words(constant.bytes(), 0xcbf29ce484222325u);
    std::vector<size_t>& candidates = by_content[{constant.size, hash}];
    for (size_t candidate : candidates) {
      const Constant& other = storage.weights[candidate].constant;
      if (std::equal(constant.bytes().begin(), constant.bytes().end(), other.bytes().begin())) {
        return storage.weights[candidate].offset;
      }
    }
    const int64_t alignment = constant.size >= 256 ? 64 : static_cast<int64_t>(kWeightUnit);
    const int64_t offset = (end + alignment - 1) / alignment * alignment;
    candidates.push_back(storage.weights.size());
    storage.weights.push_back({offset, constant});
    end = offset + static_cast<int64_t>(constant.size);
    return offset;
  };
  for (const PlacedNode& placed : storage.nodes) {
    if (lowering.at(placed.node).reads_device != device) continue;
    for (const Value* input : placed.inputs) {
      if (input == nullptr || !input->constant || storage.places.count(input) != 0) continue;
      const auto strings = storage.strings.values.find(input);
      const bool plain = strings == storage.strings.values.end();
      storage.places[input] = {device ? Memory::kDeviceWeights : Memory::kWeights,
                               place(plain ? *input->constant : strings->second) - start, 0};
    }
  }
  for (SlotPlan& slot : storage.slots) {
    if (!device && slot.initial) slot.initial_offset = place(*slot.initial);
  }
  if (!device && !storage.strings.constants.empty()) {
    const std::string& text = storage.strings.constants;
    storage.strings.constants_offset =
        place(Constant::of<uint8_t>({static_cast<int64_t>(text.size())},
                                    {reinterpret_cast<const uint8_t*>(text.data()), text.size()}));
  }
  if (end == start) return;
  storage.weights_bytes = end;
  if (device) {
    storage.device_weights_offset = start;
    storage.device_weights_bytes = end - start;
  }
}

}  // namespace intarsia::converter
