// SPDX-License-Identifier: Apache-2.0
//
// The tables of a plan that nodes and ports index: tensors, their extents, attributes. What is the
// same is stored once.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <vector>

#include "converter/memory/storage.h"
#include "core/plan_structure.h"

namespace intarsia::converter {

class PlanTables {
 public:
  /// Varying tensors come first, so that their extents lead the table of extents.
  explicit PlanTables(const Storage& storage);

  /// The value that stands for another one in the plan: a branch's result is the If's output.
  const Value* canonical(const Value* value) const;
  /// The value's place among the tensors; it is added if need be.
  uint32_t tensor(const Value* value);
  /// A workspace or a state: bytes of the arena, or of the device's.
  uint32_t scratch(int64_t offset, int64_t bytes, bool device);
  /// The node's place among the attributes, kNone if it has none.
  uint32_t attributes(const PlacedNode& placed);
  /// `bytes` counted in `unit`; throws an error about `what` where a plan cannot say it.
  static uint32_t units(int64_t bytes, uint64_t unit, const char* what);

  // As the plan has them.
  std::vector<plan::Tensor> tensors;
  std::vector<int32_t> extents;
  uint32_t dynamic_extents = 0;
  std::vector<uint64_t> attribute_words;

 private:
  uint32_t add_extents(const std::vector<int64_t>& planned, bool shared);
  void note_extents_that_end_here();
  uint32_t add_tensor(uint32_t place, uint32_t first_extent, DataType type, size_t rank,
                      Memory memory);

  const Storage& storage_;
  std::map<std::vector<uint64_t>, uint32_t> attributes_of_;
  // Every run of extents that a tensor could have, by its first place among those of no symbol.
  std::map<std::vector<int32_t>, uint32_t> place_of_;
  std::unordered_map<const Value*, uint32_t> tensor_of_;
  std::map<std::array<uint32_t, 3>, uint32_t> place_of_tensor_;
};

}  // namespace intarsia::converter
