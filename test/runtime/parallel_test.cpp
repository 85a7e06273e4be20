// SPDX-License-Identifier: Apache-2.0
//
// How a node's loop is shared among threads: by what its operands are worth, every unit once.
#include <gtest/gtest.h>

#include <vector>

#include "converter/graph/kernel_selection.h"

namespace intarsia::test {
namespace {

/// A pool that runs its threads one after the other, and tells how many had something to do.
struct Pool {
  int most;
  int64_t grain_bytes = Parallel{}.grain_bytes;
  int used = 1;

  Parallel parallel() {
    return {this, most,
            [](void* self, int64_t count, Parallel::Body body, void* argument) {
              Pool& pool = *static_cast<Pool*>(self);
              pool.used = 0;
              for (int64_t thread = 0; thread < pool.most; ++thread) {
                const int64_t begin = count * thread / pool.most;
                const int64_t end = count * (thread + 1) / pool.most;
                if (begin == end) continue;
                body(argument, begin, end, static_cast<int>(thread));
                ++pool.used;
              }
            },
            grain_bytes};
  }
};

/// The threads that work on `units` units of a node with operands of so many bytes.
int threads_of(Pool pool, int64_t operand_bytes, int64_t units, Share how = Share::kIfWorth) {
  converter::OperandViews views;
  views.add(false, DataType::kUint8, {operand_bytes / 2}, nullptr);
  views.add_absent(false);
  views.add(true, DataType::kUint8, {operand_bytes - operand_bytes / 2}, nullptr);
  std::vector<int> visits(static_cast<size_t>(units));
  const Parallel parallel = pool.parallel();
  parallel.share(
      parallel, views.context(), how, units,
      [](void* argument, int64_t begin, int64_t end, int) {
        for (; begin < end; ++begin) ++(*static_cast<std::vector<int>*>(argument))[begin];
      },
      &visits);
  EXPECT_EQ(visits, std::vector<int>(visits.size(), 1)) << operand_bytes << " " << units;
  return pool.used;
}

TEST(Parallel, SmallNodesStayOnOneThread) {
  EXPECT_EQ(threads_of({.most = 4}, 0, 100), 1);
  EXPECT_EQ(threads_of({.most = 4}, 32767, 100), 1);
  EXPECT_EQ(threads_of({.most = 4}, 32767, 100, Share::kAlways), 4);
  EXPECT_EQ(threads_of({.most = 4, .grain_bytes = 0}, 10, 100), 4);
}

TEST(Parallel, EachThreadHasItsGrain) {
  for (int units = 2; units < 40; ++units) {
    for (int worth = 2; worth < 12; ++worth) {
      const int expected = std::min({worth, units, 8});
      EXPECT_EQ(threads_of({.most = 8}, 16384 * worth, units), expected) << worth << " " << units;
      EXPECT_EQ(threads_of({.most = 8, .grain_bytes = 100}, 100 * worth, units), expected);
    }
  }
}

TEST(Parallel, OneThreadNeedsNoRun) {
  const Parallel alone;
  converter::OperandViews views;
  int64_t units = 0;
  alone.share(
      alone, views.context(), Share::kAlways, 7,
      [](void* argument, int64_t begin, int64_t end, int) {
        *static_cast<int64_t*>(argument) += end - begin;
      },
      &units);
  EXPECT_EQ(units, 7);
}

}  // namespace
}  // namespace intarsia::test
