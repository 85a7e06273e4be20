// SPDX-License-Identifier: Apache-2.0
//
// Operators of one's own, from the ONNX node to the result: signatures, versions, state. Their
// attributes: attributes_test.cpp.
#include <gtest/gtest.h>

#include "converter/tool/heap_counter.h"
#include "test/operators/sample_models.h"

namespace intarsia::test {
namespace {

using converter::contains;
using converter::OnnxBuilder;
using Floats = std::vector<float>;

TEST(CustomOperators, CUS_04_OptionalOperandsInTheMiddleAndAtTheEnd) {
  const auto result = [](const std::vector<std::string>& inputs,
                         const std::vector<std::string>& outputs, const char* wanted) {
    OnnxBuilder model;
    model.input("x", {2});
    model.output(wanted);
    model.floats("b", {1}, {10});
    model.floats("s", {1}, {3});
    sample_node(model, "Affine", inputs, outputs);
    return run_once(model, {1, 2});
  };
  EXPECT_EQ(result({"x"}, {"y"}, "y"), (Floats{2, 4}));
  EXPECT_EQ(result({"x", "b"}, {"y"}, "y"), (Floats{12, 14}));
  EXPECT_EQ(result({"x", "", "s"}, {"y"}, "y"), (Floats{6, 12}));
  EXPECT_EQ(result({"x", "b", "s"}, {"y", "n"}, "n"), (Floats{-16, -22}));
}

TEST(CustomOperators, CUS_04_AnOutputThatTheNodeLeavesOutIsAbsent) {
  // Left out at the end and in the middle; each alone, and both.
  const std::pair<std::vector<std::string>, float> kCases[] = {{{"y"}, 0},
                                                               {{"y", "", ""}, 0},
                                                               {{"y", "one"}, 1},
                                                               {{"y", "", "two"}, 2},
                                                               {{"y", "one", "two"}, 3}};
  size_t least = 0;
  for (const auto& [outputs, expected] : kCases) {
    OnnxBuilder model;
    model.input("x", {256});
    for (const std::string& name : outputs) {
      if (!name.empty()) model.output(name);
    }
    sample_node(model, "Wanted", {"x"}, outputs);
    EXPECT_EQ(run_once(model, Floats(256, 5)), Floats(256, expected)) << outputs.size();
    SmallPlan plan(model, sample_options());
    if (least == 0) least = plan.arena().size();
    // It has no memory for its elements either.
    EXPECT_EQ(expected != 0, plan.arena().size() >= least + 256 * sizeof(float)) << expected;
  }
}

TEST(CustomOperators, CUS_04_AMissingRequiredInputIsNamed) {
  OnnxBuilder model;
  model.input("x", {2});
  model.output("y");
  sample_node(model, "Affine", {"", "x"}, {"y"});
  EXPECT_EQ(conversion_error(model, sample_options()),
            "node 'Affine1' (sample:Affine): lacks input 0 ('x')");
}

TEST(CustomOperators, CUS_05_VariadicInputsHaveALeastNumber) {
  OnnxBuilder model;
  model.input("x", {2});
  model.output("y");
  const int64_t offset = 1;
  model.initializer("o", DataType::kInt64, {}, &offset, sizeof(offset));
  sample_node(model, "Join", {"o", "x"}, {"y"});
  EXPECT_EQ(conversion_error(model, sample_options()),
            "node 'Join1' (sample:Join): has 2 inputs, but 'parts' takes at least 2: at least 3 in "
            "all");
  model.graph().mutable_node(0)->add_input("x");
  EXPECT_EQ(run_once(model, {1, 2}), (Floats{2, 3, 2, 3}));
}

TEST(CustomOperators, CUS_05_VariadicOutputsHaveALeastNumber) {
  OnnxBuilder model;
  model.input("x", {2});
  model.output("y");
  sample_node(model, "Multiples", {"x"}, {"y"});
  EXPECT_EQ(
      conversion_error(model, sample_options()),
      "node 'Multiples1' (sample:Multiples): has 1 outputs, but 'multiples' takes at least 2: "
      "at least 2 in all");
}

TEST(CustomOperators, CUS_05_VariadicInputsAreOfOneType) {
  OnnxBuilder model;
  model.input("x", {2});
  model.input("z", {2}, DataType::kDouble);
  model.output("y");
  const int64_t offset = 1;
  model.initializer("o", DataType::kInt64, {}, &offset, sizeof(offset));
  sample_node(model, "Join", {"o", "x", "x", "z"}, {"y"});
  EXPECT_EQ(conversion_error(model, sample_options()),
            "node 'Join1' (sample:Join): 'z' (parts) has type double, which the operator does not "
            "allow; it allows float");
}

/// y[i] = x[n - 1 - i], each of any type; and of one type, as a control.
struct Turned {
  static constexpr OperatorInfo info{
      .domain = "own", .name = "Turned", .inputs = {{"parts", "", 2}}, .outputs = {{"turned", ""}}};
  template <class S>
  static Status infer(S& s) {
    for (int i = 0; i < s.output_count(); ++i) {
      const int from = s.input_count() - 1 - i;
      if (from < 0) return s.fail(Code::kUnsupported, "more outputs than inputs");
      if (Status status = s.set_output(i, s.type(from), s.shape(from)); !status) return status;
    }
    return {};
  }
  static void run(Variadic<Input<Any>> parts, Variadic<Output<Any>> turned) {
    for (int i = 0; i < turned.size(); ++i) {
      const TensorView from = parts[parts.size() - 1 - i].view(), to = turned[i].view();
      std::memcpy(to.data, from.data, static_cast<size_t>(to.bytes()));
    }
  }
};
struct TurnedAlike : Turned {
  static constexpr OperatorInfo info{
      .domain = "own", .name = "TurnedAlike", .inputs = {{"parts", "T", 2}}, .outputs = {"turned"}};
};

TEST(CustomOperators, CUS_05_VariadicOperandsOfTypesOfTheirOwn) {
  const auto options = options_with<OperatorList<Turned, TurnedAlike>>();
  const auto turned = [](const char* type, DataType other) {
    OnnxBuilder model;
    model.input("a", {2});
    model.input("b", {3}, other);
    model.input("c", {1}, DataType::kInt8);
    model.node(type, {"a", "b", "c"}, {"x", "y", "z"}).set_domain("own");
    for (const char* name : {"x", "y", "z"}) model.output(name);
    return model;
  };
  SmallPlan plan(turned("Turned", DataType::kInt64), options);
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  write(*session, 0, {1.5F, 2});
  for (int i = 0; i < 3; ++i) session->input<int64_t>(1).value()[static_cast<size_t>(i)] = i - 9;
  session->input<int8_t>(2).value()[0] = 77;
  ASSERT_TRUE(session->run().ok()) << plan.text(session->diagnostic());
  EXPECT_EQ(session->output<int8_t>(0).value()[0], 77);
  EXPECT_EQ(session->output<int64_t>(1).value()[2], -7);
  EXPECT_EQ(read(*session, 2), (Floats{1.5F, 2}));
  EXPECT_EQ(conversion_error(turned("TurnedAlike", DataType::kFloat), options),
            "node 'TurnedAlike1' (own:TurnedAlike): 'a' has type float and 'c' has type int8; they "
            "must agree");
}

/// The operator writes every output that its signature does not call optional.
TEST(CustomOperators, CUS_05_VariadicOutputsMayBeLeftEmpty) {
  const auto result = [](const char* type, const char* wanted) {
    OnnxBuilder model;
    model.input("x", {2});
    model.output(wanted);
    sample_node(model, type, {"x"}, {"first", "", "third"});
    return run_once(model, {1, 2});
  };
  EXPECT_EQ(result("Multiples", "first"), (Floats{1, 2}));
  EXPECT_EQ(result("Multiples", "third"), (Floats{3, 6}));
  EXPECT_EQ(result("WantedMultiples", "first"), (Floats{1, 1})) << "nobody reads the third";
  EXPECT_EQ(result("WantedMultiples", "third"), (Floats{3, 6}));
}

TEST(CustomOperators, CUS_06_TheTypesChooseTheKernel) {
  for (DataType type :
       {DataType::kFloat, DataType::kDouble, DataType::kFloat16, DataType::kInt32}) {
    OnnxBuilder model;
    model.input("x", {1}, type);
    model.output("y");
    sample_node(model, "Affine", {"x"}, {"y"});
    SmallPlan plan(model, sample_options());
    auto session = plan.open();
    ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
    EXPECT_EQ(session->output_port(0)->tensor.type, type);
    EXPECT_TRUE(session->run().ok());
  }
  OnnxBuilder model;
  model.input("x", {1}, DataType::kInt64);
  model.output("y");
  sample_node(model, "Affine", {"x"}, {"y"});
  EXPECT_CONTAINS(conversion_error(model, sample_options()),
                  "node 'Affine1' (sample:Affine): 'x' (x) has type int64");
}

TEST(CustomOperators, CUS_07_TheShapeFunctionRunsAtConversionAndAtRunTime) {
  OnnxBuilder model;
  symbol(model.input("x", {0}), 0, "n");
  model.output("y");
  const int64_t offset = 0;
  model.initializer("o", DataType::kInt64, {1}, &offset, sizeof(offset));
  sample_node(model, "Join", {"o", "x", "x"}, {"y"});
  converter::ConvertOptions ranged = sample_options();
  ranged.dims["n"] = converter::DimRange{1, 4};
  SmallPlan plan(model, ranged);
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  EXPECT_EQ(session->output_port(0)->tensor.extents[0], 8);
  for (int32_t n : {3, 1, 4}) {
    ASSERT_TRUE(session->resize_input(0, std::array{n}).ok());
    write(*session, 0, Floats(static_cast<size_t>(n), 2.0F));
    ASSERT_TRUE(session->run().ok()) << plan.text(session->diagnostic());
    EXPECT_EQ(read(*session, 0), Floats(static_cast<size_t>(2 * n), 2.0F));
  }
}

TEST(CustomOperators, CUS_07_WhatTheShapeFunctionRefusesIsReported) {
  OnnxBuilder model;
  model.input("x", {2, 2});
  model.output("y");
  const int64_t offset = 0;
  model.initializer("o", DataType::kInt64, {}, &offset, sizeof(offset));
  sample_node(model, "Join", {"o", "x", "x"}, {"y"});
  EXPECT_EQ(conversion_error(model, sample_options()),
            "node 'Join1' (sample:Join): part is no vector of input 1: expected 1, found 2");
}

TEST(CustomOperators, CUS_07_ExtentsThatOnlyTheRunTellsAreNoExcuse) {
  OnnxBuilder model;
  symbol(model.input("x", {0}), 0, "n");
  model.output("y");
  model.floats("limit", {}, {1});
  sample_node(model, "Above", {"x", "limit"}, {"y"});
  converter::ConvertOptions ranged = sample_options();
  ranged.dims["n"] = converter::DimRange{1, 4};
  ranged.bounds["y"] = {4};
  SmallPlan plan(model, ranged);
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  ASSERT_TRUE(session->resize_input(0, std::array{3}).ok());
  EXPECT_EQ(session->run().code(), Code::kWrongExtent);
  EXPECT_EQ(plan.text(session->diagnostic()),
            "node 0 'Above1' (sample:Above): even number of elements, operand 0, axis 0: expected "
            "2, found 3");
  ASSERT_TRUE(session->resize_input(0, std::array{2}).ok());
  write(*session, 0, {3, 0});
  ASSERT_TRUE(session->run().ok()) << plan.text(session->diagnostic());
  EXPECT_EQ(read(*session, 0), Floats{3});
}

TEST(CustomOperators, CUS_08_AnOutputThatOnlyTheRunCanTell) {
  OnnxBuilder model;
  model.input("x", {4});
  model.output("z");
  model.floats("limit", {}, {1});
  sample_node(model, "Above", {"x", "limit"}, {"y"});
  model.node("Neg", {"y"}, {"z"});
  EXPECT_EQ(conversion_error(model, sample_options()),
            "node 'Above1' (sample:Above): the extents of output 0 ('y') are not known: the model "
            "does not declare them and the operator's shape function cannot tell; declare them "
            "with --bound y=EXTENTS");
  converter::ConvertOptions bounded = sample_options();
  bounded.bounds["y"] = {3};
  SmallPlan plan(model, bounded);
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  write(*session, 0, {5, 0, 7, 1});
  ASSERT_TRUE(session->run().ok()) << plan.text(session->diagnostic());
  EXPECT_EQ(read(*session, 0), (Floats{-5, -7}));
  write(*session, 0, {5, 6, 7, 8});
  EXPECT_EQ(session->run().code(), Code::kWrongExtent);
  EXPECT_CONTAINS(plan.text(session->diagnostic()), "node 0 'Above1' (sample:Above): ");
}

TEST(CustomOperators, CUS_08_TheBoundOfTheShapeFunctionIsOne) {
  // Fixed extents, and some that vary; a shape function that says how many at most, and none.
  for (const bool varies : {false, true}) {
    for (const auto& [type, most] : {std::pair("AtMost", 2), std::pair("AtMostAll", 4)}) {
      OnnxBuilder model;
      auto& x = model.input("x", {4});
      if (varies) symbol(x, 0, "n");
      model.output("z");
      model.floats("limit", {}, {1});
      sample_node(model, type, {"x", "limit"}, {"y"});
      model.node("Neg", {"y"}, {"z"});
      converter::ConvertOptions options = sample_options();
      if (varies) options.dims["n"] = converter::DimRange{1, 4};
      SmallPlan plan(model, options);
      auto session = plan.open();
      ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
      write(*session, 0, {5, 0, 7, 1});
      ASSERT_TRUE(session->run().ok()) << plan.text(session->diagnostic());
      EXPECT_EQ(read(*session, 0), (Floats{-5, -7})) << type;
      write(*session, 0, {0, 0, 9, 1});
      ASSERT_TRUE(session->run().ok()) << plan.text(session->diagnostic());
      EXPECT_EQ(read(*session, 0), (Floats{-9})) << type;
      write(*session, 0, {5, 6, 7, 8});
      EXPECT_EQ(session->run().ok(), most == 4) << type;
      if (!varies) continue;
      ASSERT_TRUE(session->resize_input(0, std::array{2}).ok());
      write(*session, 0, {0, 3});
      ASSERT_TRUE(session->run().ok()) << plan.text(session->diagnostic());
      EXPECT_EQ(read(*session, 0), (Floats{-3})) << type;
    }
  }
  // Of constants as well: what only the run can tell is not folded into a constant of full extent.
  OnnxBuilder model;
  model.input("x", {1});
  model.output("z");
  model.floats("c", {4}, {5, 0, 7, 1});
  model.floats("limit", {}, {1});
  sample_node(model, "AtMostAll", {"c", "limit"}, {"y"});
  model.node("Mul", {"y", "x"}, {"z"});
  EXPECT_EQ(run_once(model, {2}), (Floats{10, 14}));
}

/// Affine(-x) in node 1; `again` reads -x once more after it.
struct InPlace {
  bool shares_memory = false;
  Floats y;

