// SPDX-License-Identifier: Apache-2.0
//
// What a node writes overlaps nothing else that it uses, except where its kernel permits output 0
// to take over an input of as many elements. That is held by the session, for every kernel alike:
// at `open`, where extents vary before the node runs, and where the caller binds buffers.
#include <random>

#include "test/runtime/built_plan.h"

namespace intarsia::test {
namespace {

using converter::contains;
using converter::OnnxBuilder;

/// Does nothing, successfully; kernels that check nothing, so that only the session can refuse.
template <uint32_t Permitted>
struct Probe {
  static constexpr KernelId id{"test:Probe", "", {}};
  static constexpr InPlace in_place = [] {
    InPlace some;
    some.inputs = Permitted;
    return some;
  }();
  static Status run(const KernelContext&) { return {}; }
};

/// Reports the extents of output 0 while it runs.
struct Resizer : Probe<1> {
  static Status run(const KernelContext& context) {
    const int32_t extents[] = {1};
    return context.resize_output(0, extents);
  }
};

template <class K>
KernelSet only() {
  return kernel_set<K>();
}

/// One node over byte ranges [begin, begin + length) of the arena.
struct Layout {
  struct Operand {
    uint32_t begin, length;
    DataType type = DataType::kUint8;
  };
  std::vector<Operand> inputs, outputs;
  std::optional<Operand> workspace, state;
};

class OneNode : public BuiltPlan {
 public:
  explicit OneNode(const Layout& layout, bool varying = false) {
    kernels = {kernel_key(Probe<0>::id)};
    std::vector<Layout::Operand> all = layout.inputs;
    all.insert(all.end(), layout.outputs.begin(), layout.outputs.end());
    for (const auto& operand : all) {
      if (varying) extents.push_back(varying_mark(1));
      extents.push_back(static_cast<int32_t>(operand.length));
      operands.push_back(
          add_tensor(operand.type, static_cast<uint32_t>(extents.size() - 1), 1, operand.begin));
    }
    if (varying) dynamic_extents = static_cast<uint32_t>(extents.size());
    uint16_t shape = kNoShape;
    for (const auto& [scratch, flag] :
         {std::pair{layout.workspace, kHasWorkspace}, std::pair{layout.state, kHasState}}) {
      if (!scratch) continue;
      shape |= flag;
      extents.push_back(static_cast<int32_t>(scratch->length));
      operands.push_back(add_tensor(DataType::kUint8, static_cast<uint32_t>(extents.size() - 1), 1,
                                    scratch->begin));
    }
    nodes.emplace_back(kNone, 0, shape, static_cast<uint16_t>(layout.inputs.size()),
                       static_cast<uint16_t>(layout.outputs.size()));
    views = static_cast<uint32_t>(all.size());
  }
};

std::string refusal(const Layout& layout, KernelSet set) {
  return OneNode(layout).refusal(set);
}

TEST(OperandMemory, OutputsOverInputsAreRefusedUnlessTheKernelPermits) {
  const Layout over_first{{{0, 16}, {64, 16}}, {{0, 16}, {128, 16}}, {}, {}};
  const Layout over_second{{{0, 16}, {64, 16}}, {{64, 16}, {128, 16}}, {}, {}};
  const Layout second_output{{{0, 16}, {64, 16}}, {{128, 16}, {0, 16}}, {}, {}};
  for (const Layout& layout : {over_first, over_second, second_output}) {
    EXPECT_CONTAINS(refusal(layout, only<Probe<0>>()), "operands that overlap");
  }
  EXPECT_EQ(refusal(over_first, only<Probe<1>>()), "");
  EXPECT_CONTAINS(refusal(over_second, only<Probe<1>>()), "operands that overlap: expected 1");
  EXPECT_EQ(refusal(over_second, only<Probe<2>>()), "");
  EXPECT_CONTAINS(refusal(second_output, only<Probe<3>>()), "operands that overlap: expected 0");
}

TEST(OperandMemory, AnOutputTakesOverAnInputOfItsOwnSizeOnly) {
  const KernelSet any = only<Probe<~0u>>();
  EXPECT_EQ(refusal({{{0, 16}}, {{0, 16}}, {}, {}}, any), "");
  EXPECT_CONTAINS(refusal({{{0, 16}}, {{0, 32}}, {}, {}}, any), "operands that overlap");
  EXPECT_CONTAINS(refusal({{{0, 32}}, {{0, 16}}, {}, {}}, any), "operands that overlap");
  EXPECT_CONTAINS(refusal({{{0, 32}}, {{16, 32}}, {}, {}}, any), "operands that overlap");
  // As many bytes, but elements of another width.
  EXPECT_CONTAINS(refusal({{{0, 16}}, {{0, 4, DataType::kFloat}}, {}, {}}, any),
                  "operands that overlap");
  EXPECT_EQ(refusal({{{0, 4, DataType::kInt32}}, {{0, 4, DataType::kFloat}}, {}, {}}, any), "");
}

TEST(OperandMemory, AnInputThatIsReadElsewhereTooIsNotTakenOver) {
  // Input 1 is permitted; input 0, in the same memory, is not.
  const Layout twice{{{0, 16}, {0, 16}}, {{0, 16}}, {}, {}};
  EXPECT_CONTAINS(refusal(twice, only<Probe<2>>()), "operands that overlap: expected 0, found 2");
  EXPECT_EQ(refusal(twice, only<Probe<3>>()), "");
}

TEST(OperandMemory, InputsFarBackCanBePermittedTogetherOnly) {
  Layout layout;
  for (uint32_t i = 0; i < 40; ++i) layout.inputs.push_back({32 * i, 16});
  layout.outputs.push_back({32 * 39, 16});
  EXPECT_CONTAINS(refusal(layout, only<Probe<0x7fffffff>>()), "operands that overlap: expected 39");
  EXPECT_EQ(refusal(layout, only<Probe<InPlace::every().inputs>>()), "");
}

/// By comparing every pair, which the session cannot afford.
bool overlaps(const Layout& layout, InPlace permitted) {
  std::vector<Layout::Operand> all = layout.inputs;
  all.insert(all.end(), layout.outputs.begin(), layout.outputs.end());
  for (const auto& scratch : {layout.workspace, layout.state}) {
    if (scratch) all.push_back(*scratch);
  }
  for (size_t i = layout.inputs.size(); i < all.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const auto &a = all[i], &b = all[j];
      if (a.length == 0 || b.length == 0) continue;
      if (a.begin + a.length <= b.begin || b.begin + b.length <= a.begin) continue;
      const bool first_output = i == layout.inputs.size() && !layout.outputs.empty();
      if (first_output && j < layout.inputs.size() && permitted.permits(static_cast<int>(j)) &&
          a.begin == b.begin && a.length == b.length) {
        continue;
      }
      return true;
    }
  }
  return false;
}

template <uint32_t Permitted>
void compare_with_all_pairs(uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](uint32_t limit) { return static_cast<uint32_t>(random() % limit); };
  int refused = 0, opened = 0;
  for (int round = 0; round < 3000; ++round) {
    Layout layout;
    const uint32_t room = 64u << below(5);
    const auto operand = [&](uint32_t unit) {
      return Layout::Operand{below(room / unit) * unit, below(40)};
    };
    for (uint32_t i = below(6); i > 0; --i) layout.inputs.push_back(operand(4));
    for (uint32_t i = below(5); i > 0; --i) layout.outputs.push_back(operand(4));
    if (below(3) == 0) layout.workspace = operand(64);
    if (below(3) == 0) layout.state = operand(64);
    // The very range of an input, often.
    if (!layout.inputs.empty() && !layout.outputs.empty() && below(2) == 0) {
      layout.outputs[0] = layout.inputs[below(static_cast<uint32_t>(layout.inputs.size()))];
    }
    OneNode plan(layout);
    const std::string found = plan.refusal(only<Probe<Permitted>>());
    // What lies in a state is refused before kernels are known.
    const bool expected = overlaps(layout, Probe<Permitted>::in_place);
    ASSERT_EQ(!found.empty(), expected) << "round " << round << ": " << found;
    ++(expected ? refused : opened);
  }
  EXPECT_GT(refused, 300);
  EXPECT_GT(opened, 300);
}

