// SPDX-License-Identifier: Apache-2.0
//
// The pieces of threads: inside of the room, apart from each other, on lines of their own and with
// gaps where the room permits.
#include "intarsia/per_thread.h"

#include <gtest/gtest.h>

#include <array>

namespace intarsia {
namespace {

constexpr size_t kMost = 4096;

/// The places of pieces in a room, of bytes from its beginning; every piece is as long as was
/// asked, inside of the room and behind the one before it.
template <class T>
std::array<size_t, 3> places(size_t skipped, size_t bytes, int threads, int64_t elements) {
  alignas(kThreadLine) static std::byte memory[kMost];
  const std::span<std::byte> room(memory + skipped, bytes);
  const PerThread<T> pieces =
      elements > 0 ? PerThread<T>(room, threads, elements) : PerThread<T>(room, threads);
  std::array<size_t, 3> result{};
  size_t end = skipped;
  for (int thread = 0; thread < threads; ++thread) {
    const auto at = static_cast<size_t>(reinterpret_cast<std::byte*>(pieces[thread]) - memory);
    EXPECT_GE(at, end) << "thread " << thread;
    end = at + static_cast<size_t>(pieces.elements()) * sizeof(T);
    result[static_cast<size_t>(thread)] = at;
  }
  EXPECT_GE(pieces.elements(), elements);
  EXPECT_LE(end, skipped + bytes);
  return result;
}

TEST(PerThread, ShareNoLineWhereThereIsRoom) {
  // What `workspace` asked for and a line for each thread, at all places of the room.
  for (size_t skipped = 0; skipped < kThreadLine; skipped += sizeof(float)) {
    for (int64_t elements = 1; elements <= 33; ++elements) {
      const size_t asked = 3 * static_cast<size_t>(elements) * sizeof(float);
      const auto at = places<float>(skipped, asked + 4 * kThreadLine, 3, elements);
      for (const size_t place : at) EXPECT_EQ(place % kThreadLine, 0U);
    }
  }
}

TEST(PerThread, HaveGapsInFrontAndBehind) {
  for (size_t skipped = 0; skipped < kThreadLine; skipped += sizeof(float)) {
    for (int64_t elements = 1; elements <= 133; elements += 4) {
      const size_t asked = static_cast<size_t>(elements) * sizeof(float), least = kThreadGap / 2;
      const size_t all = 3 * (asked + kThreadGap);
      const auto at = places<float>(skipped, all, 3, elements);
      EXPECT_GE(at[0] + 2 * kThreadLine, skipped + least);
      for (size_t i = 1; i < 3; ++i) EXPECT_GE(at[i] + 2 * kThreadLine, at[i - 1] + asked + least);
      EXPECT_LE(at[2] + asked + least, skipped + all + 2 * kThreadLine);
    }
  }
}

TEST(PerThread, LieSideBySideInAPlanThatHasNoMore) {
  EXPECT_EQ(places<double>(0, 3 * 5 * sizeof(double), 3, 5),
            (std::array<size_t, 3>{0, 5 * sizeof(double), 10 * sizeof(double)}));
  EXPECT_EQ(places<double>(8, 2 * 5 * sizeof(double), 2, 5), (std::array<size_t, 3>{8, 48, 0}));
}

TEST(PerThread, OfOneThreadIsTheRoom) {
  EXPECT_EQ(places<float>(4, 60, 1, 15), (std::array<size_t, 3>{4, 0, 0}));
}

TEST(PerThread, WithoutASizeAreWhatThereIs) {
  EXPECT_EQ(places<float>(0, 3 * 128, 3, 0), (std::array<size_t, 3>{0, 128, 256}));
  EXPECT_EQ(places<float>(0, 3 * 128 + 100, 3, 0), (std::array<size_t, 3>{0, 128, 256}));
}

TEST(PerThread, OfAnEmptyRoom) {
  EXPECT_EQ(places<float>(0, 0, 3, 0), (std::array<size_t, 3>{}));
}

}  // namespace
}  // namespace intarsia