  explicit InPlace(bool again) {
    OnnxBuilder model;
    model.input("x", {64});
    model.output("y");
    model.node("Neg", {"x"}, {"a"});
    sample_node(model, "Affine", {"a"}, {"b"});
    model.node("Sub", {"b", again ? "a" : "x"}, {"y"});
    SmallPlan plan(model, sample_options());
    const Observer observer{this, nullptr, [](void* self, const KernelContext& context) {
                              if (context.node() != 1) return;
                              static_cast<InPlace*>(self)->shares_memory =
                                  context.input(0).data == context.output(0).data;
                            }};
    SessionOptions session_options;
    session_options.observer = &observer;
    auto session = plan.open(session_options);
    EXPECT_TRUE(session.ok()) << plan.text(plan.diagnostic);
    write(*session, 0, Floats(64, 3));
    EXPECT_TRUE(session->run().ok());
    y = read(*session, 0);
  }
};

TEST(CustomOperators, CUS_11_InPlaceIsPlannedWhereItIsLegal) {
  const InPlace last_reader(false);
  EXPECT_TRUE(last_reader.shares_memory);
  EXPECT_EQ(last_reader.y, Floats(64, -9));
  const InPlace read_again(true);
  EXPECT_FALSE(read_again.shares_memory);
  EXPECT_EQ(read_again.y, Floats(64, -3));
}

TEST(CustomOperators, CUS_12_TheVersionPicksTheKernel) {
  const auto result = [](int version) {
    OnnxBuilder model;
    model.input("x", {1});
    model.output("y");
    sample_node(model, "Versioned", {"x"}, {"y"}, version);
    return run_once(model, {0});
  };
  EXPECT_EQ(result(2), Floats{2});
  EXPECT_EQ(result(3), Floats{2});
  EXPECT_EQ(result(5), Floats{5});
  EXPECT_EQ(result(77), Floats{5});
  EXPECT_EQ(result(0), Floats{5}) << "a domain that is not imported means the newest";
}

TEST(CustomOperators, CUS_12_AVersionOutOfRangeAndUnknownNamesAreErrors) {
  const auto error = [](const char* type, const char* domain, int version) {
    OnnxBuilder model;
    model.input("x", {1});
    model.output("y");
    if (version != 0) model.import_opset(domain, version);
    model.node(type, {"x"}, {"y"}).set_domain(domain);
    return conversion_error(model, sample_options());
  };
  EXPECT_EQ(error("Versioned", "sample", 4),
            "node 'Versioned1' (sample:Versioned): the operator sample:Versioned(4) is not "
            "supported; it is registered for versions 2 to 3, 5 and later");
  EXPECT_EQ(
      error("Afine", "sample", 1),
      "node 'Afine1' (sample:Afine): the operator sample:Afine(1) is not supported; names like "
      "it: sample:Affine; operators of one's own come with --operators LIB.so or FILE.py");
  EXPECT_CONTAINS(error("Affine", "other", 1), "names like it: sample:Affine");
  const std::string nothing = error("Frobnicate", "sample", 1);
  EXPECT_EQ(nothing.find("names like it"), std::string::npos) << nothing;
}

/// Heap calls of two runs.
int64_t heap_calls_of(const OnnxBuilder& model) {
  SmallPlan plan(model, sample_options());
  auto session = plan.open();
  EXPECT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  write(*session, 0, Floats(8, 1));
  const int64_t before = tool::heap_calls();
  const bool ok = session->run().ok() && session->run().ok();
  const int64_t calls = tool::heap_calls() - before;
  EXPECT_TRUE(ok);
  return calls;
}

TEST(CustomOperators, CUS_13_ARunAllocatesNothing) {
  if (tool::heap_calls() < 0) GTEST_SKIP() << "this build does not count heap calls";
  OnnxBuilder model;
  model.input("x", {8});
  model.output("y");
  model.output("n");
  model.output("count");
  model.floats("b", {1}, {10});
  const int64_t offset = 1;
  model.initializer("o", DataType::kInt64, {}, &offset, sizeof(offset));
  sample_node(model, "Affine", {"x", "", "b"}, {"a", "n"});
  sample_node(model, "Join", {"o", "a", "x"}, {"j"});
  sample_node(model, "Reverse", {"j"}, {"y"});
  sample_node(model, "Counter", {"x"}, {"count"});
  EXPECT_EQ(heap_calls_of(model), 0);
  OnnxBuilder control;
  control.input("x", {8});
  control.output("y");
  sample_node(control, "Allocates", {"x"}, {"y"});
  EXPECT_EQ(heap_calls_of(control), 2) << "what an operator allocates is counted";
}

TEST(CustomOperators, CUS_13_AFailureNamesNodeCodeAndMessage) {
  OnnxBuilder model;
  model.input("x", {1});
  model.output("y");
  sample_node(model, "Refuse", {"x"}, {"y"});
  SmallPlan plan(model, sample_options());
  auto session = plan.open();
  ASSERT_TRUE(session.ok());
  EXPECT_EQ(session->run().code(), Code::kOperatorFailed);
  EXPECT_EQ(plan.text(session->diagnostic()),
            "node 0 'Refuse1' (sample:Refuse): refused: line 1\nline 2 of a message that the "
            "operator has made");
}

/// Fails with a code alone where its first element is above a limit.
struct Silent {
  static constexpr OperatorInfo info{
      .domain = "own", .name = "Silent", .inputs = {"x"}, .outputs = {"y"}};
  struct Attributes {
    float limit = 0;
    template <class V>
    void fields(V& v) {
      v("limit", limit);
    }
  };
  static Status run(const Attributes& attributes, Input<float> x, Output<float> y) {
    if (x[0] > attributes.limit) return Code::kInvalidValue;
    std::copy_n(x.data(), x.size(), y.data());
    return {};
  }
};

TEST(CustomOperators, CUS_13_ACodeAloneStillNamesTheNode) {
  OnnxBuilder model;
  model.input("x", {1});
  model.output("y");
  for (const auto& [from, to, limit] : {std::tuple("x", "h", 9.0F), std::tuple("h", "y", 4.0F)}) {
    auto& node = model.node("Silent", {from}, {to});
    node.set_domain("own");
    OnnxBuilder::set(node, "limit", limit);
  }
  SmallPlan plan(model, options_with<OperatorList<Silent>>());
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  for (const auto& [x, node] :
       {std::pair(10.0F, 0), {5.0F, 1}, {1.0F, -1}, {5.0F, 1}, {10.0F, 0}}) {
    write(*session, 0, {x});
    EXPECT_EQ(session->run().code(), node < 0 ? Code::kOk : Code::kInvalidValue) << x;
    if (node < 0) continue;
    const std::string number = std::to_string(node);
    EXPECT_EQ(plan.text(session->diagnostic()), "node " + number + " 'Silent" +
                                                    std::to_string(node + 1) +
                                                    "' (own:Silent): operator failed");
  }
}

TEST(CustomOperators, CUS_13_AMessageCarriesItsNumber) {
  OnnxBuilder model;
  model.input("x", {1});
  model.output("y");
  model.input("o", {}, DataType::kInt64);
  sample_node(model, "Join", {"o", "x", "x"}, {"y"});
  SmallPlan plan(model, sample_options());
  auto session = plan.open();
  ASSERT_TRUE(session.ok());
  session->input<int64_t>(1).value()[0] = -5;
  EXPECT_EQ(session->run().code(), Code::kInvalidValue);
  EXPECT_EQ(plan.text(session->diagnostic()),
            "node 0 'Join1' (sample:Join): offset -5 is negative, operand 0");
}

TEST(CustomOperators, CUS_14_AFreeFunctionAndATypeWithWorkspaceServe) {
  OnnxBuilder model;
  model.input("x", {3});
  model.output("y");
  sample_node(model, "Reverse", {"x"}, {"y"});
  EXPECT_EQ(run_once(model, {1, 2, 3}), (Floats{3, 2, 1}));
  OnnxBuilder empty;
  empty.input("x", {2});
  empty.output("y");
  empty.node("Identity", {"x"}, {"a"});
  sample_node(empty, "Affine", {"a"}, {"y"});
  EXPECT_EQ(run_once(empty, {1, 2}), (Floats{2, 4}));
}

TEST(CustomOperators, CUS_15_RankZeroAndOneElementBindToAScalar) {
  for (const std::vector<int64_t>& extents : {std::vector<int64_t>{}, std::vector<int64_t>{1}}) {
    OnnxBuilder model;
    model.input("x", {1});
    model.output("y");
    const int64_t offset = 2;
    model.initializer("o", DataType::kInt64, extents, &offset, sizeof(offset));
    sample_node(model, "Join", {"o", "x", "x"}, {"y"});
    EXPECT_EQ(run_once(model, {1}), (Floats{3, 3}));
  }
  OnnxBuilder model;
  model.input("x", {1});
  model.output("y");
  const int64_t offsets[] = {2, 3};
  model.initializer("o", DataType::kInt64, {2}, offsets, sizeof(offsets));
  sample_node(model, "Join", {"o", "x", "x"}, {"y"});
  EXPECT_EQ(
      conversion_error(model, sample_options()),
      "node 'Join1' (sample:Join): elements of a scalar of input 0, axis 0: expected 1, found "
      "2");
}

TEST(CustomOperators, APlanWithWrongOutputExtentsIsRefused) {
  OnnxBuilder model;
  model.input("x", {4});
  model.output("y");
  sample_node(model, "Affine", {"x"}, {"y"});
  SmallPlan plan(model, sample_options());
  // The kernel's own check has to notice operands that its shape function contradicts.
  const int32_t three = 3, four = 4;
  const TensorView views[] = {{nullptr, &four, DataType::kFloat, 1},
                              {nullptr, &three, DataType::kFloat, 1}};
  const float factor = 2;
  KernelHost host;
  KernelContext context;
  context.operands_ = views;
  context.input_count_ = 1;
  context.output_count_ = 1;
  context.attributes_ = &factor;
  context.attribute_bytes_ = sizeof(factor);
  context.host_ = &host;
  using Kernel = OperatorKernel<sample::Affine<float>>;
  EXPECT_EQ(Kernel::check(context).code(), Code::kWrongExtent);
  context.attribute_bytes_ = 2;
  EXPECT_EQ(Kernel::check(context).code(), Code::kCorruptPlan);
  EXPECT_EQ(OperatorKernel<sample::Affine<double>>::check(context).code(), Code::kCorruptPlan);
}

TEST(OperatorLibrary, TwoExtensionsThatDefineTheSameAreRefused) {
  const auto extension = [] { return extension_with<sample::Operators>("sample"); };
  EXPECT_THROW(converter::OperatorLibrary({extension(), extension()}), converter::Error);
}

}  // namespace
}  // namespace intarsia::test