TEST(OperandMemory, RandomLayoutsAreRefusedAsByComparingAllPairs) {
  compare_with_all_pairs<0>(1);
  compare_with_all_pairs<1>(2);
  compare_with_all_pairs<6>(3);
  compare_with_all_pairs<InPlace::every().inputs>(4);
}

TEST(OperandMemory, ThousandsOfOperandsOpen) {
  Layout layout;
  for (uint32_t i = 0; i < 4096; ++i) layout.inputs.push_back({0, 16});
  for (uint32_t i = 1; i <= 4096; ++i) layout.outputs.push_back({16 * ((i * 2039) % 8192 + 1), 16});
  OneNode plan(layout);
  plan.tensor_bytes = 16 * 8200;
  EXPECT_EQ(plan.refusal(only<Probe<0>>()), "");
  layout.outputs[4000].begin = layout.outputs[77].begin;
  OneNode clash(layout);
  clash.tensor_bytes = 16 * 8200;
  EXPECT_CONTAINS(clash.refusal(only<Probe<0>>()),
                  "operands that overlap: expected 4173, found 8096");
}

TEST(OperandMemory, VaryingExtentsAreComparedBeforeTheNodeRuns) {
  // Planned for the same number of elements, and for others: what counts is what the run has.
  for (uint32_t length : {8u, 16u}) {
    OneNode plan({{{0, 16}}, {{0, length}}, {}, {}}, true);
    auto session = plan.open(only<Probe<1>>());
    ASSERT_TRUE(session.ok());
    const Status status = session->run();
    EXPECT_EQ(status.ok(), length == 16);
    if (length == 16) continue;
    EXPECT_STREQ(session->diagnostic().what, "output in the memory of an input");
    EXPECT_EQ(session->diagnostic().expected, 16);
    EXPECT_EQ(session->diagnostic().found, 8);
  }
  EXPECT_CONTAINS(OneNode({{{0, 16}}, {{0, 16}}, {}, {}}, true).refusal(only<Probe<0>>()),
                  "operands that overlap");
}

