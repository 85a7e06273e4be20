// SPDX-License-Identifier: Apache-2.0
//
// Local search for memory planning: a solution is a placement order, decoded by putting each buffer
// into the lowest gap left by its already placed neighbours. A move takes a buffer that reaches
// above the target, or one of those it rests on, and places it before an earlier neighbour. Only
// buffers whose earlier neighbours moved are decoded again, so a move costs what it changes.
#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

#include "converter/memory/planner_search.h"

namespace intarsia::converter::planner {
namespace {

using Span = std::pair<int64_t, int64_t>;  // offset, end

// The lowest (or tightest) gap for one buffer between occupied spans; sorts them.
int64_t find_gap(std::vector<Span>& occupied, int64_t size, int64_t alignment, bool best_fit) {
  std::sort(occupied.begin(), occupied.end());
  int64_t low = 0;
  int64_t best = kUnset;
  int64_t best_gap = 0;
  for (const auto& [offset, end] : occupied) {
    const int64_t gap = offset - low;
    if (gap >= size) {
      if (!best_fit) return low;
      if (best == kUnset || gap < best_gap) {
        best = low;
        best_gap = gap;
      }
    }
    if (end > low) low = align_up(end, alignment);
  }
  return best == kUnset ? low : best;
}

class OrderSearch {
 public:
  OrderSearch(const Instance& instance, int64_t target, std::vector<int32_t>& order, Random& random,
              Budget& budget)
      : in_(instance),
        target_(target),
        order_(order),
        random_(random),
        budget_(budget),
        position_(order.size()),
        dirty_(order.size(), 0) {
    uint64_t highest = 0;
    for (int32_t p = 0; p < in_.count(); ++p) {
      position_[order_[p]] = p;
      highest += static_cast<uint64_t>(in_.size[p] + in_.alignment[p]);
      if (in_.fixed[p] != kUnset) highest += static_cast<uint64_t>(in_.fixed[p]);
    }
    shift_ =
        std::max(0, static_cast<int>(std::bit_width(highest) + std::bit_width(order_.size())) - 62);
    offset_ = place_in_order(in_, order_, false, budget_.left);
    for (int32_t i = 0; i < in_.count(); ++i) excess_ += excess_of(i, offset_[i]);
  }

  void run(Assignment& best);

 private:
  int64_t excess_of(int32_t buffer, int64_t offset) const {
    return std::max<int64_t>(0, offset + in_.size[buffer] - target_) >> shift_;
  }
  bool before(int32_t a, int32_t b) const {
    return in_.fixed[a] != kUnset || position_[a] < position_[b];
  }
  int64_t lowest_gap(int32_t buffer);
  int32_t pick_buffer();
  void move(int32_t from, int32_t to);
  bool decode(int32_t from, int32_t to, int64_t allowed);

