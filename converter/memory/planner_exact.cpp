// SPDX-License-Identifier: Apache-2.0
//
// Branch and bound for memory planning. Any assignment can be pushed down until every buffer rests
// on another one or on 0, so the search builds assignments upwards: each section has a floor, and
// the branches at a local minimum of that skyline are "this buffer comes next here" for every
// buffer that rests directly on the floor, plus "nothing does" (the gap up to the next possible
// support is wasted). floor + remaining bytes <= capacity in every section cuts most branches: at a
// capacity equal to the lower bound the peak sections have no slack and admit no waste at all.
#include <algorithm>
#include <limits>

#include "converter/memory/planner_search.h"

namespace intarsia::converter::planner {
namespace {

constexpr int64_t kWall = std::numeric_limits<int64_t>::max();

class SkylineSearch {
 public:
  SkylineSearch(const Instance& instance, int64_t capacity, const std::vector<int32_t>& rank,
                bool local, Budget& budget)
      : in_(instance),
        capacity_(capacity),
        rank_(rank),
        local_(local && !instance.has_gaps),
        budget_(budget) {}

  Outcome run(Assignment& result);

 private:
  struct Frame {
    int32_t section;
    int32_t next;             // the next candidate to try
    int32_t placed;           // the candidate tried now, or -1
    bool waste;               // the waste branch is still to be tried
    bool applied;             // a branch is in force
    size_t candidates_begin;  // in candidates_
    size_t candidates_end;
    size_t floors_mark;
    size_t lows_mark;
  };
  struct FloorChange {
    int32_t section;
    int32_t top;
    int64_t floor;
  };
  struct LowChange {
    int32_t buffer;
    int64_t low;
  };

  bool unplaced(int32_t buffer) const { return offset_[buffer] == kUnset; }
  int64_t slack(int32_t section) const {
    return limit_[section] - floor_[section] - load_[section];
  }
  bool rests_on_floor(int32_t buffer, int32_t section) const {
    return low_[buffer] == align_up(floor_[section], in_.alignment[buffer]);
  }
  bool lives_in(int32_t buffer, int32_t section) const {
    for (const StepRange& range : in_.lifetimes[buffer]) {
      if (range.first <= section && section <= range.last) return true;
    }
    return false;
  }
  bool interchangeable(int32_t a, int32_t b) const;
  int32_t pick_section();
  int32_t count_branches(int32_t section);
  bool expand();
  bool set_low(int32_t buffer, int64_t low);
  void set_floor(int32_t section, int64_t floor, int32_t top);
  bool place(int32_t buffer);
  bool waste(const Frame& frame);
  void undo(Frame& frame);

  const Instance& in_;
  const int64_t capacity_;
  const std::vector<int32_t>& rank_;
  const bool local_;
  Budget& budget_;

  std::vector<int64_t> floor_;   // per section: no unplaced buffer starts below
  std::vector<int64_t> load_;    // per section: padded bytes of unplaced buffers
  std::vector<int64_t> limit_;   // per section: capacity plus the padding the top buffer may drop
  std::vector<int32_t> open_;    // per section: unplaced buffers
  std::vector<int32_t> top_;     // per section: the buffer whose top is the floor, or -1
  std::vector<int64_t> low_;     // per buffer: lowest offset still possible
  std::vector<int64_t> offset_;  // per buffer
  int32_t placed_ = 0;

