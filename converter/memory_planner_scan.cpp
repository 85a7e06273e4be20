// SPDX-License-Identifier: Apache-2.0
//
// Placement in order of time: every buffer takes the lowest free range when it becomes live, and
// returns it when it dies, as an allocator at run time would. Needs no list of conflicts, so that
// it places hundreds of thousands of buffers that are live at once; the other placements know the
// future and pack tighter.
#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <queue>
#include <utility>

#include "converter/memory_planner_search.h"

namespace intarsia::converter::planner {
namespace {

class FreeRanges {
 public:
  // Removes [begin, end), whatever of it is free.
  void reserve(int64_t begin, int64_t end) {
    auto range = ranges_.upper_bound(begin);
    if (range != ranges_.begin()) --range;
    while (range != ranges_.end() && range->first < end) {
      const auto [low, high] = *range;
      if (high <= begin) {
        ++range;
        continue;
      }
      range = ranges_.erase(range);
      if (low < begin) ranges_.emplace(low, begin);
      if (high > end) ranges_.emplace(end, high);
    }
  }

  int64_t take_lowest(int64_t size, int64_t alignment) {
    int64_t offset = 0;
    for (const auto& [low, high] : ranges_) {
      offset = align_up(low, alignment);
      if (offset <= high - size) break;  // at the latest in the last range, which has no end
    }
    reserve(offset, offset + size);
    return offset;
  }

  void give_back(int64_t begin, int64_t end) {
    const auto next = ranges_.lower_bound(begin);
    if (next != ranges_.end() && next->first == end) {
      end = next->second;
      ranges_.erase(next);
    }
    const auto above = ranges_.lower_bound(begin);
    if (above != ranges_.begin() && std::prev(above)->second == begin) {
      std::prev(above)->second = end;
    } else {
      ranges_.emplace(begin, end);
    }
  }

 private:
  std::map<int64_t, int64_t> ranges_{{0, kMaxBytes}};  // begin and end, none touches the next
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
