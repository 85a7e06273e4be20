// SPDX-License-Identifier: Apache-2.0
//
// The memory of loops: which operands a loop has in the plan, and what of a carried value may lie
// in one place.
//
// A carried value is one tensor, the loop's output: the body reads it there. The initial value and
// what the body returns are that very tensor, too, where the one is not needed once the loop has
// begun, and the other is written when nothing in the body reads the old one any more. Otherwise
// the loop copies them.
#pragma once

#include <unordered_map>
#include <vector>

#include "converter/memory/buffers.h"

namespace intarsia::converter {

/// Adds to a loop's operands what its body shares with it; see LoopOperands.
void add_loop_operands(PlacedNode& loop);

class LoopMemory {
 public:
  LoopMemory(Buffers& buffers, const Lowering& lowering, Storage& storage)
      : buffers_(buffers), lowering_(lowering), storage_(storage) {}

  /// Decides about the carried values of a loop that lasts from step `first` to `last`: merges
  /// buffers, notes aliases and takes operands away that need no copy. REQUIRES: the lifetimes of
  /// all values are known but for what the body is given.
  void join(PlacedNode& loop, int32_t first, int32_t last, bool in_place);

  /// False if `view` may not lie where `value` does, since a loop changes what is there while the
  /// view is read.
  bool permit_view(const Value* value, const Value* view);

 private:
  bool joins_result(const Value* output, const Value* given, const Value* result,
                    const Graph& body) const;
  bool joins_initial(const PlacedNode& loop, size_t input, const Value* output, int32_t first);

  Buffers& buffers_;
  const Lowering& lowering_;
  Storage& storage_;
  /// Steps at which the contents of what lies where a carried value does change, by output.
  std::unordered_map<const Value*, std::vector<int32_t>> changes_;
};

}  // namespace intarsia::converter
