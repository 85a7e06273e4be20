// SPDX-License-Identifier: Apache-2.0
//
// Runs of Python operators leave nothing behind: the resident size of the process stays.
#include <fstream>

#include "test/pyop/pyop_fixture.h"

namespace intarsia::test {
namespace {

constexpr int kRuns = 100'000;
constexpr int64_t kMegabyte = 1 << 20;  // ten bytes a run

int64_t resident_bytes() {
  int64_t size = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * sysconf(_SC_PAGESIZE);
}

/// What the process has grown by so many calls, the first ones apart: they fill caches and pools.
template <class Call>
int64_t grown(int calls, const Call& call) {
  for (int i = 0; i < calls / 20; ++i) call();
  const int64_t before = resident_bytes();
  for (int i = 0; i < calls; ++i) call();
  return resident_bytes() - before;
}

constexpr const char* kOperators = R"(
class Adds:
    def compute(self, x):
        return x + 1
class Strides:
    def compute(self, x):
        return x[::-1].astype('>f4')
class Raises:
    def compute(self, x):
        raise ValueError('bad ' + str(len(x)))
class Keeps:
    kept = []
    def compute(self, x):
        self.kept.append(x.copy())
        return x
)";

TEST_F(Pyop, MemoryStaysOverRuns) {
  module(kOperators);
  for (const char* name : {"Adds", "Strides"}) {
    const auto loaded = load(unary(name, {64}));
    loaded->set<float>(0, std::vector<float>(64, 1));
    int failed = 0;
    EXPECT_LT(grown(kRuns, [&] { failed += loaded->session.run().ok() ? 0 : 1; }), kMegabyte)
        << name;
    EXPECT_EQ(failed, 0) << name;
  }
}

TEST_F(Pyop, MemoryStaysOverRunsThatFail) {
  module(kOperators);
  const auto loaded = load(unary("Raises", {64}));
  int passed = 0;
  EXPECT_LT(grown(kRuns / 10, [&] { passed += loaded->session.run().ok() ? 1 : 0; }), kMegabyte);
  EXPECT_EQ(passed, 0);
  EXPECT_EQ(loaded->run().code(), Code::kOperatorFailed);
  EXPECT_CONTAINS(loaded->text(), "ValueError: bad 64");
}

TEST_F(Pyop, MemoryStaysOverSessions) {
  module(kOperators);
  const std::vector<std::byte> plan = convert(unary("Adds", {64}));
  int failed = 0;
  const auto once = [&] {
    Loaded loaded(plan);
    failed += loaded.open(services()).ok() && loaded.session.run().ok() ? 0 : 1;
  };
  EXPECT_LT(grown(kRuns / 20, once), kMegabyte);
  EXPECT_EQ(failed, 0);
}

/// The control: what an operator keeps is seen.
TEST_F(Pyop, MemoryThatAnOperatorKeepsIsSeen) {
  module(kOperators);
  const auto loaded = load(unary("Keeps", {64}));
  loaded->set<float>(0, std::vector<float>(64, 1));
  int ran = 0;
  EXPECT_GT(grown(kRuns, [&] { ran += loaded->session.run().ok() ? 1 : 0; }), 20 * kMegabyte);
}

}  // namespace
}  // namespace intarsia::test
