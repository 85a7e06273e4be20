// SPDX-License-Identifier: Apache-2.0
//
// Planning of one arena: checks the input, compresses steps to sections, splits buffers into
// instances that share no step, and runs greedy portfolio, exact search and local search in turn
// until an instance fits the lower bound of the whole arena or the step budget is used. Instances
// with too many conflicts to list are placed in order of time.
#include "converter/memory/planner.h"

#include <algorithm>
#include <bit>
#include <map>

#include <numeric>

#include "converter/memory/planner_search.h"

namespace intarsia::converter {
namespace planner {
namespace {

constexpr int64_t kMaxSlice = int64_t{1} << 40;
constexpr int64_t kSearchStepsPerBuffer = 500'000;  // small instances are exhausted far earlier
constexpr int64_t kGreedySteps = 50'000'000;   // reached by dense instances above 3,000 buffers
constexpr int64_t kMaxConflicts = 20'000'000;  // entries of an instance's lists: about a second

// Lifetimes of a buffer, ascending and merged where they touch.
std::vector<StepRange> merged_lifetimes(const PlannedBuffer& buffer) {
  std::vector<StepRange> ranges = buffer.more;
  ranges.push_back({buffer.first, buffer.last});
  std::sort(ranges.begin(), ranges.end(), [](const StepRange& a, const StepRange& b) {
    return a.first != b.first ? a.first < b.first : a.last < b.last;
  });
  std::vector<StepRange> merged;
  for (const StepRange& range : ranges) {
    if (!merged.empty() && range.first <= int64_t{merged.back().last} + 1) {
      merged.back().last = std::max(merged.back().last, range.last);
    } else {
      merged.push_back(range);
    }
  }
  return merged;
}

// What is wrong with a buffer, or "". `sum`: what those in front of it may take; it is added.
std::string check_buffer(const PlannedBuffer& buffer, int64_t& sum) {
  if (buffer.size < 0) return "size " + std::to_string(buffer.size) + " is negative";
  if (buffer.alignment <= 0 || !std::has_single_bit(static_cast<uint32_t>(buffer.alignment))) {
    return "alignment " + std::to_string(buffer.alignment) + " is not a power of two";
  }
  std::vector<StepRange> ranges = buffer.more;
  ranges.push_back({buffer.first, buffer.last});
  for (const StepRange& range : ranges) {
    if (range.first > range.last) {
      return "lifetime ends at step " + std::to_string(range.last) + ", before it starts at step " +
             std::to_string(range.first);
    }
  }
  if (buffer.offset < kUnset) {
    return "fixed offset " + std::to_string(buffer.offset) + " is negative";
  }
  if (buffer.offset != kUnset && buffer.offset % buffer.alignment != 0) {
    return "fixed offset " + std::to_string(buffer.offset) +
           " is not a multiple of its alignment " + std::to_string(buffer.alignment);
  }
  const int64_t room = kMaxBytes - sum - buffer.alignment;
  if (buffer.size > room || buffer.offset > room - buffer.size) {
    return "the sizes and fixed offsets up to here exceed 2^62 bytes";
  }
  sum += buffer.size + buffer.alignment + std::max<int64_t>(0, buffer.offset);
  return {};
}

// Says what is wrong with the input in `plan`; true if nothing is.
bool check_input(const std::vector<PlannedBuffer>& buffers, MemoryPlan& plan) {
  int64_t sum = 0;
  for (size_t i = 0; i < buffers.size(); ++i) {
    plan.error = check_buffer(buffers[i], sum);
    if (plan.error.empty()) continue;
    plan.error = "buffer " + std::to_string(i) + ": " + plan.error;
    plan.refused = static_cast<int32_t>(i);
    return false;
  }
  return true;
}

struct Event {
  int64_t step;  // a buffer starts here, or has ended before this step
  bool start;
  int32_t buffer;
};

// Events by step, ends first.
std::vector<Event> make_events(const std::vector<std::vector<StepRange>>& lifetimes,
                               const std::vector<int32_t>& ids) {
  std::vector<Event> events;
  for (int32_t id : ids) {
    for (const StepRange& range : lifetimes[id]) {
      events.push_back({range.first, true, id});
      events.push_back({int64_t{range.last} + 1, false, id});
    }
  }
  std::sort(events.begin(), events.end(), [](const Event& a, const Event& b) {
    if (a.step != b.step) return a.step < b.step;
    if (a.start != b.start) return !a.start;
    return a.buffer < b.buffer;
  });
  return events;
}

// What a group costs before its buffers are placed: entries in its instance's lists, and the
// largest sum of bytes live at once.
struct GroupSize {
  int64_t conflicts = 0;
  int64_t live_bytes = 0;
};

GroupSize size_of_group(const std::vector<PlannedBuffer>& buffers,
                        const std::vector<std::vector<StepRange>>& lifetimes,
                        const std::vector<int32_t>& ids) {
  GroupSize group;
  int64_t live = 0;
  int64_t bytes = 0;
  bool grown = false;
  for (const Event& event : make_events(lifetimes, ids)) {
    const int64_t size = buffers[event.buffer].size;
    if (event.start || grown) group.conflicts += live;
    grown = event.start;
    live += event.start ? 1 : -1;
    bytes += event.start ? size : -size;
    group.live_bytes = std::max(group.live_bytes, bytes);
  }
  return group;
}

// Bytes that any assignment needs: per section, the buffers whose alignment is at least A occupy
// whole multiples of A, except for the padding of the one on top.
int64_t proven_bound(const Instance& instance) {
  std::vector<int64_t> levels = instance.alignment;
  std::sort(levels.begin(), levels.end());
  levels.erase(std::unique(levels.begin(), levels.end()), levels.end());
  int64_t bound = 0;
  for (int32_t s = 0; s < instance.sections(); ++s) {
    for (int64_t level : levels) {
      int64_t sum = 0;
      int64_t padding = 0;
      for (int32_t i : instance.members[s]) {
        if (instance.alignment[i] < level) continue;
        const int64_t padded = align_up(instance.size[i], level);
        sum += padded;
        padding = std::max(padding, padded - instance.size[i]);
      }
      bound = std::max(bound, sum - padding);
    }
  }
  for (int32_t i = 0; i < instance.count(); ++i) {
    if (instance.fixed[i] != kUnset) {
      bound = std::max(bound, instance.fixed[i] + instance.size[i]);
    }
  }
  return bound;
}

// `local` is scratch for the index of each buffer within the instance.
Instance make_instance(const std::vector<PlannedBuffer>& buffers,
                       const std::vector<std::vector<StepRange>>& lifetimes,
                       std::vector<int32_t> ids, std::vector<int32_t>& local) {
  Instance in;
  in.granule = int64_t{1} << 32;
  for (size_t i = 0; i < ids.size(); ++i) {
    const PlannedBuffer& buffer = buffers[ids[i]];
    local[ids[i]] = static_cast<int32_t>(i);
    in.size.push_back(buffer.size);
    in.alignment.push_back(buffer.alignment);
    in.fixed.push_back(buffer.offset);
    in.has_fixed |= buffer.offset != kUnset;
    in.mixed_alignment |= buffer.alignment != buffers[ids[0]].alignment;
    in.granule = std::min<int64_t>(in.granule, buffer.alignment);
  }
  for (int64_t size : in.size) in.padded.push_back(align_up(size, in.granule));

  // A section ends at the first end after a start; sets between other events are subsets of it.
  std::vector<std::vector<StepRange>> ranges(ids.size());
  std::vector<std::vector<int32_t>> overlaps(ids.size());
  std::vector<int32_t> live;  // ascending
  int32_t sections = 0;
  bool grown = false;
  for (const Event& event : make_events(lifetimes, ids)) {
    const int32_t i = local[event.buffer];
    if (event.start) {
      for (int32_t other : live) {
        overlaps[i].push_back(other);
        overlaps[other].push_back(i);
      }
      live.insert(std::lower_bound(live.begin(), live.end(), i), i);
      ranges[i].push_back({sections, sections});
      grown = true;
    } else {
      if (grown) {
        in.members.values.insert(in.members.values.end(), live.begin(), live.end());
        in.members.end_row();
        ++sections;
      }
      grown = false;
      live.erase(std::lower_bound(live.begin(), live.end(), i));
      ranges[i].back().last = sections - 1;
    }
  }
  for (size_t i = 0; i < ids.size(); ++i) {
    std::sort(overlaps[i].begin(), overlaps[i].end());
    overlaps[i].erase(std::unique(overlaps[i].begin(), overlaps[i].end()), overlaps[i].end());
    in.overlaps.values.insert(in.overlaps.values.end(), overlaps[i].begin(), overlaps[i].end());
    in.overlaps.end_row();
    in.lifetimes.values.insert(in.lifetimes.values.end(), ranges[i].begin(), ranges[i].end());
    in.lifetimes.end_row();
    in.has_gaps |= ranges[i].size() > 1;
  }
  in.load.assign(sections, 0);
  for (int32_t s = 0; s < sections; ++s) {
    for (int32_t i : in.members[s]) in.load[s] += in.padded[i];
  }
  in.bound = proven_bound(in);
  in.id = std::move(ids);
  return in;
}

// Groups of buffers that share steps, directly or through others. Empty buffers are in none.
std::vector<std::vector<int32_t>> connected_groups(
    const std::vector<PlannedBuffer>& buffers,
    const std::vector<std::vector<StepRange>>& lifetimes) {
  std::vector<int32_t> ids;
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (buffers[i].size > 0) ids.push_back(static_cast<int32_t>(i));
  }
  std::vector<int32_t> parent(buffers.size());
  std::iota(parent.begin(), parent.end(), 0);
  const auto root = [&](int32_t i) {
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
  };
  int32_t live = 0;
  int32_t joined = -1;
  for (const Event& event : make_events(lifetimes, ids)) {
    live += event.start ? 1 : -1;
    if (event.start) {
      if (joined >= 0) parent[root(event.buffer)] = root(joined);
      joined = event.buffer;
    } else if (live == 0) {
      joined = -1;
    }
  }
  std::vector<int32_t> group_of(buffers.size(), -1);
  std::vector<std::vector<int32_t>> groups;
  for (int32_t id : ids) {
    int32_t& group = group_of[root(id)];
    if (group < 0) {
      group = static_cast<int32_t>(groups.size());
      groups.emplace_back();
    }
    groups[group].push_back(id);
  }
  return groups;
}

// Static properties that placement orders sort by.
struct Features {
  std::vector<int64_t> size, length, area, start, load, conflict;
};

Features features_of(const Instance& in) {
  Features features;
  for (int32_t i = 0; i < in.count(); ++i) {
    int64_t length = 0;
    int64_t load = 0;
    for (const StepRange& range : in.lifetimes[i]) {
      length += range.last - range.first + 1;
      for (int32_t s = range.first; s <= range.last; ++s) load = std::max(load, in.load[s]);
    }
    // Only compared with each other: fewer bits keep products and sums in range.
    int64_t conflict = 0;
    for (int32_t other : in.overlaps[i]) conflict += in.size[other] / in.granule;
    features.size.push_back(in.size[i]);
    features.length.push_back(length);
    features.area.push_back(static_cast<int64_t>(
        std::min(9e18, static_cast<double>(in.size[i]) * static_cast<double>(length))));
    features.start.push_back(-in.lifetimes[i][0].first);
    features.load.push_back(load);
    features.conflict.push_back(conflict);
  }
  return features;
}

// Indices sorted by descending keys, the earlier key first.
std::vector<int32_t> sorted_by(std::initializer_list<const std::vector<int64_t>*> keys) {
  std::vector<int32_t> order((*keys.begin())->size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    for (const std::vector<int64_t>* key : keys) {
      if ((*key)[a] != (*key)[b]) return (*key)[a] > (*key)[b];
    }
    return a < b;
  });
  return order;
}

std::vector<int32_t> ranks(const std::vector<int32_t>& order) {
  std::vector<int32_t> rank(order.size());
  for (size_t p = 0; p < order.size(); ++p) rank[order[p]] = static_cast<int32_t>(p);
  return rank;
}

// One instance on its way from greedy to (near) optimal.
struct Work {
  Instance instance;
  Features features;
  Assignment best;
  std::vector<int32_t> order;  // the placement order of `best`
  int64_t bound = 0;           // proven lower bound, raised by exhausted searches
};

void run_greedy(Work& work) {
  const Features& f = work.features;
  const std::vector<int32_t> orders[] = {
      sorted_by({&f.size, &f.length}),          sorted_by({&f.area, &f.size}),
      sorted_by({&f.length, &f.size}),          sorted_by({&f.load, &f.size}),
      sorted_by({&f.load, &f.length, &f.size}), sorted_by({&f.conflict, &f.size}),
      sorted_by({&f.start, &f.size}),
  };
  int64_t steps = kGreedySteps;
  for (const std::vector<int32_t>& order : orders) {
    for (bool best_fit : {false, true}) {
      const std::vector<int64_t> offset = place_in_order(work.instance, order, best_fit, steps);
      int64_t total = 0;
      for (int32_t i = 0; i < work.instance.count(); ++i) {
        total = std::max(total, offset[i] + work.instance.size[i]);
      }
      if (work.order.empty() || total < work.best.total) {
        work.best = {offset, total};
        work.order = order;
      }
      if (total <= work.bound || steps < 0) return;
    }
  }
}

// A part of a budget; what is left of it goes back.
struct Share : Budget {
  Share(Budget& whole_budget, int64_t steps)
      : Budget{std::min(steps, whole_budget.left)}, whole(whole_budget) {
    whole.left -= left;
  }
  ~Share() { whole.left += left; }
  Share(const Share&) = delete;
  Share& operator=(const Share&) = delete;
  Budget& whole;
};

// Alternates exact search (at the target, and between the target and the best) with local search,
// each round with more steps than the last.
void run_search(Work& work, int64_t target, Random& random, Budget& budget) {
  const Instance& in = work.instance;
  const auto goal = [&] { return std::max(target, work.bound); };
  const auto reached = [&] { return work.best.total <= goal() || budget.spent(); };
  if (reached()) return;
  const Features& f = work.features;
  const std::vector<int32_t> rank_of[] = {
      ranks(sorted_by({&f.length, &f.area, &f.load})),
      ranks(sorted_by({&f.load, &f.length, &f.area})),
      ranks(sorted_by({&f.load, &f.area, &f.length})),
      ranks(sorted_by({&f.size, &f.length})),
      ranks(sorted_by({&f.area, &f.length})),
  };
  const auto exact = [&](int64_t capacity, const std::vector<int32_t>& rank, bool local,
                         int64_t slice) {
    if (in.has_fixed || reached()) return;
    Share share(budget, slice);
    Assignment found;
    const Outcome outcome = search_exact(in, capacity, rank, local, share, found);
    if (outcome == Outcome::kFound && found.total < work.best.total) work.best = found;
    if (outcome == Outcome::kInfeasible && !in.mixed_alignment) work.bound = capacity + 1;
  };
  int64_t slice = 40 * int64_t{in.count()} + 20'000;
  while (!reached()) {
    budget.left -= in.count() + 100;
    for (const std::vector<int32_t>& rank : rank_of) {
      for (bool local : {true, false}) {
        exact(goal(), rank, local, slice);
        exact(goal() + (work.best.total - goal()) / 2, rank, local, slice);
      }
    }
    if (reached()) return;
    Share share(budget, 16 * slice);
    search_orders(in, goal(), work.order, random, share, work.best);
    slice = std::min(2 * slice, kMaxSlice);
  }
}

}  // namespace
}  // namespace planner

