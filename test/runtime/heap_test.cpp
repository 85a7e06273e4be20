// SPDX-License-Identifier: Apache-2.0
//
// No heap call from before open until after close, and the proof that one would be seen.
#include <cstdlib>

#include "converter/tool/heap_counter.h"
#include "test/runtime/small_plan.h"

namespace intarsia::test {
namespace {

/// Heap calls from open to close of a session that runs twice.
int64_t calls_of_a_life(SmallPlan& plan, const Observer* observer) {
  const KernelSet kernels = tool::all_kernels();  // the tool's own table is made on first use
  SessionOptions options;
  options.observer = observer;
  const int64_t before = tool::heap_calls();
  {
    auto session = Session::open(plan.plan(), plan.arena(), kernels, options, &plan.diagnostic);
    if (!session.ok()) return -1;
    for (int run = 0; run < 2; ++run) {
      const auto x = session->input<float>(0).value();
      x[0] = x[1] = x[2] = static_cast<float>(run);
      if (!session->run().ok()) return -1;
    }
    session->close();
  }
  return tool::heap_calls() - before;
}

TEST(Heap, NoCallFromOpenToClose) {
  if (tool::heap_calls() < 0) GTEST_SKIP() << "a sanitizer owns the allocator";
  SmallPlan plan(mlp());
  EXPECT_EQ(calls_of_a_life(plan, nullptr), 0);
}

TEST(Heap, AnInjectedAllocationIsCounted) {
  if (tool::heap_calls() < 0) GTEST_SKIP() << "a sanitizer owns the allocator";
  SmallPlan plan(mlp());
  const Observer allocating{nullptr,
                            [](void*, const KernelContext&) {
                              void* volatile block = std::malloc(8);
                              std::free(block);
                            },
                            nullptr};
  // One node (the activation is fused), two runs.
  EXPECT_EQ(calls_of_a_life(plan, &allocating), 2);
}

}  // namespace
}  // namespace intarsia::test
