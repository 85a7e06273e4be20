// SPDX-License-Identifier: Apache-2.0
//
// Offline memory planner: gives every buffer with a known lifetime an offset in one arena so that
// no two buffers that are live at the same step share a byte, and the arena is as small as the
// search finds. This is dynamic storage allocation (strip packing with fixed columns), NP-hard in
// general; a greedy portfolio comes first, and when it stays above the proven lower bound, a branch
// and bound and a local search follow. Limits count elementary steps, never seconds: the same input
// gives the same offsets on every host. Reference: Moffitt, "MiniMalloc", ASPLOS 2023.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace intarsia::converter {

// An inclusive interval of steps. Steps are positions in one linearised execution order; the
// branches of an If are linearised one after another, so exclusive buffers never overlap in time.
struct StepRange {
  int32_t first = 0;
  int32_t last = 0;
};

// One arena range with a lifetime.
struct PlannedBuffer {
  int64_t size = 0;             // bytes; a buffer of 0 bytes gets offset 0, conflicts with nothing
  int32_t first = 0;            // the bytes must not be touched by others from this step ...
  int32_t last = 0;             // ... to this step, inclusive
  int32_t alignment = 1;        // a power of two
  int64_t offset = -1;          // result; a value >= 0 on entry is fixed and kept
  std::vector<StepRange> more;  // further lifetimes, when the contents die and are written again
};

struct PlannerOptions {
  // Elementary steps of search (about 10 ns each). 0 stops after the greedy portfolio. A plan
  // that reaches its lower bound, as most do, uses none of them.
  int64_t max_steps = 100'000'000;
  uint64_t seed = 1;
};

struct MemoryPlan {
  std::string error;               // empty on success; otherwise no offset was changed
  int32_t refused = -1;            // index of the buffer that the error is about, if it is one
  int64_t total = 0;               // arena bytes: the largest offset + size
  int64_t lower_bound = 0;         // max over steps of the sum of live sizes, without padding
  int64_t padded_lower_bound = 0;  // no assignment can be smaller: adds unavoidable padding, fixed
  int64_t greedy_total = 0;        // what the greedy portfolio alone reached
  int64_t steps = 0;               // search steps used
  bool optimal = false;            // total is proven minimal
};

// Assigns every offset. Fails on a negative size, an alignment that is not a power of two, a
// lifetime that ends before it starts, fixed buffers that are misaligned or overlap each other, or
// sizes whose sum leaves 62 bits.
MemoryPlan plan_memory(std::vector<PlannedBuffer>& buffers, const PlannerOptions& options = {});

// Memory of its own for every buffer, whatever the lifetimes: larger than any other plan, and right
// by construction. No offset may be fixed.
MemoryPlan plan_apart(std::vector<PlannedBuffer>& buffers, const PlannerOptions& options = {});

// Checks an assignment from first principles: every offset set, aligned and inside [0, total), no
// two buffers share a byte at a step. Returns what is wrong, or an empty string.
std::string validate(const std::vector<PlannedBuffer>& buffers, int64_t total);

// ---------------------------------------------------------------------------------------------
// Operator order
// ---------------------------------------------------------------------------------------------

struct OrderNode {
  std::vector<int32_t> inputs;   // buffer ids read
  std::vector<int32_t> outputs;  // buffer ids written
  std::vector<int32_t> after;    // further nodes (earlier in the given order) that must come first
  int64_t workspace = 0;         // bytes live only while this node runs
};

struct OrderBuffer {
  int64_t size = 0;
  bool live_at_start = false;  // a graph input or state: live before the first node
  bool live_at_end = false;    // a graph output or state: live after the last node
};

// Nodes stand in a valid order. A buffer written by several nodes (in-place chains, parts of one
// concatenation) keeps the relative order of its writers and readers.
struct OrderProblem {
  std::vector<OrderBuffer> buffers;
  std::vector<OrderNode> nodes;
  int64_t max_steps = 100'000'000;  // elementary steps of search
};

// Peak of live bytes (each buffer from its first to its last use) when nodes run in this order.
int64_t peak_of_order(const OrderProblem& problem, const std::vector<int32_t>& order);

// A topological order whose peak is not above that of the given order 0, 1, 2, ...; the given order
// itself when nothing better was found.
std::vector<int32_t> order_for_memory(const OrderProblem& problem);

}  // namespace intarsia::converter