TEST(OperandMemory, AnOutputIsNotResizedInTheMemoryOfAnInput) {
  OneNode taken({{{0, 16}}, {{0, 16}}, {}, {}}, true);
  auto session = taken.open(only<Resizer>());
  ASSERT_TRUE(session.ok());
  EXPECT_EQ(session->run().code(), Code::kCorruptPlan);
  EXPECT_STREQ(session->diagnostic().what, "output in the memory of an input");
  OneNode apart({{{0, 16}}, {{64, 16}}, {}, {}}, true);
  auto other = apart.open(only<Resizer>());
  ASSERT_TRUE(other.ok());
  EXPECT_TRUE(other->run().ok());
}

TEST(OperandMemory, AnOutputSharesItsVaryingExtentsWithNoOperand) {
  for (int shared : {0, 1, 3}) {
    OneNode plan({{{0, 8}, {64, 8}}, {{128, 8}, {192, 8}}, {}, {}}, true);
    const plan::Tensor& output = plan.tensors[2];
    plan.tensors[static_cast<size_t>(shared)] =
        plan::Tensor(plan.tensors[static_cast<size_t>(shared)].place(), output.extents(),
                     output.type(), output.rank(), output.memory(), 0);
    EXPECT_CONTAINS(plan.refusal(only<Probe<0>>()), "extents shared with an output");
  }
  // Two inputs may: nothing sets them.
  OneNode plan({{{0, 8}, {64, 8}}, {{128, 8}}, {}, {}}, true);
  plan.tensors[1] = plan::Tensor(plan.tensors[1].place(), plan.tensors[0].extents(),
                                 static_cast<uint8_t>(DataType::kUint8), 1, 0, 0);
  auto session = plan.open(only<Probe<0>>());
  ASSERT_TRUE(session.ok()) << plan.diagnostic.what;
  EXPECT_TRUE(session->run().ok()) << "the marks of the check are gone";
}

