// SPDX-License-Identifier: Apache-2.0
//
// Planning of one arena: checks the input, makes instances of it, and runs greedy portfolio, exact
// search and local search in turn until an instance fits the lower bound of the whole arena or the
// step budget is used. Instances with too many conflicts to list are placed in order of time.
#include "converter/memory/planner.h"

#include <algorithm>
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

}  // namespace intarsia::converter
