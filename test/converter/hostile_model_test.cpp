// SPDX-License-Identifier: Apache-2.0
//
// Small models that would become large ones, or keep the converter busy: what bounds them, told by
// counters. Where only time would tell, the sizes are such that a search per step would take hours.
#include <filesystem>
#include <fstream>
#include <set>

#include "converter/convert.h"
#include "converter/graph/aligned_bytes.h"
#include "converter/graph/work.h"
#include "converter/memory/planner.h"
#include "converter/onnx/import_expansion.h"
#include "converter/onnx/version_conversion.h"
#include "converter/passes/simplify.h"
#include "test/converter/onnx_builder.h"

namespace intarsia::converter {
namespace {

/// A function F of the domain "local" in `builder`; nodes are added by the caller.
onnx::FunctionProto& add_function(OnnxBuilder& builder, const std::vector<std::string>& inputs,
                                  const std::string& output) {
  builder.import_opset("local", 1);
  auto* function = builder.model.add_functions();
  function->set_domain("local");
  function->set_name("F");
  for (const std::string& name : inputs) function->add_input(name);
  function->add_output(output);
  auto* import = function->add_opset_import();
  import->set_version(21);
  return *function;
}

/// `calls` calls of F in a chain, from v0 to v<calls>.
void add_calls(OnnxBuilder& builder, int calls) {
  builder.input("v0", {1});
  for (int i = 0; i < calls; ++i) {
    builder.node("F", {"v" + std::to_string(i)}, {"v" + std::to_string(i + 1)}).set_domain("local");
  }
  builder.output("v" + std::to_string(calls));
}

ConversionResult convert(const OnnxBuilder& builder, const ConvertOptions& options = {}) {
  const std::string bytes = builder.bytes();
  return convert_bytes(std::as_bytes(std::span(bytes)), options);
}

std::string conversion_error(const OnnxBuilder& builder) {
  const ConversionResult result = convert(builder);
  const auto* failure = std::get_if<ConversionFailure>(&result);
  return failure != nullptr ? failure->text() : "";
}

uint32_t nodes_of(const Conversion& conversion) {
  const auto& bytes = conversion.plan.bytes;
  const AlignedBytes plan(bytes.size());
  std::memcpy(plan.data(), bytes.data(), bytes.size());
  const Result<PlanInfo> info = plan_info({plan.data(), bytes.size()});
  EXPECT_TRUE(info.ok());
  return info.ok() ? info->node_count : 0;
}

// --- Functions -----------------------------------------------------------------------------------

TEST(Expansion, CallsShareTheConstantsOfAFunction) {
  constexpr int kCalls = 200;
  constexpr int64_t kElements = 1 << 16;
  OnnxBuilder builder;
  auto& function = add_function(builder, {"a"}, "b");
  const std::vector<float> values(kElements, 1.5F);
  auto& constant = OnnxBuilder::add_node(*function.mutable_node(), "Constant", {}, {"c"});
  OnnxBuilder::fill(
      *OnnxBuilder::attribute(constant, "value", onnx::AttributeProto::TENSOR).mutable_t(), "",
      DataType::kFloat, {kElements}, values.data(), values.size() * sizeof(float));
  auto& list = OnnxBuilder::add_node(*function.mutable_node(), "Constant", {}, {"d"});
  OnnxBuilder::set(list, "value_floats", std::vector<float>(1000, 2.5F));
  OnnxBuilder::add_node(*function.mutable_node(), "Add", {"a", "c"}, {"e"});
  OnnxBuilder::add_node(*function.mutable_node(), "ReduceMax", {"d"}, {"f"});
  OnnxBuilder::add_node(*function.mutable_node(), "Add", {"e", "f"}, {"b"});
  add_calls(builder, kCalls);

  Model model = builder.import();
  const auto distinct = [&model] {
    std::set<const std::byte*> elements;
    for (const auto& value : model.graph->values()) {
      if (value->constant) elements.insert(value->constant->data.get());
    }
    return elements.size();
  };
  const auto constants = [&model] {
    size_t count = 0;
    for (const auto& value : model.graph->values()) count += value->constant ? 1 : 0;
    return count;
  };
  EXPECT_EQ(constants(), 2U * kCalls);
  EXPECT_EQ(distinct(), 2U);
  convert_versions(model);
  resolve(model);
  simplify(*model.graph);
  EXPECT_EQ(constants(), 2U) << "one value for all calls, which is packed and stored once";
  EXPECT_EQ(model.graph->check(), "");

  const ConversionResult result = convert(builder);
  ASSERT_TRUE(std::holds_alternative<Conversion>(result));
  EXPECT_LT(std::get<Conversion>(result).plan.bytes.size(), 3 * kElements * sizeof(float));
}

TEST(Expansion, NamesInFunctionsAreShort) {
  constexpr int kNodes = 300;
  OnnxBuilder builder;
  auto& function = add_function(builder, {"a0"}, "a" + std::to_string(kNodes));
  for (int i = 0; i < kNodes; ++i) {
    OnnxBuilder::add_node(*function.mutable_node(), "Relu", {"a" + std::to_string(i)},
                          {"a" + std::to_string(i + 1)});
  }
  function.mutable_node(7)->set_name(std::string(1 << 20, 'm'));
  builder.input("x", {1});
  auto& call = builder.node("F", {"x"}, {"y"});
  call.set_domain("local");
  call.set_name(std::string(1 << 20, 'n'));
  builder.output("y");

  const Model model = builder.import();
  std::set<std::string> names;
  for (const auto& node : model.graph->nodes()) {
    EXPECT_LE(node->name.size(), Expansion::kMaxName + 8);
    names.insert(node->name);
  }
  for (const auto& value : model.graph->values()) {
    EXPECT_LE(value->name.size(), Expansion::kMaxName + 8);
  }
  EXPECT_EQ(names.size(), static_cast<size_t>(kNodes)) << "and still unique";
}

TEST(Expansion, FormalOperandsOfEveryCallCount) {
  constexpr int kArguments = 3000;
  OnnxBuilder builder;
  std::vector<std::string> formal;
  for (int i = 0; i < kArguments; ++i) formal.push_back("a" + std::to_string(i));
  auto& function = add_function(builder, formal, "b");
  OnnxBuilder::add_node(*function.mutable_node(), "Relu", {"a0"}, {"b"});
  add_calls(builder, static_cast<int>(Expansion::kMaxOperands / kArguments) + 1);
  EXPECT_CONTAINS(builder.error(), "(local:F): the model has more than 8000000 operands");
}

TEST(Expansion, AttributesOfEveryCallCount) {
  OnnxBuilder builder;
  auto& function = add_function(builder, {"a"}, "b");
  auto& node = OnnxBuilder::add_node(*function.mutable_node(), "Foo", {"a"}, {"b"});
  node.set_domain("other");
  OnnxBuilder::set(node, "text", std::string(1 << 20, 't').c_str());
  add_calls(builder, static_cast<int>(Expansion::kMaxCopiedBytes >> 20) + 1);
  EXPECT_CONTAINS(builder.error(), "bytes of names and attributes in functions");
}

// --- The memory planner --------------------------------------------------------------------------

// Each buffer leaves a hole of less than its alignment that no other fits into.
TEST(PlannerSize, HolesThatAreTooSmallAreNotWalked) {
  constexpr int kBuffers = 100'000;
  std::vector<PlannedBuffer> buffers(kBuffers);
  int64_t expected = 0;
  for (int i = 0; i < kBuffers; ++i) {
    PlannedBuffer& buffer = buffers[static_cast<size_t>(i)];
    buffer.size = 64 + 4 * (i % 15 + 1);
    buffer.alignment = 64;
    buffer.first = i;
    buffer.last = kBuffers;
    expected += 128;
  }
  const MemoryPlan plan = plan_memory(buffers);
  EXPECT_EQ(plan.error, "");
  EXPECT_LE(plan.total, expected);
}

TEST(PlannerSize, ATensorThatNoPlanHoldsIsNamed) {
  OnnxBuilder builder;
  builder.input("x", {1, 1, 3, 3});
  builder.input("w", {1, 1, 3, 3});
  auto& conv = builder.node("Conv", {"x", "w"}, {"wide"});
  conv.set_name("widen");
  OnnxBuilder::set(conv, "pads", std::vector<int64_t>(4, 1'000'000'000));
  builder.node("ReduceMax", {"wide"}, {"y"});
  builder.output("y");
  EXPECT_CONTAINS(conversion_error(builder),
                  "node 'widen' (Conv): tensor 'wide' has the type float and the extents "
                  "[1,1,2000000001,2000000001]");
}

// --- Folding -------------------------------------------------------------------------------------

/// Nodes that stay in the plan when folding may take `steps`.
uint32_t nodes_in_plan(const OnnxBuilder& builder, double steps) {
  ConvertOptions options;
  options.limits.folding.steps = steps;
  const ConversionResult result = convert(builder, options);
  if (const auto* failure = std::get_if<ConversionFailure>(&result)) {
    ADD_FAILURE() << failure->text();
    return 0;
  }
  return nodes_of(std::get<Conversion>(result));
}

/// A node on constants, its result added to an input.
OnnxBuilder folded(const std::string& type, const std::vector<std::string>& inputs) {
  OnnxBuilder builder;
  builder.floats("image", {1, 1, 16, 16}, std::vector<float>(256, 1));
  builder.floats("window", {1, 1, 16, 16}, std::vector<float>(256, 1));
  builder.floats("left", {64, 64}, std::vector<float>(4096, 1));
  builder.floats("right", {64, 64}, std::vector<float>(4096, 1));
  builder.node(type, inputs, {"z"});
  builder.input("x", {1});
  builder.node("Add", {"x", "z"}, {"y"});
  builder.output("y");
  return builder;
}

onnx::NodeProto& first_node(OnnxBuilder& builder) {
  return *builder.graph().mutable_node(0);
}

TEST(FoldingWork, WindowsCountTheirElements) {
  OnnxBuilder pool = folded("MaxPool", {"image"});
  OnnxBuilder::set(first_node(pool), "kernel_shape", std::vector<int64_t>{1000, 1000});
  OnnxBuilder::set(first_node(pool), "pads", std::vector<int64_t>{999, 999, 0, 0});
  EXPECT_EQ(nodes_in_plan(pool, 2.5e8), 2U) << "256 results of a million elements each";
  EXPECT_EQ(nodes_in_plan(pool, 2.6e8), 1U);

  OnnxBuilder conv = folded("Conv", {"image", "window"});
  OnnxBuilder::set(first_node(conv), "pads", std::vector<int64_t>{500, 500, 500, 500});
  EXPECT_EQ(nodes_in_plan(conv, 2.5e8), 2U) << "1001 x 1001 results of 256 elements each";
  EXPECT_EQ(nodes_in_plan(conv, 2.6e8), 1U);

  OnnxBuilder lrn = folded("LRN", {"image"});
  OnnxBuilder::set(first_node(lrn), "size", int64_t{100'001});
  EXPECT_EQ(nodes_in_plan(lrn, 2.5e7), 2U);
}

TEST(FoldingWork, AnEndlessWindowStaysInThePlan) {
  OnnxBuilder pool = folded("MaxPool", {"image"});
  const int64_t huge = 0x7fffffff;
  OnnxBuilder::set(first_node(pool), "kernel_shape", std::vector<int64_t>{huge, 1});
  OnnxBuilder::set(first_node(pool), "pads", std::vector<int64_t>{huge - 1, 0, 0, 0});
  EXPECT_EQ(nodes_in_plan(pool, FoldingLimits().steps), 2U);
}

TEST(FoldingWork, ProductsCountEachPairOfElements) {
  OnnxBuilder product = folded("MatMul", {"left", "right"});
  EXPECT_EQ(nodes_in_plan(product, 64 * 64 * 64 - 1), 2U);
  EXPECT_EQ(nodes_in_plan(product, 64 * 64 * 64), 1U);
}

TEST(FoldingWork, MovingElementsIsCheap) {
  OnnxBuilder moved = folded("Transpose", {"left"});
  EXPECT_EQ(nodes_in_plan(moved, 2 * 64 * 64 - 1), 2U);
  EXPECT_EQ(nodes_in_plan(moved, 2 * 64 * 64), 1U);
}

// --- External data -------------------------------------------------------------------------------

TEST(ExternalSize, TensorsThatOverlapAreBounded) {
  const auto folder = std::filesystem::temp_directory_path() / "intarsia_overlap";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "data.bin", std::ios::binary) << std::string(4096 + 64, 'x');
  const auto import = [&](int tensors, int64_t step) {
    OnnxBuilder builder;
    builder.input("v0", {1});
    for (int i = 0; i < tensors; ++i) {
      auto& tensor = builder.initializer("w" + std::to_string(i), DataType::kFloat, {1024});
      tensor.set_data_location(onnx::TensorProto::EXTERNAL);
      const std::pair<const char*, std::string> entries[] = {
          {"location", "data.bin"}, {"offset", std::to_string(i * step)}, {"length", "4096"}};
      for (const auto& [key, value] : entries) {
        auto* entry = tensor.add_external_data();
        entry->set_key(key);
        entry->set_value(value);
      }
      builder.node("Add", {"v" + std::to_string(i), "w" + std::to_string(i)},
                   {"v" + std::to_string(i + 1)});
    }
    builder.output("v" + std::to_string(tensors));
    const std::string bytes = builder.bytes();
    try {
      import_bytes(std::as_bytes(std::span(bytes)), folder);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_CONTAINS(import(60, 1), "external data overlaps that of other tensors");
  EXPECT_EQ(import(3, 1), "");
  EXPECT_EQ(import(500, 0), "") << "one range for all is what tied weights are";
  std::filesystem::remove_all(folder);
}

// --- Ranks ---------------------------------------------------------------------------------------

/// Rules that expand operators read extents of axes that an operand need not have.
TEST(Expansion, OperandsOfTooFewAxesAreRefused) {
  OnnxBuilder builder;
  builder.import_opset("com.microsoft", 1);
  builder.input("x", {1, 2, 8});
  builder.input("places", {1, 2}, DataType::kInt64);
  builder.input("cosines", {});
  builder.input("sines", {});
  builder.output("y");
  builder.node("RotaryEmbedding", {"x", "places", "cosines", "sines"}, {"y"})
      .set_domain("com.microsoft");
  const std::string error = conversion_error(builder);
  EXPECT_NE(error.find("an operand has 0 axes, but the operator reads the extent of axis -1"),
            std::string::npos)
      << error;
}

TEST(Expansion, NoShapeHasMoreAxesThanThereAre) {
  Shape<definitions::Dim> shape;
  EXPECT_EQ(shape[kMaxRank - 1], definitions::Dim(0));
  EXPECT_THROW(shape[kMaxRank], std::out_of_range);
  EXPECT_THROW(shape[-1], std::out_of_range);
}

}  // namespace
}  // namespace intarsia::converter
