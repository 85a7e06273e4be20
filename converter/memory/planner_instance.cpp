// SPDX-License-Identifier: Apache-2.0
//
// The planner's input as instances: lifetimes become sections, buffers that share no step part.
#include <algorithm>
#include <numeric>

#include "converter/memory/planner_search.h"

namespace intarsia::converter::planner {

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

namespace {

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

}  // namespace

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

}  // namespace intarsia::converter::planner
