// SPDX-License-Identifier: Apache-2.0
//
// The passes go by facts: an operator of another name with the same definition leaves the same
// plan, byte for byte. Exempt are the spellings that fusions look for.
#include <deque>
#include <set>

#include "test/converter/layout_cases.h"

namespace intarsia::test {
namespace {

using converter::OnnxBuilder;

/// Operators by whose names `fuse.cpp` and `recognize.cpp` find what they put together.
const std::set<std::string, std::less<>> kExempt = {"Add", "Sum", "Mul", "BatchNormalization"};

/// Every operator of ONNX's domain once more, under another name, with the kernels of the first.
std::shared_ptr<const converter::OperatorLibrary> renamed_library() {
  static std::deque<std::string> names;
  auto extension = std::make_shared<converter::Extension>();
  extension->name = "renamed";
  for (const auto* op : definitions::OperatorRegistry::builtin().all()) {
    if (!op->domain.empty() || !op->graphs.empty()) continue;
    definitions::OperatorDefinition copy = *op;
    copy.kernel_operator = op->name;
    copy.name = names.emplace_back("Other" + std::string(op->name));
    extension->definitions.push_back(std::move(copy));
  }
  return std::make_shared<converter::OperatorLibrary>(converter::Extensions{extension});
}

converter::OnnxBuilder renamed(converter::OnnxBuilder model) {
  for (auto& node : *model.graph().mutable_node()) {
    if (kExempt.count(node.op_type()) == 0) node.set_op_type("Other" + node.op_type());
  }
  return model;
}

std::vector<std::byte> plan_of(const OnnxBuilder& model,
                               std::shared_ptr<const converter::OperatorLibrary> library,
                               converter::ConvertOptions options = {}) {
  options.library = std::move(library);
  options.strip_names = true;
  const std::string bytes = model.bytes();
  const auto result = converter::convert_bytes(std::as_bytes(std::span(bytes)), options);
  if (const auto* failure = std::get_if<converter::ConversionFailure>(&result)) {
    ADD_FAILURE() << failure->text();
    return {};
  }
  return std::get<converter::Conversion>(result).plan.bytes;
}

void expect_same_plan(const OnnxBuilder& model, const converter::ConvertOptions& options = {}) {
  static const auto library = renamed_library();
  const std::vector<std::byte> plan = plan_of(model, library, options);
  ASSERT_FALSE(plan.empty());
  EXPECT_EQ(plan, plan_of(renamed(model), library, options));
}

class Renaming : public testing::TestWithParam<layout::Case> {};

TEST_P(Renaming, LeavesThePlan) {
  expect_same_plan(model_of(GetParam(), DataType::kFloat));
}

INSTANTIATE_TEST_SUITE_P(Layout, Renaming, testing::ValuesIn(layout::kCases),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(RenamingOf, Epilogues) {
  for (const char* activation : {"Relu", "Elu", "HardSigmoid", "Gelu", "Swish"}) {
    OnnxBuilder model(28);
    model.input("x", {1, 3, 4, 4});
    model.output("y");
    model.floats("w", {3, 3, 1, 1}, {1, 0, 2, 0, 1, 0, 1, 1, 1});
    model.node("Conv", {"x", "w"}, {"c"});
    model.node("Add", {"c", "x"}, {"s"});
    model.node(activation, {"s"}, {"y"});
    expect_same_plan(model);
  }
}

TEST(RenamingOf, WhatIsRemoved) {
  OnnxBuilder model(28);
  model.input("x", {2, 3});
  model.output("y");
  model.floats("one", {1}, {1});
  const int64_t bounds[] = {0, 100};
  model.initializer("begin", DataType::kInt64, {1}, &bounds[0], 8);
  model.initializer("end", DataType::kInt64, {1}, &bounds[1], 8);
  model.node("Identity", {"x"}, {"a"});
  model.node("Dropout", {"a"}, {"b"});
  model.node("Slice", {"b", "begin", "end"}, {"c"});
  model.node("Max", {"c"}, {"d"});
  model.node("Div", {"d", "one"}, {"e"});
  model.node("Neg", {"e"}, {"y"});
  expect_same_plan(model);
  // Nothing but the negation is left.
  OnnxBuilder plain(28);
  plain.input("x", {2, 3});
  plain.output("y");
  plain.node("Neg", {"x"}, {"y"});
  EXPECT_EQ(plan_of(model, nullptr), plan_of(plain, nullptr));
}

TEST(RenamingOf, ArithmeticOfExtents) {
  OnnxBuilder model(28);
  symbol(model.input("x", {1, 0}), 1, "n");
  model.output("y");
  model.floats("zero", {}, {0});
  model.floats("one", {}, {1});
  model.floats("two", {}, {2});
  const int64_t one = 1;
  model.initializer("axis", DataType::kInt64, {}, &one, sizeof(one));
  model.node("Shape", {"x"}, {"s"});
  model.node("Gather", {"s", "axis"}, {"n"});
  model.set(model.node("Cast", {"n"}, {"f"}), "to", int64_t{1});
  model.node("Div", {"f", "two"}, {"h"});
  model.node("Floor", {"h"}, {"l"});
  model.node("Range", {"zero", "l", "one"}, {"y"});
  converter::ConvertOptions options;
  options.dims["n"] = converter::DimRange{1, 9};
  expect_same_plan(model, options);
}

}  // namespace
}  // namespace intarsia::test