MemoryPlan plan_memory(std::vector<PlannedBuffer>& buffers, const PlannerOptions& options) {
  using namespace planner;
  MemoryPlan plan;
  if (!check_input(buffers, plan)) return plan;

  std::vector<std::vector<StepRange>> lifetimes;
  for (const PlannedBuffer& buffer : buffers) lifetimes.push_back(merged_lifetimes(buffer));
  std::vector<int32_t> local(buffers.size());
  std::vector<Work> works;
  std::vector<PlannedBuffer> result = buffers;
  for (std::vector<int32_t>& ids : connected_groups(buffers, lifetimes)) {
    const GroupSize group = size_of_group(buffers, lifetimes, ids);
    plan.lower_bound = std::max(plan.lower_bound, group.live_bytes);
    if (group.conflicts > kMaxConflicts) {
      plan.total = std::max(plan.total, place_by_time(lifetimes, ids, result));
      plan.greedy_total = std::max(plan.greedy_total, plan.total);
      plan.padded_lower_bound = std::max(plan.padded_lower_bound, group.live_bytes);
      continue;
    }
    Work work;
    work.instance = make_instance(buffers, lifetimes, std::move(ids), local);
    work.bound = work.instance.bound;
    plan.padded_lower_bound = std::max(plan.padded_lower_bound, work.bound);
    work.features = features_of(work.instance);
    run_greedy(work);
    plan.greedy_total = std::max(plan.greedy_total, work.best.total);
    works.push_back(std::move(work));
  }

  // The largest instance first: what it cannot beat, the others need not beat either.
  std::vector<int32_t> turn(works.size());
  std::iota(turn.begin(), turn.end(), 0);
  std::sort(turn.begin(), turn.end(), [&](int32_t a, int32_t b) {
    if (works[a].best.total != works[b].best.total) {
      return works[a].best.total > works[b].best.total;
    }
    return a < b;
  });
  Budget budget{options.max_steps};
  Random random{options.seed};
  int64_t target = std::max(plan.total, plan.padded_lower_bound);
  for (int32_t w : turn) {
    Share share(budget, kSearchStepsPerBuffer * works[w].instance.count());
    run_search(works[w], target, random, share);
    target = std::max(target, works[w].best.total);
  }
  plan.steps = options.max_steps - budget.left;

  plan.total = target;
  plan.optimal = plan.total == plan.padded_lower_bound;
  for (const Work& work : works) {
    plan.optimal |= work.best.total == plan.total && work.bound >= plan.total;
  }
  for (const Work& work : works) {
    for (int32_t i = 0; i < work.instance.count(); ++i) {
      result[work.instance.id[i]].offset = work.best.offset[i];
    }
  }
  for (PlannedBuffer& buffer : result) {
    if (buffer.size == 0 && buffer.offset == kUnset) buffer.offset = 0;
  }
  plan.error = validate(result, plan.total);
  if (plan.error.empty()) buffers = std::move(result);
  return plan;
}

