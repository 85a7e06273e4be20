// SPDX-License-Identifier: Apache-2.0
//
// Outputs in the memory of inputs, for the kernels of all operators: refused, or harmless.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "test/random/generator.h"
#include "test/random/overlap.h"
#include "test/random/planted.h"
#include "test/slow_build.h"

namespace intarsia::test {
namespace {

/// Of so many models, or of those up to the first failure.
Overlaps overlaps_of(const converter::OperatorLibrary& library, uint64_t models, bool all = true) {
  Overlaps overlaps;
  Coverage coverage;
  for (uint64_t seed = 1; seed <= models; ++seed) {
    try_overlaps(random_model(seed, library, coverage), library, overlaps);
    if (!all && !overlaps.failures.empty()) break;
  }
  fmt::print("{} kernels: {} pairs refused at open, {} before a run, {} agreed\n",
             overlaps.kernels.size(), overlaps.refused_at_open, overlaps.refused_at_run,
             overlaps.agreed);
  return overlaps;
}

TEST(Overlap, OutputsOverInputsAreRefusedOrHarmless) {
  const char* full = std::getenv("INTARSIA_TEST_FULL");
  const bool all = full != nullptr && *full != 0;
  const Overlaps overlaps = overlaps_of(converter::builtin_library(), all ? 2000 : 40);
  for (const std::string& failure : overlaps.failures) ADD_FAILURE() << failure;
  EXPECT_GE(overlaps.kernels.size(), all ? 600u : 100u);
  EXPECT_GT(overlaps.refused_at_open, 500);
  EXPECT_GT(overlaps.agreed, 100) << "what kernels permit is tried";
}

TEST(Overlap, AWrongPromiseIsFound) {
  if (kSlowBuild) GTEST_SKIP() << "seen to fail in builds without sanitizers";
  const auto library = library_with_reversed(true);
  EXPECT_FALSE(overlaps_of(*library, 60, false).failures.empty());
}

}  // namespace
}  // namespace intarsia::test
