// SPDX-License-Identifier: Apache-2.0
//
// What the parts of the memory planner share: an instance whose time axis is compressed to
// sections, and the two searches that improve on the greedy assignment. Internal to
// planner*.cpp; everyone else includes planner.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "converter/memory/planner.h"

namespace intarsia::converter::planner {

constexpr int64_t kUnset = -1;
constexpr int64_t kMaxBytes = int64_t{1} << 62;

inline int64_t align_up(int64_t value, int64_t alignment) {
  return (value + alignment - 1) & -alignment;
}

// Rows of different lengths in one vector.
template <typename T>
struct Rows {
  std::vector<T> values;
  std::vector<int64_t> begins{0};

  void end_row() { begins.push_back(static_cast<int64_t>(values.size())); }
  std::span<const T> operator[](int32_t row) const {
    return {values.data() + begins[row], static_cast<size_t>(begins[row + 1] - begins[row])};
  }
};

// Buffers connected through shared steps. A section is a maximal set of buffers live at once; only
// those sections matter for overlap, so there are at most as many as lifetimes.
struct Instance {
  std::vector<int32_t> id;         // index in the caller's vector
  std::vector<int64_t> size;       // bytes
  std::vector<int64_t> padded;     // size rounded up to the granule
  std::vector<int64_t> alignment;  // bytes
  std::vector<int64_t> fixed;      // offset given by the caller, or kUnset
  Rows<StepRange> lifetimes;       // in sections
  Rows<int32_t> overlaps;          // buffers that share a section, ascending
  Rows<int32_t> members;           // buffers live in each section
  std::vector<int64_t> load;       // per section: sum of padded sizes
  int64_t granule = 1;             // smallest alignment
  int64_t bound = 0;               // proven lower bound of this instance
  bool has_fixed = false;
  bool has_gaps = false;  // some buffer has several lifetimes
  bool mixed_alignment = false;

  int32_t count() const { return static_cast<int32_t>(size.size()); }
  int32_t sections() const { return static_cast<int32_t>(load.size()); }
};

struct Assignment {
  std::vector<int64_t> offset;
  int64_t total = 0;
};

struct Random {  // splitmix64: the same numbers with every standard library
  uint64_t state;
  uint64_t next() {
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  int32_t below(int64_t n) {
    return static_cast<int32_t>((next() >> 33) % static_cast<uint64_t>(n));
  }
};

// Steps still allowed.
struct Budget {
  int64_t left = 0;
  bool spent() const { return left <= 0; }
};

enum class Outcome { kFound, kInfeasible, kOutOfSteps };

// A buffer starts at a step, or has ended before it.
struct Event {
  int64_t step;
  bool start;
  int32_t buffer;
};

// What a group costs before its buffers are placed: entries in its instance's lists, and the
// largest sum of bytes live at once.
struct GroupSize {
  int64_t conflicts = 0;
  int64_t live_bytes = 0;
};

// Says what is wrong with the input in `plan`; true if nothing is.
bool check_input(const std::vector<PlannedBuffer>& buffers, MemoryPlan& plan);

// Lifetimes of a buffer, ascending and merged where they touch.
std::vector<StepRange> merged_lifetimes(const PlannedBuffer& buffer);

// Events by step, ends first.
std::vector<Event> make_events(const std::vector<std::vector<StepRange>>& lifetimes,
                               const std::vector<int32_t>& ids);

// Groups of buffers that share steps, directly or through others. Empty buffers are in none.
std::vector<std::vector<int32_t>> connected_groups(
    const std::vector<PlannedBuffer>& buffers,
    const std::vector<std::vector<StepRange>>& lifetimes);

GroupSize size_of_group(const std::vector<PlannedBuffer>& buffers,
                        const std::vector<std::vector<StepRange>>& lifetimes,
                        const std::vector<int32_t>& ids);

// `local` is scratch for the index of each buffer within the instance.
Instance make_instance(const std::vector<PlannedBuffer>& buffers,
                       const std::vector<std::vector<StepRange>>& lifetimes,
                       std::vector<int32_t> ids, std::vector<int32_t>& local);

// Branch and bound over skylines: looks for an assignment with total <= capacity. `rank` orders the
// candidates of a branch (lowest first); `local` picks the most constrained local minimum of the
// skyline instead of its lowest section. kInfeasible is a proof unless alignments are mixed.
Outcome search_exact(const Instance& instance, int64_t capacity, const std::vector<int32_t>& rank,
                     bool local, Budget& budget, Assignment& result);

// Local search over placement orders, starting from `order`: moves the buffers that define the
// peak, or those that carry them, ahead of their neighbours. Improves `best` towards `target`.
void search_orders(const Instance& instance, int64_t target, std::vector<int32_t>& order,
                   Random& random, Budget& budget, Assignment& best);

// Lowest-fit placement of one buffer after another.
std::vector<int64_t> place_in_order(const Instance& instance, const std::vector<int32_t>& order,
                                    bool best_fit, int64_t& steps);

// For groups whose conflicts are too many to list: places the buffers of `ids`, one after another
// in the order in which they become live, and returns the largest offset + size.
int64_t place_by_time(const std::vector<std::vector<StepRange>>& lifetimes,
                      const std::vector<int32_t>& ids, std::vector<PlannedBuffer>& buffers);

}  // namespace intarsia::converter::planner
