// SPDX-License-Identifier: Apache-2.0
//
// Choices among the alternatives of gradient cases (modes, directions, operands that may be
// absent).
#pragma once

#include <algorithm>
#include <map>
#include <numeric>
#include <source_location>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "test/random/random.h"

namespace intarsia::test {

/// Chooses for the samples of one case, one after the other. Each place in the source meets all its
/// alternatives once, in random order, before it goes on at random: few samples are enough to meet
/// them all. A place that is reached several times in a sample counts as several.
class Choices {
 public:
  using Place = std::source_location;

  explicit Choices(uint64_t seed) : random(seed) {}

  /// To be called before each sample.
  void begin() {
    ++samples_;
    uses_.clear();
  }
  bool first() const { return samples_ == 1; }
  /// True if there are alternatives that no sample has met.
  bool miss_some() const {
    return std::any_of(unmet_.begin(), unmet_.end(),
                       [](const auto& place) { return !place.second.empty(); });
  }

  /// True in `percent` of 100 samples, but for the first two.
  bool chance(int percent, Place place = Place::current()) {
    std::vector<int64_t>& unmet = unmet_of(place, 2);
    return unmet.empty() ? random.chance(percent) : take(unmet) == 1;
  }
  int64_t flag(Place place = Place::current()) { return number(2, place); }
  template <class T>
  T pick(std::initializer_list<T> list, Place place = Place::current()) {
    return *(list.begin() + number(list.size(), place));
  }
  template <class T>
  const T& pick(const std::vector<T>& list, Place place = Place::current()) {
    return list[static_cast<size_t>(number(list.size(), place))];
  }

  Random random;  ///< For what has no alternatives: extents, elements.

 private:
  using Position = std::tuple<std::string_view, uint32_t, uint32_t>;

  std::vector<int64_t>& unmet_of(const Place& place, size_t count) {
    const Position position{place.file_name(), place.line(), place.column()};
    const auto [found, added] = unmet_.try_emplace({position, uses_[position]++});
    if (added) {
      found->second.resize(count);
      std::iota(found->second.begin(), found->second.end(), 0);
      random.shuffle(found->second);
    }
    return found->second;
  }
  static int64_t take(std::vector<int64_t>& unmet) {
    const int64_t taken = unmet.back();
    unmet.pop_back();
    return taken;
  }
  int64_t number(size_t count, const Place& place) {
    std::vector<int64_t>& unmet = unmet_of(place, count);
    return unmet.empty() ? random.below(static_cast<int64_t>(count)) : take(unmet);
  }

  int samples_ = 0;
  std::map<Position, int> uses_;  // in this sample
  std::map<std::pair<Position, int>, std::vector<int64_t>> unmet_;
};

}  // namespace intarsia::test
