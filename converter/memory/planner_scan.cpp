// SPDX-License-Identifier: Apache-2.0
//
// Placement in order of time: every buffer takes the lowest free range when it becomes live, and
// returns it when it dies, as an allocator at run time would. Needs no list of conflicts, so that
// it places hundreds of thousands of buffers that are live at once; the other placements know the
// future and pack tighter.
#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <iterator>
#include <map>
#include <queue>
#include <set>
#include <utility>

#include "converter/memory/planner_search.h"

namespace intarsia::converter::planner {
namespace {

// Free ranges by address, and in classes by the power of two of their length, so that a place is
// found without a walk over holes that are too small.
class FreeRanges {
 public:
  FreeRanges() { insert(0, kMaxBytes); }

  // Removes [begin, end), whatever of it is free.
  void reserve(int64_t begin, int64_t end) {
    auto range = ranges_.upper_bound(begin);
    if (range != ranges_.begin()) --range;
    while (range != ranges_.end() && range->first < end) {
      const auto [low, high] = *range;
      ++range;
      if (high <= begin) continue;
      erase(low, high);
      if (low < begin) insert(low, begin);
      if (high > end) insert(end, high);
    }
  }

  // The lowest place in a range of a higher class, or lower in one of the first ranges of the
  // buffer's own class: most of these may be just too small.
  int64_t take_lowest(int64_t size, int64_t alignment) {
    constexpr int kTries = 64;
    int64_t best = kMaxBytes;
    for (size_t length = class_of(size); length < classes_.size(); ++length) {
      int tries = 0;
      for (int64_t low : classes_[length]) {
        if (low >= best || ++tries > kTries) break;
        const int64_t offset = align_up(low, alignment);
        if (offset > ranges_.at(low) - size) continue;
        best = std::min(best, offset);
        break;
      }
    }
    reserve(best, best + size);
    return best;
  }

  void give_back(int64_t begin, int64_t end) {
    const auto next = ranges_.lower_bound(begin);
    if (next != ranges_.end() && next->first == end) {
      end = next->second;
      erase(next->first, end);
    }
    const auto above = ranges_.lower_bound(begin);
    if (above != ranges_.begin() && std::prev(above)->second == begin) {
      const int64_t low = std::prev(above)->first;
      erase(low, begin);
      begin = low;
    }
    insert(begin, end);
  }

 private:
  static size_t class_of(int64_t length) {
    return static_cast<size_t>(std::bit_width(static_cast<uint64_t>(length)));
  }
  void insert(int64_t begin, int64_t end) {
    ranges_.emplace(begin, end);
    classes_[class_of(end - begin)].insert(begin);
  }
  void erase(int64_t begin, int64_t end) {
    ranges_.erase(begin);
    classes_[class_of(end - begin)].erase(begin);
  }

  std::map<int64_t, int64_t> ranges_;  // begin and end, none touches the next
  std::array<std::set<int64_t>, 65> classes_;
};

}  // namespace

int64_t place_by_time(const std::vector<std::vector<StepRange>>& lifetimes,
                      const std::vector<int32_t>& ids, std::vector<PlannedBuffer>& buffers) {
  FreeRanges free;
  int64_t total = 0;
  std::vector<int32_t> order;
  for (int32_t id : ids) {
    const PlannedBuffer& buffer = buffers[id];
    if (buffer.offset == kUnset) {
      order.push_back(id);
    } else {  // reserved for all steps: others need not know when it is live
      free.reserve(buffer.offset, buffer.offset + buffer.size);
      total = std::max(total, buffer.offset + buffer.size);
    }
  }
  std::sort(order.begin(), order.end(), [&](int32_t a, int32_t b) {
    const int32_t first_a = lifetimes[a].front().first, first_b = lifetimes[b].front().first;
    if (first_a != first_b) return first_a < first_b;
    if (buffers[a].size != buffers[b].size) return buffers[a].size > buffers[b].size;
    return a < b;
  });
  using End = std::pair<int32_t, int32_t>;  // last step, buffer
  std::priority_queue<End, std::vector<End>, std::greater<End>> ends;
  for (int32_t id : order) {
    PlannedBuffer& buffer = buffers[id];
    while (!ends.empty() && ends.top().first < lifetimes[id].front().first) {
      const PlannedBuffer& dead = buffers[ends.top().second];
      free.give_back(dead.offset, dead.offset + dead.size);
      ends.pop();
    }
    buffer.offset = free.take_lowest(buffer.size, buffer.alignment);
    total = std::max(total, buffer.offset + buffer.size);
    ends.emplace(lifetimes[id].back().last, id);  // gaps between lifetimes are not used
  }
  return total;
}

}  // namespace intarsia::converter::planner
