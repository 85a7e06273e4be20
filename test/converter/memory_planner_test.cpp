// SPDX-License-Identifier: Apache-2.0
//
// The planner against known optima: hand-made cases, instances cut from a full rectangle (whose
// optimum is its height), and brute force over all placement orders for small random ones. Every
// result passes validate(), and validate() itself is shown to reject broken assignments.
#include "converter/memory/planner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include "test/slow_build.h"

namespace intarsia::converter {
namespace {

class Numbers {
 public:
  explicit Numbers(uint64_t seed) : state_(seed * 2 + 1) {}
  int64_t between(int64_t low, int64_t high) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return low + static_cast<int64_t>((state_ >> 33) % static_cast<uint64_t>(high - low + 1));
  }

 private:
  uint64_t state_;
};

PlannedBuffer buffer(int64_t size, int32_t first, int32_t last, int32_t alignment = 1,
                     int64_t offset = -1) {
  return {size, first, last, alignment, offset, {}};
}

std::vector<StepRange> ranges_of(const PlannedBuffer& b) {
  std::vector<StepRange> ranges = b.more;
  ranges.push_back({b.first, b.last});
  return ranges;
}

bool meet(const PlannedBuffer& a, const PlannedBuffer& b) {
  for (const StepRange& x : ranges_of(a)) {
    for (const StepRange& y : ranges_of(b)) {
      if (x.first <= y.last && y.first <= x.last) return true;
    }
  }
  return false;
}

// The quadratic definition that the sweep in validate() must agree with.
bool is_valid(const std::vector<PlannedBuffer>& buffers, int64_t total) {
  for (size_t i = 0; i < buffers.size(); ++i) {
    const PlannedBuffer& a = buffers[i];
    if (a.offset < 0 || a.offset % a.alignment != 0) return false;
    if (a.size > 0 && a.offset + a.size > total) return false;
    for (size_t j = 0; j < i; ++j) {
      const PlannedBuffer& b = buffers[j];
      if (a.size == 0 || b.size == 0 || !meet(a, b)) continue;
      if (a.offset < b.offset + b.size && b.offset < a.offset + a.size) return false;
    }
  }
  return true;
}

// The smallest total over all placement orders, each buffer at its lowest free offset.
int64_t brute_force(const std::vector<PlannedBuffer>& buffers) {
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), size_t{0});
  int64_t best = std::numeric_limits<int64_t>::max();
  do {
    std::vector<PlannedBuffer> placed;
    for (const PlannedBuffer& b : buffers) {
      if (b.offset >= 0) placed.push_back(b);
    }
    for (size_t i : order) {
      PlannedBuffer b = buffers[i];
      if (b.offset >= 0 || b.size == 0) continue;
      b.offset = 0;
      for (bool moved = true; moved;) {
        moved = false;
        for (const PlannedBuffer& p : placed) {
          const bool clash = p.size > 0 && meet(p, b) && b.offset < p.offset + p.size &&
                             p.offset < b.offset + b.size;
          if (!clash) continue;
          const int64_t end = p.offset + p.size;
          b.offset = (end + b.alignment - 1) / b.alignment * b.alignment;
          moved = true;
        }
      }
      placed.push_back(b);
    }
    int64_t total = 0;
    for (const PlannedBuffer& p : placed) {
      if (p.size > 0) total = std::max(total, p.offset + p.size);
    }
    best = std::min(best, total);
  } while (std::next_permutation(order.begin(), order.end()));
  return best;
}

// Plans and checks what must hold for every plan.
MemoryPlan plan_checked(std::vector<PlannedBuffer>& buffers, const PlannerOptions& options = {}) {
  const MemoryPlan plan = plan_memory(buffers, options);
  EXPECT_EQ(plan.error, "");
  EXPECT_EQ(validate(buffers, plan.total), "");
  EXPECT_TRUE(is_valid(buffers, plan.total));
  EXPECT_LE(plan.lower_bound, plan.padded_lower_bound);
  EXPECT_LE(plan.padded_lower_bound, plan.total);
  EXPECT_LE(plan.total, plan.greedy_total);
  return plan;
}

