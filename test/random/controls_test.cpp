// SPDX-License-Identifier: Apache-2.0
//
// What random models are worth: planted defects that they must find, each within some hundred
// models.
#include <gtest/gtest.h>

#include <algorithm>

#include "test/kernels/common/kernel_rows.h"
#include "test/random/generator.h"
#include "test/random/oracle.h"
#include "test/random/planted.h"
#include "test/random/shrink.h"
#include "test/slow_build.h"

namespace intarsia::test {
namespace {

using converter::Pass;

constexpr uint64_t kMostModels = 400;

/// What the oracle finds does not depend on how it is compiled.
class RandomModelControls : public ::testing::Test {
 protected:
  void SetUp() override {
    if (kSlowBuild) GTEST_SKIP() << "seen to fail in builds without sanitizers";
  }
};

/// The first model that fails, of the seeds from 1 on.
std::optional<RandomModel> first_failure(const OracleOptions& options) {
  Coverage coverage;
  for (uint64_t seed = 1; seed <= kMostModels; ++seed) {
    RandomModel model = random_model(seed, options.conversion.operators(), coverage);
    if (check_model(model, options)) return model;
  }
  return std::nullopt;
}

std::vector<Pass> passes_and(Pass planted) {
  const std::span<const Pass> all = converter::optimisation_passes();
  std::vector<Pass> passes(all.begin(), all.end());
  passes.push_back(planted);
  return passes;
}

// -- A wrong axis

/// What a pass does that forgets one of the operators that name an axis.
void use_next_axis(converter::Graph& graph, converter::Inference&, converter::PlanChoices&) {
  for (converter::Node* node : graph.node_list()) {
    if (!node->is("Softmax") || !node->inputs[0]->shape) continue;
    const definitions::IntegerAttribute& axis = node->op->facts.axes.attribute;
    const int64_t rank = node->inputs[0]->shape->rank;
    if (rank == 0) continue;
    const int64_t next = (axis.get(node->attribute_bytes.data()).front() + rank + 1) % rank;
    axis.set(node->attribute_bytes.data(), std::span(&next, 1));
  }
}

TEST_F(RandomModelControls, AWrongAxisIsFoundNamedAndShrunk) {
  const std::vector<Pass> passes = passes_and({"wrong axis", use_next_axis});
  OracleOptions options = all_passes(converter::builtin_library());
  options.conversion.passes = passes;
  const auto found = first_failure(options);
  ASSERT_TRUE(found);
  EXPECT_EQ(guilty_pass(*found, options), "wrong axis");
  const RandomModel small =
      shrink(*found, options.conversion.operators(),
             [&](const RandomModel& model) { return check_model(model, options).has_value(); });
  EXPECT_TRUE(check_model(small, options));
  EXPECT_EQ(small.node_count(), 1u);
  EXPECT_EQ(small.runs.size(), 1u);
}

// -- A wrong promise that a result may overwrite an input

TEST_F(RandomModelControls, AWrongInPlacePromiseOfAPlugInIsFound) {
  const auto library = library_with_reversed(true);
  OracleOptions options = all_passes(*library);
  options.conversion.library = library;
  // Later passes only show other nodes' results overwritten: `order` decides who reads them last.
  const std::span<const Pass> all = converter::optimisation_passes();
  const auto in_place = std::find_if(all.begin(), all.end(),
                                     [](const Pass& pass) { return pass.name == "in place"; });
  ASSERT_NE(in_place, all.end());
  options.conversion.passes = {all.begin(), in_place + 1};
  const auto found = first_failure(options);
  ASSERT_TRUE(found);
  EXPECT_EQ(guilty_pass(*found, options), "in place");
}

TEST(RandomModels, OperatorsOfAPlugInTakePart) {
  const auto library = library_with_reversed(false);
  OracleOptions options = all_passes(*library);
  options.conversion.library = library;
  Coverage coverage;
  for (int seed = 1; seed <= part_of(60); ++seed) {
    const RandomModel model = random_model(static_cast<uint64_t>(seed), *library, coverage);
    const auto failure = check_model(model, options);
    EXPECT_FALSE(failure) << seed << ": " << failure->text;
  }
  EXPECT_GT(coverage["random.test:Reversed"], 0);
}

// -- An overlap in the memory planner

/// Lets one buffer end a step too early.
converter::MemoryPlan plan_short_lives(std::vector<converter::PlannedBuffer>& buffers,
                                       const converter::PlannerOptions& options) {
  std::vector<converter::PlannedBuffer> shortened = buffers;
  for (converter::PlannedBuffer& buffer : shortened) {
    if (buffer.last - buffer.first < 2) continue;
    --buffer.last;
    break;
  }
  const converter::MemoryPlan plan = converter::plan_memory(shortened, options);
  for (size_t i = 0; i < buffers.size(); ++i) buffers[i].offset = shortened[i].offset;
  return plan;
}

TEST_F(RandomModelControls, AnOverlapInTheMemoryPlannerIsFound) {
  const std::vector<Pass> passes = passes_and(
      {"overlap", [](converter::Graph&, converter::Inference&, converter::PlanChoices& choices) {
         choices.storage.plan = plan_short_lives;
       }});
  OracleOptions options = all_passes(converter::builtin_library());
  options.conversion.passes = passes;
  const auto found = first_failure(options);
  ASSERT_TRUE(found);
  EXPECT_EQ(guilty_pass(*found, options), "overlap");
}

// -- A lane that one instruction set drops

Kernel whole_kernel;

Status drop_a_lane(const KernelContext& context) {
  const Status status = whole_kernel.run(context);
  const TensorView& output = context.output(0);
  if (status && context.isa() == available_isas().back() && output.count() >= 8) {
    output.as<float>()[7] = 0;
  }
  return status;
}

TEST_F(RandomModelControls, ALaneThatOneInstructionSetDropsIsFound) {
  const converter::OperatorLibrary& library = converter::builtin_library();
  const auto row = std::find_if(library.rows().begin(), library.rows().end(), [](const auto& each) {
    return each.id.op == "Mul" && each.id.types[0].accepts(DataType::kFloat);
  });
  ASSERT_NE(row, library.rows().end());
  RowSet<Kernel> kernels(copies(library.kernels().kernels));
  for (Kernel& kernel : kernels.rows()) {
    if (kernel.key != row->key) continue;
    whole_kernel = kernel;
    kernel.run = drop_a_lane;
  }
  OracleOptions options = all_passes(library);
  options.kernels.kernels = kernels.span();
  EXPECT_TRUE(first_failure(options));
}

// -- Repeatability

TEST(RandomModels, OneSeedGivesOneModel) {
  Coverage coverage;
  for (uint64_t seed : {1u, 2u, 77u}) {
    const auto bytes = [&] {
      return onnx_bytes(random_model(seed, converter::builtin_library(), coverage));
    };
    EXPECT_EQ(bytes(), bytes());
  }
}

}  // namespace
}  // namespace intarsia::test
