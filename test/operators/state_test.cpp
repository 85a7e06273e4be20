// SPDX-License-Identifier: Apache-2.0
//
// Operators of one's own that keep an object: made at open, made anew by reset_states.
#include <gtest/gtest.h>

#include "test/operators/sample_models.h"

namespace intarsia::test {
namespace {

using converter::contains;
using converter::OnnxBuilder;

OnnxBuilder counter(int64_t start) {
  OnnxBuilder model;
  model.input("x", {1});
  model.output("count");
  model.output("other");
  OnnxBuilder::set(sample_node(model, "Counter", {"x"}, {"count"}), "start", start);
  OnnxBuilder::set(sample_node(model, "Counter", {"x"}, {"other"}), "start", start);
  return model;
}

TEST(CustomOperators, CUS_10_EveryNodeOfEverySessionHasItsOwnState) {
  SmallPlan plan(counter(10), sample_options());
  tool::AlignedBytes second_arena(plan.arena().size());
  sample::Counter::made = 0;
  {
    auto first = plan.open();
    auto second = plan.open_in(second_arena.span());
    ASSERT_TRUE(first.ok() && second.ok()) << plan.text(plan.diagnostic);
    EXPECT_EQ(sample::Counter::alive, 4);
    for (int64_t i = 1; i <= 3; ++i) {
      ASSERT_TRUE(first->run().ok());
      EXPECT_EQ(first->output<int64_t>(0).value()[0], 10 + i);
      EXPECT_EQ(first->output<int64_t>(1).value()[0], 10 + i);
    }
    ASSERT_TRUE(second->run().ok());
    EXPECT_EQ(second->output<int64_t>(0).value()[0], 11);
    EXPECT_EQ(sample::Counter::made, 4) << "constructed once per node and session";
  }
  EXPECT_EQ(sample::Counter::alive, 0) << "destroyed with the session";
}

TEST(CustomOperators, CUS_10_AStateThatRefusesStopsTheOpening) {
  SmallPlan plan(counter(-1), sample_options());
  const auto session = plan.open();
  EXPECT_EQ(session.status().code(), Code::kInvalidValue);
  EXPECT_EQ(plan.text(plan.diagnostic).rfind("node 0 'Counter1' (sample:Counter): ", 0), 0U)
      << plan.text(plan.diagnostic);
  EXPECT_EQ(sample::Counter::alive, 0);
}

TEST(CustomOperators, CUS_10_StatesBeforeTheOneThatRefusesAreDestroyed) {
  // The constructed objects live in the arena; whoever leaves one behind leaks what it holds.
  SmallPlan plan(counter(10), sample_options());
  for (const int left : {0, 1}) {
    sample::Counter::left = left;
    sample::Counter::made = 0;
    EXPECT_EQ(plan.open().status().code(), Code::kInvalidValue);
    EXPECT_EQ(sample::Counter::made, left + 1);
    EXPECT_EQ(sample::Counter::alive, 0) << left;
  }
  sample::Counter::left = -1;
  EXPECT_TRUE(plan.open().ok());
  EXPECT_EQ(sample::Counter::alive, 0);
}

TEST(CustomOperators, CUS_10_ResetStatesMakesThemAnew) {
  SmallPlan plan(counter(10), sample_options());
  sample::Counter::left = -1;
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  const auto next = [&session] {
    EXPECT_TRUE(session->run().ok());
    EXPECT_EQ(session->output<int64_t>(0).value()[0], session->output<int64_t>(1).value()[0]);
    return session->output<int64_t>(0).value()[0];
  };
  EXPECT_EQ(next(), 11);
  EXPECT_EQ(next(), 12);
  ASSERT_TRUE(session->reset_states().ok());
  EXPECT_EQ(sample::Counter::alive, 2) << "the old ones are destroyed";
  EXPECT_EQ(next(), 11);
  // Where one refuses, none is there, and no run happens; the next reset may succeed.
  for (const int left : {0, 1}) {
    sample::Counter::left = left;
    EXPECT_EQ(session->reset_states().code(), Code::kInvalidValue);
    EXPECT_EQ(plan.text(session->diagnostic()).rfind("node " + std::to_string(left), 0), 0U)
        << plan.text(session->diagnostic());
    EXPECT_EQ(sample::Counter::alive, 0);
    EXPECT_EQ(session->run().code(), Code::kInvalidArgument);
    EXPECT_CONTAINS(plan.text(session->diagnostic()), "reset_states() has failed");
  }
  sample::Counter::left = -1;
  ASSERT_TRUE(session->reset_states().ok());
  EXPECT_EQ(next(), 11);
  sample::Counter::left = 0;
  EXPECT_FALSE(session->reset_states().ok());
  session->close();
  EXPECT_EQ(sample::Counter::alive, 0) << "closed without states";
  EXPECT_EQ(session->reset_states().code(), Code::kInvalidArgument);
  sample::Counter::left = -1;
}

}  // namespace
}  // namespace intarsia::test