// Cuts the rectangle [t0, t1) x size into `count` boxes.
void cut(Numbers& numbers, int32_t t0, int32_t t1, int64_t size, int64_t count,
         std::vector<PlannedBuffer>& boxes) {
  const bool can_split_time = t1 - t0 >= 2;
  const bool can_split_size = size >= 8;
  if (count <= 1 || (!can_split_time && !can_split_size)) {
    boxes.push_back(buffer(size, t0, t1 - 1));
    return;
  }
  const int64_t part = numbers.between(1, count - 1);
  if (can_split_time && (!can_split_size || numbers.between(0, 1) == 0)) {
    const int32_t middle = static_cast<int32_t>(numbers.between(t0 + 1, t1 - 1));
    cut(numbers, t0, middle, size, part, boxes);
    cut(numbers, middle, t1, size, count - part, boxes);
  } else {
    const int64_t middle = numbers.between(size / 5 + 1, size - size / 5 - 1);
    cut(numbers, t0, t1, middle, part, boxes);
    cut(numbers, t0, t1, size - middle, count - part, boxes);
  }
}

TEST(MemoryPlanner, EmptyInputNeedsNothing) {
  std::vector<PlannedBuffer> none;
  const MemoryPlan plan = plan_checked(none);
  EXPECT_EQ(plan.total, 0);
  EXPECT_TRUE(plan.optimal);
}

TEST(MemoryPlanner, ChainAlternatesBetweenTwoEnds) {
  std::vector<PlannedBuffer> chain;
  for (int32_t i = 0; i < 50; ++i) chain.push_back(buffer(100 + i, i, i + 1));
  const MemoryPlan plan = plan_checked(chain);
  EXPECT_EQ(plan.lower_bound, 148 + 149);
  EXPECT_EQ(plan.total, plan.lower_bound);
  EXPECT_TRUE(plan.optimal);
}

TEST(MemoryPlanner, ExclusiveBranchesShareMemory) {
  // Steps 1-2 are the then-branch, 3-4 the else-branch; the hull buffer is used by both.
  std::vector<PlannedBuffer> buffers = {buffer(64, 1, 2), buffer(64, 3, 4), buffer(32, 0, 5)};
  EXPECT_EQ(plan_checked(buffers).total, 96);
  EXPECT_EQ(buffers[0].offset, buffers[1].offset);
}

TEST(MemoryPlanner, SeveralLifetimesLeaveTheGapToOthers) {
  std::vector<PlannedBuffer> buffers = {buffer(100, 0, 2), buffer(100, 3, 6)};
  buffers[0].more = {{7, 9}};
  EXPECT_EQ(plan_checked(buffers).total, 100);
  buffers[0].more = {{6, 9}};
  buffers[0].offset = buffers[1].offset = -1;
  EXPECT_EQ(plan_checked(buffers).total, 200);
}

TEST(MemoryPlanner, TouchingAndOverlappingLifetimesOfOneBufferMerge) {
  std::vector<PlannedBuffer> buffers = {buffer(10, 4, 6), buffer(10, 0, 9)};
  buffers[0].more = {{5, 8}, {0, 3}};
  EXPECT_EQ(plan_checked(buffers).total, 20);
}

TEST(MemoryPlanner, UNetReachesItsBound) {
  // Encoder levels halve the map and double the channels; each skip lives until its decoder level.
  std::vector<PlannedBuffer> buffers;
  const int32_t levels = 5;
  int32_t step = 0;
  std::vector<size_t> skips;
  const auto tensor = [&](int64_t size, int32_t uses) {
    buffers.push_back(buffer(size, step, step + uses));
    ++step;
    return buffers.size() - 1;
  };
  for (int32_t level = 0; level < levels; ++level) {
    const int64_t size = int64_t{1 << 20} >> level;
    tensor(size, 1);
    skips.push_back(tensor(size, 1));
    tensor(size / 4, 1);
  }
  for (int32_t level = levels - 1; level >= 0; --level) {
    const int64_t size = int64_t{1 << 20} >> level;
    tensor(size, 1);  // up-convolution
    buffers[skips[level]].last = step;
    tensor(2 * size, 1);  // concatenation
    tensor(size, 1);
    tensor(size, 1);
  }
  const MemoryPlan plan = plan_checked(buffers);
  EXPECT_EQ(plan.total, plan.lower_bound);
}

