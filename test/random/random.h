// SPDX-License-Identifier: Apache-2.0
//
// Seeded choices that are the same on every host; the distributions of <random> are not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <random>
#include <span>
#include <vector>

namespace intarsia::test {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}

  /// A number of [0, count). REQUIRES: count > 0.
  int64_t below(int64_t count) {
    return static_cast<int64_t>(engine_() % static_cast<uint64_t>(count));
  }
  /// A number of [lowest, highest].
  int64_t between(int64_t lowest, int64_t highest) { return lowest + below(highest - lowest + 1); }
  /// True in `percent` of 100 cases.
  bool chance(int percent) { return below(100) < percent; }
  template <class T>
  T pick(std::initializer_list<T> list) {
    return *(list.begin() + below(static_cast<int64_t>(list.size())));
  }
  template <class T>
  const T& pick(const std::vector<T>& list) {
    return list[static_cast<size_t>(below(static_cast<int64_t>(list.size())))];
  }
  template <class T>
  void shuffle(std::vector<T>& list) {
    for (size_t i = list.size(); i > 1; --i) {
      std::swap(list[i - 1], list[static_cast<size_t>(below(static_cast<int64_t>(i)))]);
    }
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace intarsia::test
