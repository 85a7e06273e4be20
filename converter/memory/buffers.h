// SPDX-License-Identifier: Apache-2.0
//
// Buffers: pieces of memory, each shared by the values that alias one another (views, results
// computed in place, the results of branches), and the steps at which they are in use.
#pragma once

#include <cstdint>
#include <deque>
#include <unordered_map>
#include <vector>

#include "converter/graph/graph.h"
#include "converter/memory/planner.h"
#include "converter/memory/storage.h"

namespace intarsia::converter {

/// Memory shared by values that alias one another. Those of a buffer that was merged into another
/// one are the other's members.
struct Buffer {
  int64_t bytes = 0;
  int32_t first = INT32_MAX;
  int32_t last = -1;
  bool device = false;  ///< In the memory of a device.
  bool is_slot = false;
  bool read_only = false;  ///< A graph input: nodes must not write it.
  uint32_t slot = 0;
  int parent = -1;  ///< The buffer that this one was merged into.
  std::vector<const Value*> members;
};

/// The buffers of a graph. A value's own is made when it is first asked for.
class Buffers {
 public:
  explicit Buffers(const Lowering& lowering) : lowering_(lowering) {}

  Buffer& of(const Value* value);
  /// Lets both values share one buffer.
  void merge(const Value* a, const Value* b);
  /// The value is in use at `step`. A buffer lives from its first member's birth to its last one's
  /// end; of a member alone less may be known: the results of branches exclude one another.
  void touch(const Value* value, int32_t step);
  /// True if something in `to` other than `output` is live when something in `from` is: what the
  /// other branch of an If has in its result, and a value that both branches have from outside.
  bool intersect(const Buffer& from, const Buffer& to, const Value* output) const;

  /// The steps at which the value itself is in use; null if it is not.
  const StepRange* live(const Value* value) const;

  const std::deque<Buffer>& all() const { return buffers_; }

 private:
  bool on_device(const Value& value) const;
  int root(int index) const;

  const Lowering& lowering_;
  std::unordered_map<const Value*, StepRange> live_;
  std::deque<Buffer> buffers_;
  std::unordered_map<const Value*, int> buffer_of_;
};

/// True if both take the same bytes in every run, whatever the symbols are: planned extents that
/// agree do not suffice, for an operand may broadcast at others.
bool same_bytes(const Value& a, const Value& b);

}  // namespace intarsia::converter
