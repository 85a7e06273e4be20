// SPDX-License-Identifier: Apache-2.0
//
// Operators of one's own that keep an object: made at open, made anew by reset_states.
#include <gtest/gtest.h>

#include "test/operators/sample_models.h"
#include "test/runtime/forged_plan.h"

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

/// Whatever a plan says, no kernel finds another's object in its state.
TEST(CustomOperators, CUS_10_APlanWhoseNodesShareAStateIsRefused) {
  ForgedPlan plan{counter(10), sample_options()};
  ASSERT_EQ(plan.refusal(), "");
  const auto state_of = [&plan](uint32_t node) {
    return plan.operand_tensor(node,
                               uint32_t{plan.node(node)->inputs()} + plan.node(node)->outputs());
  };
  ASSERT_NE(state_of(0)->place(), state_of(1)->place());
  for (const uint32_t node : {0U, 1U}) {
    EXPECT_CONTAINS(with(plan, state_of(node), field::kTensorPlace, state_of(1 - node)->place()),
                    "node 1: place of the node's state");
  }
  sample::Counter::made = 0;
  const Forgery shared(state_of(1), field::kTensorPlace, state_of(0)->place());
  EXPECT_FALSE(plan.open().ok());
  EXPECT_EQ(sample::Counter::made, 0) << "refused before anything is constructed";
}

// -- Memory beside the object
// -------------------------------------------------------------------------------

converter::ConvertOptions packed_options() {
  auto options = options_with<sample::Reluctant>();
  options.dims["n"] = converter::DimRange{1, 3};
  return options;
}

/// Two products of the same x, by weights of different extents.
OnnxBuilder products() {
  OnnxBuilder model;
  symbol(model.input("x", {0, 2}), 0, "n");
  model.output("y");
  model.output("z");
  model.floats("w", {2, 3}, {1, 2, 3, 10, 20, 30});
  model.floats("v", {2, 1}, {-1, 1});
  sample_node(model, "PackedProduct", {"x", "w"}, {"y"});
  sample_node(model, "PackedProduct", {"x", "v"}, {"z"});
  return model;
}

TEST(CustomOperators, CUS_10_StateMemoryIsAsLargeAsExtentsSay) {
  SmallPlan plan(products(), packed_options());
  sample::PackedProduct::packed = 0;
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  EXPECT_EQ(sample::PackedProduct::packed, 2) << "once per node";
  const auto run = [&](int32_t n) {
    const int32_t extents[] = {n, 2};
    ASSERT_TRUE(session->resize_input(0, extents).ok());
    std::vector<float> x, y, z;
    for (int i = 0; i < 2 * n; ++i) x.push_back(static_cast<float>(i + 1));
    for (int i = 0; i < n; ++i) {
      const float a = x[static_cast<size_t>(2 * i)], b = x[static_cast<size_t>(2 * i + 1)];
      for (int k = 1; k <= 3; ++k) y.push_back(static_cast<float>(k) * (a + 10 * b));
      z.push_back(b - a);
    }
    write(*session, 0, x);
    ASSERT_TRUE(session->run().ok()) << plan.text(session->diagnostic());
    EXPECT_EQ(read(*session, 0), y) << n;
    EXPECT_EQ(read(*session, 1), z) << n;
  };
  for (const int32_t n : {3, 1, 2}) run(n);
  EXPECT_EQ(sample::PackedProduct::packed, 2) << "not again in a run";
  ASSERT_TRUE(session->reset_states().ok());
  EXPECT_EQ(sample::PackedProduct::packed, 4);
  run(2);
}

TEST(CustomOperators, CUS_10_StateMemoryBelongsToOneSession) {
  SmallPlan plan(products(), packed_options());
  tool::AlignedBytes second_arena(plan.arena().size());
  auto first = plan.open();
  auto second = plan.open_in(second_arena.span());
  ASSERT_TRUE(first.ok() && second.ok()) << plan.text(plan.diagnostic);
  write(*first, 0, {1, 1, 1, 1, 1, 1});
  second->close();
  std::memset(second_arena.span().data(), 0, second_arena.span().size());
  ASSERT_TRUE(first->run().ok());
  EXPECT_EQ(read(*first, 0), (std::vector<float>{11, 22, 33, 11, 22, 33, 11, 22, 33}));
}

TEST(CustomOperators, CUS_10_StateMemoryThatAPlanCutsOffIsRefused) {
  ForgedPlan plan{products(), packed_options()};
  ASSERT_EQ(plan.refusal(), "");
  const plan::Node& node = *plan.node(0);
  const plan::Tensor* state = plan.operand_tensor(0, uint32_t{node.inputs()} + node.outputs());
  // 64 bytes for the object, then 6 floats.
  ASSERT_EQ(*plan.extent(state, 0), 64 + 24);
  EXPECT_CONTAINS(with(plan, plan.extent(state, 0), 0, int32_t{64 + 23}),
                  "state bytes: expected 88, found 87");
}

}  // namespace
}  // namespace intarsia::test