  std::vector<Frame> frames_;
  std::vector<int32_t> candidates_;
  std::vector<FloorChange> floor_changes_;
  std::vector<LowChange> low_changes_;
};

// Two buffers that may swap places in any assignment when one rests exactly on the other.
bool SkylineSearch::interchangeable(int32_t a, int32_t b) const {
  if (in_.alignment[a] != in_.alignment[b]) return false;
  if (in_.padded[a] - in_.size[a] != in_.padded[b] - in_.size[b]) return false;
  const auto range_a = in_.lifetimes[a];
  const auto range_b = in_.lifetimes[b];
  return std::equal(range_a.begin(), range_a.end(), range_b.begin(), range_b.end(),
                    [](const StepRange& x, const StepRange& y) {
                      return x.first == y.first && x.last == y.last;
                    });
}

// The section to branch on: the lowest run of the skyline, or any local minimum, in its section
// with the least slack. Fewest branches first, so that a dead end is seen at once; then least
// slack.
int32_t SkylineSearch::pick_section() {
  const int32_t sections = in_.sections();
  budget_.left -= sections / 4 + 1;
  const auto level_of = [&](int32_t s) { return s < sections && open_[s] > 0 ? floor_[s] : kWall; };
  int64_t lowest = kWall;
  for (int32_t s = 0; s < sections && !local_; ++s) lowest = std::min(lowest, level_of(s));
  int32_t best = -1;
  int32_t best_branches = 0;
  int64_t left = kWall;
  for (int32_t s = 0; s < sections;) {
    const int64_t level = level_of(s);
    int32_t run = s;
    int32_t tightest = s;
    for (; run < sections && level_of(run) == level; ++run) {
      if (slack(run) < slack(tightest)) tightest = run;
    }
    const bool minimum = local_ ? left > level && level_of(run) > level : level == lowest;
    if (level != kWall && minimum) {
      const int32_t branches = count_branches(tightest);
      if (branches == 0) return tightest;
      const bool better = best < 0 || branches < best_branches ||
                          (branches == best_branches && slack(tightest) < slack(best));
      if (better) {
        best = tightest;
        best_branches = branches;
      }
    }
    left = level;
    s = run;
  }
  return best;
}

int32_t SkylineSearch::count_branches(int32_t section) {
  int32_t branches = slack(section) > 0 ? 1 : 0;
  const auto members = in_.members[section];
  budget_.left -= static_cast<int64_t>(members.size()) / 2;
  for (int32_t buffer : members) {
    if (unplaced(buffer) && rests_on_floor(buffer, section)) ++branches;
  }
  return branches;
}

bool SkylineSearch::set_low(int32_t buffer, int64_t low) {
  low_changes_.push_back({buffer, low_[buffer]});
  low_[buffer] = low;
  return low <= capacity_ - in_.size[buffer];
}

void SkylineSearch::set_floor(int32_t section, int64_t floor, int32_t top) {
  floor_changes_.push_back({section, top_[section], floor_[section]});
  floor_[section] = floor;
  top_[section] = top;
}

// Pushes the frame of the next decision; false when the state cannot be completed. Floor raises
// without an alternative belong to the decision above and are undone with it.
bool SkylineSearch::expand() {
  for (;;) {
    const int32_t section = pick_section();
    const size_t begin = candidates_.size();
    int64_t lowest = kWall;
    const auto members = in_.members[section];
    budget_.left -= static_cast<int64_t>(members.size());
    for (int32_t buffer : members) {
      if (!unplaced(buffer)) continue;
      lowest = std::min(lowest, low_[buffer]);
      if (rests_on_floor(buffer, section)) candidates_.push_back(buffer);
    }
    if (candidates_.size() == begin) {
      set_floor(section, lowest, -1);
      if (slack(section) < 0) return false;
      continue;
    }
    std::sort(candidates_.begin() + static_cast<int64_t>(begin), candidates_.end(),
              [&](int32_t a, int32_t b) { return rank_[a] < rank_[b]; });
    frames_.push_back({section, 0, -1, slack(section) > 0, false, begin, candidates_.size(), 0, 0});
    return true;
  }
}

bool SkylineSearch::place(int32_t buffer) {
  const int64_t offset = low_[buffer];
  const int64_t end = offset + in_.size[buffer];
  const int64_t floor = align_up(end, in_.granule);
  offset_[buffer] = offset;
  ++placed_;
  bool possible = true;
  for (const StepRange& range : in_.lifetimes[buffer]) {
    budget_.left -= range.last - range.first + 1;
    for (int32_t s = range.first; s <= range.last; ++s) {
      set_floor(s, floor, buffer);
      load_[s] -= in_.padded[buffer];
      --open_[s];
      possible &= open_[s] == 0 || slack(s) >= 0;
    }
  }
  if (!possible) return false;
  const auto overlaps = in_.overlaps[buffer];
  budget_.left -= static_cast<int64_t>(overlaps.size());
  for (int32_t other : overlaps) {
    if (!unplaced(other)) continue;
    const int64_t low = align_up(end, in_.alignment[other]);
    if (low > low_[other] && !set_low(other, low)) return false;
  }
  return true;
}

// No candidate rests on the floor of this section: its next buffer rests on one that is yet to be
// placed beside the section, or is held up already.
bool SkylineSearch::waste(const Frame& frame) {
  int64_t next = kWall;
  for (int32_t buffer : in_.members[frame.section]) {
    if (!unplaced(buffer)) continue;
    if (!rests_on_floor(buffer, frame.section)) {
      next = std::min(next, low_[buffer]);
      continue;
    }
    const auto overlaps = in_.overlaps[buffer];
    budget_.left -= static_cast<int64_t>(overlaps.size());
    for (int32_t support : overlaps) {
      if (!unplaced(support)) continue;
      const int64_t top = align_up(low_[support] + in_.size[support], in_.alignment[buffer]);
      if (top < next && !lives_in(support, frame.section)) next = top;
    }
  }
  if (next == kWall) return false;
  set_floor(frame.section, next, -1);
  if (slack(frame.section) < 0) return false;
  for (int32_t buffer : in_.members[frame.section]) {
    if (!unplaced(buffer)) continue;
    const int64_t low = align_up(next, in_.alignment[buffer]);
    if (low > low_[buffer] && !set_low(buffer, low)) return false;
  }
  return true;
}

void SkylineSearch::undo(Frame& frame) {
  while (floor_changes_.size() > frame.floors_mark) {
    const FloorChange& change = floor_changes_.back();
    floor_[change.section] = change.floor;
    top_[change.section] = change.top;
    floor_changes_.pop_back();
  }
  while (low_changes_.size() > frame.lows_mark) {
    low_[low_changes_.back().buffer] = low_changes_.back().low;
    low_changes_.pop_back();
  }
  if (frame.placed >= 0) {
    for (const StepRange& range : in_.lifetimes[frame.placed]) {
      for (int32_t s = range.first; s <= range.last; ++s) {
        load_[s] += in_.padded[frame.placed];
        ++open_[s];
      }
    }
    offset_[frame.placed] = kUnset;
    --placed_;
  }
  frame.placed = -1;
  frame.applied = false;
}

Outcome SkylineSearch::run(Assignment& result) {
  const int32_t sections = in_.sections();
  floor_.assign(sections, 0);
  load_ = in_.load;
  limit_.assign(sections, capacity_);
  open_.assign(sections, 0);
  top_.assign(sections, -1);
  low_.assign(in_.count(), 0);
  offset_.assign(in_.count(), kUnset);
  for (int32_t s = 0; s < sections; ++s) {
    int64_t padding = 0;
    for (int32_t buffer : in_.members[s]) {
      padding = std::max(padding, in_.padded[buffer] - in_.size[buffer]);
    }
    limit_[s] += padding;
    open_[s] = static_cast<int32_t>(in_.members[s].size());
    if (slack(s) < 0) return Outcome::kInfeasible;
  }
  bool descend = true;
  for (;;) {
    if (descend) {
      if (placed_ == in_.count()) {
        result.offset = offset_;
        result.total = 0;
        for (int32_t i = 0; i < in_.count(); ++i) {
          result.total = std::max(result.total, offset_[i] + in_.size[i]);
        }
        return Outcome::kFound;
      }
      descend = false;
      (void)expand();
    }
    if (budget_.spent()) return Outcome::kOutOfSteps;
    while (!frames_.empty() && !descend) {
      Frame& frame = frames_.back();
      if (frame.applied) undo(frame);
      frame.floors_mark = floor_changes_.size();
      frame.lows_mark = low_changes_.size();
      const size_t index = frame.candidates_begin + static_cast<size_t>(frame.next);
      if (index < frame.candidates_end) {
        ++frame.next;
        const int32_t buffer = candidates_[index];
        // Of two interchangeable buffers, stacked or about to be, only one order is tried.
        const int32_t below = top_[frame.section];
        bool repeats = below >= 0 && rank_[buffer] < rank_[below] && interchangeable(buffer, below);
        for (size_t c = frame.candidates_begin; c < index && !repeats; ++c) {
          repeats = in_.size[candidates_[c]] == in_.size[buffer] &&
                    interchangeable(candidates_[c], buffer);
        }
        if (repeats) continue;
        frame.placed = buffer;
        frame.applied = true;
        descend = place(buffer);
      } else if (frame.waste) {
        frame.waste = false;
        frame.applied = true;
        descend = waste(frame);
      } else {
        candidates_.resize(frame.candidates_begin);
        frames_.pop_back();
      }
    }
    if (!descend) return Outcome::kInfeasible;
  }
}

}  // namespace

Outcome search_exact(const Instance& instance, int64_t capacity, const std::vector<int32_t>& rank,
                     bool local, Budget& budget, Assignment& result) {
  return SkylineSearch(instance, capacity, rank, local, budget).run(result);
}

}  // namespace intarsia::converter::planner