  const Instance& in_;
  const int64_t target_;
  std::vector<int32_t>& order_;
  Random& random_;
  Budget& budget_;
  std::vector<int32_t> position_;
  std::vector<int64_t> offset_;
  std::vector<char> dirty_;
  std::vector<Span> scratch_;
  std::vector<int32_t> picks_;
  std::vector<std::pair<int32_t, int64_t>> changes_;
  int64_t excess_ = 0;  // bytes above the target, summed over buffers, in units of 2^shift_
  int shift_ = 0;       // keeps that sum in range
};

int64_t OrderSearch::lowest_gap(int32_t buffer) {
  scratch_.clear();
  const auto overlaps = in_.overlaps[buffer];
  budget_.left -= 2 * static_cast<int64_t>(overlaps.size()) + 4;
  for (int32_t other : overlaps) {
    if (before(other, buffer))
      scratch_.emplace_back(offset_[other], offset_[other] + in_.size[other]);
  }
  return find_gap(scratch_, in_.size[buffer], in_.alignment[buffer], false);
}

// A random buffer above the target, then a random number of steps down to what carries it.
int32_t OrderSearch::pick_buffer() {
  int64_t top = 0;
  picks_.clear();
  const bool highest_only = random_.below(2) == 0;
  budget_.left -= in_.count() / 4;
  for (int32_t i = 0; i < in_.count(); ++i) {
    const int64_t end = offset_[i] + in_.size[i];
    if (end <= target_ || in_.fixed[i] != kUnset) continue;
    if (highest_only && end < top) continue;
    if (highest_only && end > top) picks_.clear();
    top = std::max(top, end);
    picks_.push_back(i);
  }
  if (picks_.empty()) return -1;
  int32_t buffer = picks_[random_.below(static_cast<int64_t>(picks_.size()))];
  while (random_.below(3) != 0) {
    picks_.clear();
    for (int32_t other : in_.overlaps[buffer]) {
      if (offset_[other] < offset_[buffer] && in_.fixed[other] == kUnset) {
        const int64_t end = align_up(offset_[other] + in_.size[other], in_.alignment[buffer]);
        if (end == offset_[buffer]) picks_.push_back(other);
      }
    }
    if (picks_.empty()) break;
    buffer = picks_[random_.below(static_cast<int64_t>(picks_.size()))];
  }
  return buffer;
}

// Moves the buffer at position `from` to position `to`, shifting those between.
void OrderSearch::move(int32_t from, int32_t to) {
  const auto begin = order_.begin();
  if (to < from) {
    std::rotate(begin + to, begin + from, begin + from + 1);
  } else {
    std::rotate(begin + from, begin + from + 1, begin + to + 1);
  }
  for (int32_t p = std::min(from, to); p <= std::max(from, to); ++p) position_[order_[p]] = p;
  budget_.left -= (std::max(from, to) - std::min(from, to)) / 2;
}

// Decodes again what the move changed; false when the excess passes `allowed`.
bool OrderSearch::decode(int32_t from, int32_t to, int64_t allowed) {
  const int32_t lo = std::min(from, to);
  const int32_t hi = std::max(from, to);
  const int32_t moved = order_[to];
  dirty_[moved] = 1;
  for (int32_t other : in_.overlaps[moved]) {
    if (position_[other] >= lo && position_[other] <= hi) dirty_[other] = 1;
  }
  for (int32_t p = lo; p < in_.count(); ++p) {
    const int32_t buffer = order_[p];
    if (!dirty_[buffer]) continue;
    dirty_[buffer] = 0;
    if (in_.fixed[buffer] != kUnset) continue;
    const int64_t old = offset_[buffer];
    const int64_t now = lowest_gap(buffer);
    if (now == old) continue;
    changes_.emplace_back(buffer, old);
    excess_ += excess_of(buffer, now) - excess_of(buffer, old);
    offset_[buffer] = now;
    for (int32_t other : in_.overlaps[buffer]) {
      if (position_[other] > p) dirty_[other] = 1;
    }
  }
  budget_.left -= (in_.count() - lo) / 8;
  return excess_ <= allowed;
}

void OrderSearch::run(Assignment& best) {
  const int32_t n = in_.count();
  if (n < 2) return;
  while (!budget_.spent() && best.total > target_) {
    const int32_t buffer = pick_buffer();
    if (buffer < 0) break;
    const auto overlaps = in_.overlaps[buffer];
    if (overlaps.empty()) break;
    const int32_t other = overlaps[random_.below(static_cast<int64_t>(overlaps.size()))];
    const int32_t from = position_[buffer];
    const int32_t to = position_[other];
    const int64_t old_excess = excess_;
    changes_.clear();
    move(from, to);
    const int64_t tolerance = random_.below(32) == 0 ? in_.size[buffer] >> shift_ : 0;
    if (decode(from, to, excess_ + tolerance)) {
      int64_t total = 0;
      for (int32_t i = 0; i < n; ++i) total = std::max(total, offset_[i] + in_.size[i]);
      if (total < best.total) best = {offset_, total};
      continue;
    }
    for (auto change = changes_.rbegin(); change != changes_.rend(); ++change) {
      offset_[change->first] = change->second;
    }
    excess_ = old_excess;
    move(to, from);
  }
}

}  // namespace

std::vector<int64_t> place_in_order(const Instance& instance, const std::vector<int32_t>& order,
                                    bool best_fit, int64_t& steps) {
  std::vector<int64_t> offset = instance.fixed;
  std::vector<Span> occupied;
  for (int32_t buffer : order) {
    if (instance.fixed[buffer] != kUnset) continue;
    const auto overlaps = instance.overlaps[buffer];
    steps -= 2 * static_cast<int64_t>(overlaps.size()) + 4;
    occupied.clear();
    for (int32_t other : overlaps) {
      if (offset[other] != kUnset) {
        occupied.emplace_back(offset[other], offset[other] + instance.size[other]);
      }
    }
    offset[buffer] =
        find_gap(occupied, instance.size[buffer], instance.alignment[buffer], best_fit);
  }
  return offset;
}

void search_orders(const Instance& instance, int64_t target, std::vector<int32_t>& order,
                   Random& random, Budget& budget, Assignment& best) {
  OrderSearch(instance, target, order, random, budget).run(best);
}

}  // namespace intarsia::converter::planner
