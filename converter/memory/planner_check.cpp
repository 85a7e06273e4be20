// SPDX-License-Identifier: Apache-2.0
//
// What the planner is given and what it gives, checked from first principles.
#include <algorithm>
#include <bit>
#include <map>

#include "converter/memory/planner_search.h"

namespace intarsia::converter {
namespace planner {
namespace {

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

}  // namespace

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

}  // namespace planner

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