/// z = x + y, over buffers of the caller's.
class BoundBuffers : public testing::Test {
 protected:
  static OnnxBuilder model() {
    OnnxBuilder model;
    model.input("x", {4});
    model.input("y", {4});
    model.output("z");
    model.output("w");
    model.node("Add", {"x", "y"}, {"z"});
    model.node("Neg", {"y"}, {"w"});
    return model;
  }
  void SetUp() override {
    ASSERT_TRUE(session.ok());
    for (int i = 0; i < 8; ++i) memory[i] = static_cast<float>(i);
  }
  Status bind(int input, float* buffer) { return session->bind_input(input, buffer, 16); }
  Status bind_output(int output, float* buffer) { return session->bind_output(output, buffer, 16); }

  SmallPlan plan{model()};
  Result<Session> session = plan.open();
  alignas(16) float memory[16] = {};
};

TEST_F(BoundBuffers, InputsMayShareABuffer) {
  ASSERT_TRUE(bind(0, memory).ok() && bind(1, memory + 2).ok() && bind_output(0, memory + 8).ok());
  ASSERT_TRUE(session->run().ok());
  EXPECT_EQ(memory[8], 2);
  EXPECT_EQ(memory[11], 8);
}

TEST_F(BoundBuffers, OutputsShareNone) {
  for (float* z : {memory, memory + 3}) {
    ASSERT_TRUE(bind(0, memory).ok() && bind_output(0, z).ok());
    for (int run = 0; run < 2; ++run) {
      EXPECT_EQ(session->run().code(), Code::kInvalidArgument);
      EXPECT_STREQ(session->diagnostic().what, "buffers bound to two ports overlap (slots)");
    }
  }
  ASSERT_TRUE(bind_output(0, memory + 8).ok() && bind_output(1, memory + 11).ok());
  EXPECT_EQ(session->run().code(), Code::kInvalidArgument);
  ASSERT_TRUE(bind_output(1, memory + 12).ok());
  EXPECT_TRUE(session->run().ok());
}

/// What counts is where the buffers are when a run begins.
TEST_F(BoundBuffers, BuffersAreExchangedOneByOne) {
  ASSERT_TRUE(bind(0, memory).ok() && bind_output(0, memory + 4).ok());
  ASSERT_TRUE(session->run().ok());
  ASSERT_TRUE(bind(0, memory + 4).ok() && bind_output(0, memory).ok());
  EXPECT_TRUE(session->run().ok());
  ASSERT_TRUE(bind(0, nullptr).ok());
  EXPECT_TRUE(session->run().ok());
}

TEST_F(BoundBuffers, TheArenaIsTheSessions) {
  auto* inside = reinterpret_cast<float*>(plan.arena().data() + plan.arena().size() - 16);
  EXPECT_EQ(bind(0, inside).code(), Code::kInvalidArgument);
  EXPECT_STREQ(session->diagnostic().what, "bound buffer in the session's arena");
  EXPECT_EQ(bind_output(0, inside).code(), Code::kInvalidArgument);
  // A plan may lie in read-only memory: nothing is written there, but an input may be.
  auto* weights = reinterpret_cast<float*>(plan.plan().data());
  EXPECT_EQ(bind_output(0, weights).code(), Code::kInvalidArgument);
  EXPECT_STREQ(session->diagnostic().what, "bound buffer in the plan's bytes");
  EXPECT_TRUE(bind(0, weights).ok());
}

}  // namespace
}  // namespace intarsia::test