MemoryPlan plan_apart(std::vector<PlannedBuffer>& buffers, const PlannerOptions&) {
  MemoryPlan plan;
  if (!planner::check_input(buffers, plan)) return plan;
  std::map<int32_t, int64_t> change;  // of the live bytes, by step
  for (PlannedBuffer& buffer : buffers) {
    buffer.offset = buffer.size == 0 ? 0 : planner::align_up(plan.total, buffer.alignment);
    plan.total = std::max(plan.total, buffer.offset + buffer.size);
    change[buffer.first] += buffer.size;
    change[buffer.last + 1] -= buffer.size;
  }
  int64_t live = 0;
  for (const auto& [step, bytes] : change) {
    live += bytes;
    plan.lower_bound = std::max(plan.lower_bound, live);
  }
  plan.padded_lower_bound = plan.lower_bound;
  plan.greedy_total = plan.total;
  return plan;
}

std::string validate(const std::vector<PlannedBuffer>& buffers, int64_t total) {
  using namespace planner;
  std::vector<std::vector<StepRange>> lifetimes;
  std::vector<int32_t> ids;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const PlannedBuffer& buffer = buffers[i];
    const std::string name = "buffer " + std::to_string(i);
    lifetimes.push_back(merged_lifetimes(buffer));
    if (buffer.size < 0) return name + ": negative size";
    if (buffer.offset < 0) return name + ": no offset";
    if (buffer.alignment <= 0 || buffer.offset % buffer.alignment != 0) {
      return name + ": offset " + std::to_string(buffer.offset) + " is not a multiple of " +
             std::to_string(buffer.alignment);
    }
    if (buffer.size == 0) continue;
    if (buffer.size > total || buffer.offset > total - buffer.size) {
      return name + ": offset " + std::to_string(buffer.offset) + " + size " +
             std::to_string(buffer.size) + " exceeds the arena of " + std::to_string(total);
    }
    ids.push_back(static_cast<int32_t>(i));
  }
  // Live buffers by offset are disjoint until the first conflict, so neighbours suffice.
  std::map<int64_t, int32_t> live;
  const auto conflict = [](int32_t a, int32_t b, int64_t step) {
    return "buffers " + std::to_string(std::min(a, b)) + " and " + std::to_string(std::max(a, b)) +
           " share bytes at step " + std::to_string(step);
  };
  for (const Event& event : make_events(lifetimes, ids)) {
    const PlannedBuffer& buffer = buffers[event.buffer];
    if (!event.start) {
      live.erase(buffer.offset);
      continue;
    }
    const auto next = live.lower_bound(buffer.offset);
    if (next != live.end() && next->first < buffer.offset + buffer.size) {
      return conflict(next->second, event.buffer, event.step);
    }
    if (next != live.begin()) {
      const auto previous = std::prev(next);
      if (previous->first + buffers[previous->second].size > buffer.offset) {
        return conflict(previous->second, event.buffer, event.step);
      }
    }
    live.emplace(buffer.offset, event.buffer);
  }
  return {};
}

}  // namespace intarsia::converter