TEST(MemoryPlanner, ResNetReachesItsBound) {
  std::vector<PlannedBuffer> buffers;
  int32_t step = 0;
  int64_t size = 802816;
  for (int32_t stage = 0; stage < 4; ++stage, size /= 2) {
    for (int32_t block = 0; block < 4; ++block) {
      // Block input stays until the addition three steps later; workspace lives for one step.
      buffers.push_back(buffer(4 * size, step, step + 4, 64));
      buffers.push_back(buffer(size, step + 1, step + 2, 64));
      buffers.push_back(buffer(36864, step + 2, step + 2, 64));
      buffers.push_back(buffer(size, step + 2, step + 3, 64));
      buffers.push_back(buffer(4 * size, step + 3, step + 4, 64));
      step += 4;
    }
  }
  const MemoryPlan plan = plan_checked(buffers);
  EXPECT_EQ(plan.total, plan.lower_bound);
}

TEST(MemoryPlanner, SearchSolvesWhatGreedyOrdersCannot) {
  // Boxes cut from a full rectangle: the optimum is its height and leaves no byte unused.
  int32_t greedy_failures = 0;
  for (uint64_t seed = 0; seed < 12; ++seed) {
    for (int64_t count : {12, 60, 100}) {
      Numbers numbers(seed * 1000 + static_cast<uint64_t>(count));
      std::vector<PlannedBuffer> boxes;
      cut(numbers, 0, 10'000, 1 << 20, count, boxes);
      const MemoryPlan plan = plan_checked(boxes);
      EXPECT_EQ(plan.lower_bound, 1 << 20);
      EXPECT_EQ(plan.total, 1 << 20) << "seed " << seed << " count " << count;
      if (plan.greedy_total > plan.lower_bound) ++greedy_failures;
    }
  }
  EXPECT_GE(greedy_failures, 12);
}

TEST(MemoryPlanner, OptimumAboveTheBoundIsProven) {
  // At most 4 bytes are live, but 4 do not suffice: the blocks of 3 force b and c to the two ends,
  // the blocks of 2 force a next to both.
  const std::vector<PlannedBuffer> buffers = {
      buffer(1, 1, 3), buffer(1, 0, 2), buffer(1, 2, 4),  // a, b, c
      buffer(1, 2, 2), buffer(2, 1, 1), buffer(2, 3, 3),  // beside a and b, c
      buffer(3, 0, 0), buffer(3, 4, 4)};
  EXPECT_EQ(brute_force(buffers), 5);
  std::vector<PlannedBuffer> planned = buffers;
  const MemoryPlan plan = plan_checked(planned);
  EXPECT_EQ(plan.lower_bound, 4);
  EXPECT_EQ(plan.total, 5);
  EXPECT_TRUE(plan.optimal);
}

TEST(MemoryPlanner, MatchesBruteForce) {
  Numbers numbers(7);
  for (int32_t trial = 0; trial < 60; ++trial) {
    std::vector<PlannedBuffer> buffers;
    const int32_t count = trial < 8 ? 7 : 5;
    for (int32_t i = 0; i < count; ++i) {
      const int32_t first = static_cast<int32_t>(numbers.between(0, 7));
      const int32_t last = first + static_cast<int32_t>(numbers.between(0, 5));
      buffers.push_back(buffer(numbers.between(1, 4), first, last));
    }
    const int64_t optimum = brute_force(buffers);
    const MemoryPlan plan = plan_checked(buffers);
    EXPECT_EQ(plan.total, optimum) << "trial " << trial;
    EXPECT_TRUE(plan.optimal);
  }
}

TEST(MemoryPlanner, MatchesBruteForceWithAlignmentGapsAndEmptyBuffers) {
  Numbers numbers(11);
  for (int32_t trial = 0; trial < 100; ++trial) {
    const bool mixed = trial % 2 == 0;
    const bool gaps = trial % 4 < 2;
    std::vector<PlannedBuffer> buffers;
    const int64_t count = numbers.between(1, 6);
    for (int64_t i = 0; i < count; ++i) {
      const int32_t first = static_cast<int32_t>(numbers.between(0, 7));
      const int32_t last = first + static_cast<int32_t>(numbers.between(0, 4));
      const int32_t alignment = mixed ? 1 << numbers.between(0, 4) : 8;
      buffers.push_back(buffer(numbers.between(0, 40), first, last, alignment));
      if (gaps && numbers.between(0, 2) == 0) buffers.back().more = {{last + 2, last + 3}};
    }
    const int64_t optimum = brute_force(buffers);
    const MemoryPlan plan = plan_checked(buffers);
    EXPECT_EQ(plan.total, optimum) << "trial " << trial;
    for (const PlannedBuffer& b : buffers) {
      EXPECT_TRUE(b.size > 0 || b.offset == 0);
    }
  }
}

TEST(MemoryPlanner, FixedOffsetsStayAndOthersFillAround) {
  std::vector<PlannedBuffer> buffers = {buffer(16, 0, 9, 16, 32), buffer(32, 0, 4, 16),
                                        buffer(16, 0, 9, 16, 64), buffer(16, 2, 6, 16)};
  const MemoryPlan plan = plan_checked(buffers);
  EXPECT_EQ(buffers[0].offset, 32);
  EXPECT_EQ(buffers[2].offset, 64);
  EXPECT_EQ(buffers[1].offset, 0);
  EXPECT_EQ(buffers[3].offset, 48);
  EXPECT_EQ(plan.total, 80);

  Numbers numbers(13);
  for (int32_t trial = 0; trial < test::part_of(40); ++trial) {
    std::vector<PlannedBuffer> random;
    for (int32_t i = 0; i < 5; ++i) {
      const int32_t first = static_cast<int32_t>(numbers.between(0, 6));
      random.push_back(buffer(numbers.between(1, 30), first,
                              first + static_cast<int32_t>(numbers.between(0, 4)), 4));
    }
    random[0].offset = 4 * numbers.between(0, 12);
    const int64_t optimum = brute_force(random);
    EXPECT_EQ(plan_checked(random).total, optimum) << "trial " << trial;
  }
}

TEST(MemoryPlanner, ExtremeSizesAndStepsDoNotOverflow) {
  const int32_t top = std::numeric_limits<int32_t>::max();
  std::vector<PlannedBuffer> buffers;
  Numbers numbers(17);
  for (int32_t i = 0; i < 300; ++i) {
    const int32_t first = static_cast<int32_t>(numbers.between(0, top));
    const int32_t last = static_cast<int32_t>(numbers.between(first, top));
    buffers.push_back(buffer((int64_t{1} << 40) + numbers.between(-5000, 5000), first, last, 4096));
  }
  buffers.push_back(buffer(int64_t{1} << 40, 0, top, 1 << 30));
  PlannerOptions options;
  options.max_steps = 3'000'000;
  const MemoryPlan plan = plan_checked(buffers, options);
  EXPECT_GT(plan.total, int64_t{1} << 46);

  std::vector<PlannedBuffer> huge(5, buffer(int64_t{1} << 60, 0, 1));
  EXPECT_NE(plan_memory(huge).error.find("2^62"), std::string::npos);
  huge.resize(3);
  EXPECT_EQ(plan_checked(huge).total, int64_t{3} << 60);
}

TEST(MemoryPlanner, SameInputGivesTheSameOffsets) {
  Numbers numbers(19);
  std::vector<PlannedBuffer> first;
  for (int32_t i = 0; i < 200; ++i) {
    const int32_t start = static_cast<int32_t>(numbers.between(0, 200));
    first.push_back(buffer(64 * numbers.between(1, 5000), start,
                           start + static_cast<int32_t>(numbers.between(0, 60)), 64));
  }
  std::vector<PlannedBuffer> second = first;
  PlannerOptions options;
  options.max_steps = 5'000'000;
  const MemoryPlan a = plan_checked(first, options);
  const MemoryPlan b = plan_checked(second, options);
  EXPECT_EQ(a.total, b.total);
  EXPECT_EQ(a.steps, b.steps);
  for (size_t i = 0; i < first.size(); ++i) EXPECT_EQ(first[i].offset, second[i].offset);
}

TEST(MemoryPlanner, RandomInstancesStayNearTheBound) {
  for (uint64_t seed = 0; seed < 6; ++seed) {
    Numbers numbers(seed + 100);
    std::vector<PlannedBuffer> buffers;
    for (int32_t i = 0; i < 100; ++i) {
      const int32_t start = static_cast<int32_t>(numbers.between(0, 100));
      const int32_t length = static_cast<int32_t>(numbers.between(0, seed % 2 == 0 ? 5 : 40));
      buffers.push_back(buffer(64 * numbers.between(1, 10'000), start, start + length, 64));
    }
    const MemoryPlan plan = plan_checked(buffers);
    EXPECT_LE(plan.total * 100, plan.lower_bound * 102) << "seed " << seed;
  }
}

// 20,000 buffers that are live at once have 200 million pairs: neither memory nor time may follow.
TEST(MemoryPlanner, ThousandsOfBuffersLiveAtOnce) {
  Numbers numbers(23);
  std::vector<PlannedBuffer> buffers;
  for (int32_t i = 0; i < 20'000; ++i) buffers.push_back(buffer(64, i, 20'000, 64));
  const MemoryPlan stacked = plan_memory(buffers);
  EXPECT_EQ(validate(buffers, stacked.total), "");
  EXPECT_EQ(stacked.total, 20'000 * 64);
  EXPECT_TRUE(stacked.optimal);

  // Lifetimes of all kinds, gaps and fixed places: what has died is used again.
  buffers.clear();
  buffers.push_back(buffer(4096, 0, 9'000, 64, 64 * 1024));
  for (int32_t i = 0; i < 15'000; ++i) {
    const int32_t first = static_cast<int32_t>(numbers.between(0, 10'000));
    const int32_t last = first + static_cast<int32_t>(numbers.between(0, 5'000));
    buffers.push_back(buffer(numbers.between(0, 2'000), first, last, 1 << numbers.between(0, 6)));
    if (i % 5 == 0) buffers.back().more = {{last + 2, last + 20}};
  }
  const MemoryPlan mixed = plan_memory(buffers);
  EXPECT_EQ(validate(buffers, mixed.total), "");
  EXPECT_EQ(buffers[0].offset, 64 * 1024);
  EXPECT_LE(mixed.total * 100, mixed.lower_bound * 115);
  EXPECT_EQ(mixed.greedy_total, mixed.total);
}

TEST(MemoryPlanner, RejectsInvalidInputAndChangesNothing) {
  struct Case {
    PlannedBuffer bad;
    const char* message;
  };
  const Case cases[] = {
      {buffer(-1, 0, 1), "negative"},         {buffer(1, 0, 1, 0), "power of two"},
      {buffer(1, 0, 1, 24), "power of two"},  {buffer(1, 2, 1), "before it starts"},
      {buffer(1, 0, 1, 8, 4), "multiple"},    {buffer(1, 0, 1, 8, -2), "negative"},
      {buffer(8, 0, 1, 8, 8), "share bytes"},
  };
  for (const Case& c : cases) {
    std::vector<PlannedBuffer> buffers = {buffer(4, 0, 1), c.bad, buffer(16, 1, 1, 1, 0)};
    const MemoryPlan plan = plan_memory(buffers);
    EXPECT_NE(plan.error.find(c.message), std::string::npos) << plan.error;
    EXPECT_EQ(buffers[0].offset, -1);
  }
}

TEST(MemoryPlannerValidate, RejectsInjectedFaults) {
  Numbers numbers(23);
  std::vector<PlannedBuffer> buffers;
  for (int32_t i = 0; i < 40; ++i) {
    const int32_t start = static_cast<int32_t>(numbers.between(0, 40));
    buffers.push_back(buffer(16 * numbers.between(1, 20), start,
                             start + static_cast<int32_t>(numbers.between(0, 10)), 16));
  }
  const MemoryPlan plan = plan_checked(buffers);
  int32_t rejected = 0;
  for (int32_t trial = 0; trial < 500; ++trial) {
    std::vector<PlannedBuffer> broken = buffers;
    PlannedBuffer& b = broken[static_cast<size_t>(numbers.between(0, 39))];
    b.offset += numbers.between(-64, 64);
    const bool valid = is_valid(broken, plan.total);
    EXPECT_EQ(validate(broken, plan.total).empty(), valid);
    if (!valid) ++rejected;
  }
  EXPECT_GT(rejected, 400);

  std::vector<PlannedBuffer> pair = {buffer(10, 0, 5, 2, 0), buffer(10, 5, 9, 2, 10)};
  EXPECT_EQ(validate(pair, 20), "");
  EXPECT_NE(validate(pair, 19), "");
  pair[1].offset = 11;
  EXPECT_NE(validate(pair, 40).find("multiple"), std::string::npos);
  pair[1].offset = 8;
  EXPECT_EQ(validate(pair, 20), "buffers 0 and 1 share bytes at step 5");
  pair[1].first = 6;
  EXPECT_EQ(validate(pair, 20), "");
  pair[1].offset = -1;
  EXPECT_NE(validate(pair, 20).find("no offset"), std::string::npos);
}

// ---------------------------------------------------------------------------------------------

bool respects_dependencies(const OrderProblem& problem, const std::vector<int32_t>& order) {
  std::vector<size_t> position(problem.nodes.size(), problem.nodes.size());
  for (size_t p = 0; p < order.size(); ++p) position[static_cast<size_t>(order[p])] = p;
  const auto touch = [](const std::vector<int32_t>& a, const std::vector<int32_t>& b) {
    return std::any_of(a.begin(), a.end(),
                       [&](int32_t x) { return std::find(b.begin(), b.end(), x) != b.end(); });
  };
  for (size_t v = 0; v < problem.nodes.size(); ++v) {
    if (position[v] == problem.nodes.size()) return false;  // missing
    const OrderNode& late = problem.nodes[v];
    for (size_t u = 0; u < v; ++u) {
      const OrderNode& early = problem.nodes[u];
      const bool depends = touch(early.outputs, late.inputs) ||
                           touch(early.outputs, late.outputs) ||
                           touch(early.inputs, late.outputs) ||
                           std::find(late.after.begin(), late.after.end(),
                                     static_cast<int32_t>(u)) != late.after.end();
      if (depends && position[u] > position[v]) return false;
    }
  }
  return order.size() == problem.nodes.size();
}

// Peak from the definition: a buffer is live from its first to its last use.
int64_t simple_peak(const OrderProblem& problem, const std::vector<int32_t>& order) {
  const int32_t n = static_cast<int32_t>(order.size());
  std::vector<int64_t> live(order.size() + 2, 0);  // before, at each node, after
  for (size_t b = 0; b < problem.buffers.size(); ++b) {
    const OrderBuffer& buf = problem.buffers[b];
    int32_t first = buf.live_at_start ? 0 : n + 2;
    int32_t last = buf.live_at_end ? n + 1 : -1;
    for (int32_t p = 0; p < n; ++p) {
      const OrderNode& node = problem.nodes[static_cast<size_t>(order[static_cast<size_t>(p)])];
      for (const auto* list : {&node.inputs, &node.outputs}) {
        if (std::find(list->begin(), list->end(), static_cast<int32_t>(b)) != list->end()) {
          first = std::min(first, p + 1);
          last = std::max(last, p + 1);
        }
      }
    }
    for (int32_t p = first; p <= last; ++p) live[static_cast<size_t>(p)] += buf.size;
  }
  for (int32_t p = 0; p < n; ++p) {
    live[static_cast<size_t>(p) + 1] +=
        problem.nodes[static_cast<size_t>(order[static_cast<size_t>(p)])].workspace;
  }
  return *std::max_element(live.begin(), live.end());
}

OrderProblem random_problem(Numbers& numbers, int32_t count) {
  OrderProblem problem;
  problem.buffers.push_back({numbers.between(1, 50), true, numbers.between(0, 1) == 0});
  for (int32_t v = 0; v < count; ++v) {
    OrderNode node;
    const int64_t inputs = numbers.between(1, 2);
    const int64_t known = static_cast<int64_t>(problem.buffers.size());
    for (int64_t i = 0; i < inputs; ++i) {
      node.inputs.push_back(
          static_cast<int32_t>(numbers.between(std::max<int64_t>(0, known - 6), known - 1)));
    }
    if (numbers.between(0, 9) == 0) {
      node.outputs = {node.inputs[0]};  // in place
    } else {
      node.outputs = {static_cast<int32_t>(known)};
      problem.buffers.push_back({numbers.between(1, 100), false, numbers.between(0, 5) == 0});
    }
    if (numbers.between(0, 9) == 0) node.workspace = numbers.between(0, 80);
    if (v > 0 && numbers.between(0, 9) == 0) {
      node.after = {static_cast<int32_t>(numbers.between(0, v - 1))};
    }
    problem.nodes.push_back(node);
  }
  return problem;
}

std::vector<int32_t> given_order(const OrderProblem& problem) {
  std::vector<int32_t> order(problem.nodes.size());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

TEST(MemoryOrder, FinishesOneBranchBeforeTheNext) {
  // Each branch expands the input by ten and reduces it to one byte; the given order runs all
  // expansions first.
  OrderProblem problem;
  problem.buffers.push_back({1, true, false});
  OrderNode join;
  for (int32_t b = 0; b < 8; ++b) {
    problem.buffers.push_back({10, false, false});
    problem.nodes.push_back({{0}, {b + 1}, {}, 0});
  }
  for (int32_t b = 0; b < 8; ++b) {
    problem.buffers.push_back({1, false, false});
    problem.nodes.push_back({{b + 1}, {b + 9}, {}, 0});
    join.inputs.push_back(b + 9);
  }
  problem.buffers.push_back({1, false, true});
  join.outputs = {17};
  problem.nodes.push_back(join);
  EXPECT_EQ(peak_of_order(problem, given_order(problem)), 81);
  const std::vector<int32_t> order = order_for_memory(problem);
  EXPECT_TRUE(respects_dependencies(problem, order));
  EXPECT_EQ(peak_of_order(problem, order), 18);
}

TEST(MemoryOrder, MatchesBruteForceOnSmallGraphs) {
  Numbers numbers(29);
  int32_t gains = 0;
  for (int32_t trial = 0; trial < 100; ++trial) {
    const OrderProblem problem =
        random_problem(numbers, static_cast<int32_t>(numbers.between(1, 7)));
    std::vector<int32_t> order = given_order(problem);
    const int64_t given = simple_peak(problem, order);
    int64_t optimum = given;
    do {
      if (respects_dependencies(problem, order)) {
        optimum = std::min(optimum, simple_peak(problem, order));
      }
    } while (std::next_permutation(order.begin(), order.end()));
    const std::vector<int32_t> found = order_for_memory(problem);
    ASSERT_TRUE(respects_dependencies(problem, found)) << "trial " << trial;
    EXPECT_EQ(simple_peak(problem, found), optimum) << "trial " << trial;
    EXPECT_EQ(peak_of_order(problem, found), optimum) << "trial " << trial;
    if (optimum < given) ++gains;
  }
  EXPECT_GT(gains, 10);
}

TEST(MemoryOrder, NeverRaisesThePeakAndKeepsTheGivenOrderWithoutGain) {
  Numbers numbers(31);
  for (int32_t trial = 0; trial < 8; ++trial) {
    OrderProblem problem = random_problem(numbers, 120);
    problem.max_steps = 1'000'000;
    const std::vector<int32_t> given = given_order(problem);
    const std::vector<int32_t> found = order_for_memory(problem);
    ASSERT_TRUE(respects_dependencies(problem, found));
    const int64_t before = simple_peak(problem, given);
    const int64_t after = simple_peak(problem, found);
    EXPECT_LE(after, before);
    EXPECT_TRUE(after < before || found == given);
    EXPECT_EQ(found, order_for_memory(problem));
  }
  OrderProblem empty;
  EXPECT_TRUE(order_for_memory(empty).empty());
}

}  // namespace
}  // namespace intarsia::converter
