// SPDX-License-Identifier: Apache-2.0
#include "converter/memory/buffers.h"

#include <algorithm>

#include "converter/graph/kernel_selection.h"

namespace intarsia::converter {

Buffer& Buffers::of(const Value* value) {
  const auto [found, inserted] = buffer_of_.try_emplace(value, static_cast<int>(buffers_.size()));
  if (inserted) {
    Buffer fresh;
    fresh.bytes = checked_byte_size(value->type, planned_extents(*value));
    fresh.device = on_device(*value);
    fresh.members = {value};
    buffers_.push_back(fresh);
  }
  return buffers_[static_cast<size_t>(root(found->second))];
}

bool Buffers::on_device(const Value& value) const {
  return value.producer != nullptr && lowering_.at(value.producer).writes_device;
}

int Buffers::root(int index) const {
  while (buffers_[static_cast<size_t>(index)].parent >= 0) {
    index = buffers_[static_cast<size_t>(index)].parent;
  }
  return index;
}

void Buffers::merge(const Value* a, const Value* b) {
  of(a);
  of(b);
  const int to = root(buffer_of_.at(a)), from = root(buffer_of_.at(b));
  if (to == from) return;
  Buffer& target = buffers_[static_cast<size_t>(to)];
  Buffer& source = buffers_[static_cast<size_t>(from)];
  target.bytes = std::max(target.bytes, source.bytes);
  target.first = std::min(target.first, source.first);
  target.last = std::max(target.last, source.last);
  if (source.is_slot) {
    target.is_slot = true;
    target.slot = source.slot;
    target.read_only = source.read_only;
  }
  source.parent = to;
  target.members.insert(target.members.end(), source.members.begin(), source.members.end());
  source.members.clear();
}

void Buffers::touch(const Value* value, int32_t step) {
  Buffer& buffer = of(value);
  buffer.first = std::min(buffer.first, step);
  buffer.last = std::max(buffer.last, step);
  const auto [range, inserted] = live_.try_emplace(value, StepRange{step, step});
  range->second.first = std::min(range->second.first, step);
  range->second.last = std::max(range->second.last, step);
}

const StepRange* Buffers::live(const Value* value) const {
  const auto found = live_.find(value);
  return found != live_.end() ? &found->second : nullptr;
}

bool Buffers::intersect(const Buffer& from, const Buffer& to, const Value* output) const {
  for (const Value* other : to.members) {
    if (other == output) continue;
    const StepRange& range = live_.at(other);
    for (const Value* value : from.members) {
      const StepRange& mine = live_.at(value);
      if (mine.first <= range.last && range.first <= mine.last) return true;
    }
  }
  return false;
}

namespace {

definitions::Dim element_count(const Value& value) {
  definitions::Dim count = 1;
  for (int axis = 0; axis < value.shape->rank; ++axis) count *= (*value.shape)[axis];
  return count;
}

}  // namespace

bool same_bytes(const Value& a, const Value& b) {
  if (element_bits(a.type) != element_bits(b.type)) return false;
  const definitions::Dim* extents = a.shape->extents;
  if (a.shape->rank == b.shape->rank &&
      std::equal(extents, extents + a.shape->rank, b.shape->extents)) {
    return true;
  }
  try {
    return element_count(a) == element_count(b);
  } catch (const definitions::DimError&) {
    return false;  // too large to tell
  }
}

}  // namespace intarsia::converter
