// SPDX-License-Identifier: Apache-2.0
//
// Forms that an operator type may have: what `run` is, what it takes, and what nobody asks for.
#include <gtest/gtest.h>

#include "test/operators/sample_models.h"

namespace intarsia::test {
namespace {

using converter::contains;
using converter::OnnxBuilder;
using Floats = std::vector<float>;

OnnxBuilder unary(const char* type, int64_t extent) {
  OnnxBuilder model;
  model.input("x", {extent});
  model.output("y");
  sample_node(model, type, {"x"}, {"y"});
  return model;
}

TEST(OperatorForms, CUS_04_AnOptionalOutputThatNobodyReadsIsAbsent) {
  // The node names all of them, as exporters do; what is read tells which there are.
  const std::pair<std::vector<std::string>, float> kCases[] = {
      {{"y"}, 0}, {{"y", "one"}, 1}, {{"y", "two"}, 2}, {{"y", "one", "two"}, 3}};
  size_t least = 0;
  for (const auto& [read, expected] : kCases) {
    OnnxBuilder model;
    model.input("x", {256});
    for (const std::string& name : read) model.output(name);
    sample_node(model, "Wanted", {"x"}, {"y", "one", "two"});
    EXPECT_EQ(run_once(model, Floats(256, 5)), Floats(256, expected));
    SmallPlan plan(model, sample_options());
    if (least == 0) least = plan.arena().size();
    EXPECT_EQ(expected != 0, plan.arena().size() >= least + 256 * sizeof(float)) << expected;
  }
  // A node behind it reads; one whose result nobody reads does not.
  OnnxBuilder model;
  model.input("x", {2});
  model.output("y");
  model.output("z");
  sample_node(model, "Wanted", {"x"}, {"y", "one", "two"});
  model.node("Neg", {"two"}, {"z"});
  model.node("Neg", {"one"}, {"unread"});
  EXPECT_EQ(run_once(model, {0, 0}), (Floats{2, 2}));
}

TEST(OperatorForms, CUS_05_VariadicOutputsThatNobodyReadsAreAbsentWhereTheyMayBe) {
  const auto result = [](const char* type) {
    OnnxBuilder model;
    model.input("x", {2});
    model.output("first");
    model.output("third");
    sample_node(model, type, {"x"}, {"first", "second", "third"});
    return run_once(model, {1, 2});
  };
  EXPECT_EQ(result("WantedMultiples"), (Floats{2, 2}));
  EXPECT_EQ(result("Multiples"), (Floats{1, 2}));
}

/// y = the sum of those inputs that are there, each times its place.
struct SumOfGiven {
  static constexpr OperatorInfo info{
      .domain = "forms", .name = "SumOfGiven", .inputs = {"xs"}, .outputs = {"y"}};
  static void run(Variadic<Optional<Input<float>>> xs, Output<float> y) {
    for (int64_t i = 0; i < y.size(); ++i) {
      y[i] = 0;
      for (int k = 0; k < xs.size(); ++k) {
        if (xs[k]) y[i] += static_cast<float>(k) * (*xs[k])[i];
      }
    }
  }
};

TEST(OperatorForms, CUS_05_VariadicInputsMayBeLeftEmptyWhereTheyMayLack) {
  OnnxBuilder model;
  model.input("x", {2});
  model.output("y");
  model.node("SumOfGiven", {"x", "", "x", "", "x"}, {"y"}).set_domain("forms");
  EXPECT_EQ(run_once(model, {1, 2}, options_with<OperatorList<SumOfGiven>>()), (Floats{6, 12}));
}

TEST(OperatorForms, CUS_06_WhereNoKernelFitsTheRegisteredOnesAreListed) {
  EXPECT_EQ(conversion_error(
                [] {
                  OnnxBuilder model;
                  model.input("x", {2}, DataType::kInt64);
                  model.output("y");
                  sample_node(model, "Affine", {"x"}, {"y"});
                  return model;
                }(),
                sample_options()),
            "node 'Affine1' (sample:Affine): 'x' (x) has type int64, which the operator does not "
            "allow; it allows float, int32, float16, double");
  const auto pick = [](DataType element, DataType index) {
    OnnxBuilder model;
    model.input("x", {2}, element);
    model.input("i", {}, index);
    model.output("y");
    sample_node(model, "Pick", {"x", "i"}, {"y"});
    return conversion_error(model, sample_options());
  };
  EXPECT_EQ(pick(DataType::kFloat, DataType::kInt32), "");
  EXPECT_EQ(pick(DataType::kDouble, DataType::kInt64), "");
  EXPECT_EQ(pick(DataType::kFloat, DataType::kInt64),
            "node 'Pick1' (sample:Pick): no kernel for T = float, I = int64; there are kernels for "
            "T = double, I = int64; T = float, I = int32");
}

TEST(OperatorForms, CUS_10_CreateSeesTheExtentsAndMayRefuse) {
  EXPECT_EQ(run_once(unary("AddsLength", 3), {1, 2, 3}), (Floats{4, 5, 6}));
  SmallPlan plan(unary("AddsLength", 101), sample_options());
  EXPECT_EQ(plan.open().status().code(), Code::kUnsupported);
  EXPECT_EQ(plan.text(plan.diagnostic),
            "node 0 'AddsLength1' (sample:AddsLength): length: expected 100, found 101");
}

TEST(OperatorForms, CUS_10_CreateSeesTheElementsOfConstantInputsAlone) {
  const auto options = options_with<sample::Reluctant>();
  OnnxBuilder model;
  model.input("x", {2});
  model.output("y");
  model.floats("table", {3}, {1, 10, 100});
  sample_node(model, "Prepared", {"x", "table"}, {"y"});
  EXPECT_EQ(run_once(model, {1, 2}, options), (Floats{111, 222}));
  OnnxBuilder varying;
  varying.input("x", {2});
  varying.input("table", {3});
  varying.output("y");
  sample_node(varying, "Prepared", {"x", "table"}, {"y"});
  SmallPlan plan(varying, options);
  EXPECT_EQ(plan.open().status().code(), Code::kUnsupported);
  EXPECT_EQ(plan.text(plan.diagnostic),
            "node 0 'Prepared1' (sample:Prepared): the table is not constant, operand 1");
}

TEST(OperatorForms, CUS_12_VersionsBelowAndBetweenAreErrors) {
  for (const int version : {1, 4}) {
    OnnxBuilder model;
    model.input("x", {1});
    model.output("y");
    sample_node(model, "Versioned", {"x"}, {"y"}, version);
    EXPECT_CONTAINS(conversion_error(model, sample_options()),
                    "the operator sample:Versioned(" + std::to_string(version) +
                        ") is not supported; it is registered for versions 2 to 3, 5 and later");
  }
}

TEST(OperatorForms, CUS_14_FunctionsAndMembersServe) {
  EXPECT_EQ(run_once(unary("Halve", 2), {3, 5}), (Floats{1.5F, 2.5F})) << "a free function";
  EXPECT_EQ(run_once(unary("AddsLength", 2), {3, 5}), (Floats{5, 7})) << "a constant member";
}

TEST(OperatorForms, CUS_15_EveryTypeBindsToAScalarOfRankZeroAndOne) {
  const auto model = [](const std::vector<int64_t>& extents) {
    OnnxBuilder result;
    result.input("x", {2});
    result.output("y");
    result.input("f", extents);
    result.input("d", extents, DataType::kDouble);
    result.input("h", extents, DataType::kFloat16);
    result.input("i", extents, DataType::kInt32);
    result.input("b", extents, DataType::kBool);
    sample_node(result, "Scalars", {"x", "f", "d", "h", "i", "b"}, {"y"});
    return result;
  };
  for (const std::vector<int64_t>& extents : {std::vector<int64_t>{}, {1}}) {
    SmallPlan plan(model(extents), sample_options());
    auto session = plan.open();
    ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
    write(*session, 0, {1, -2});
    write(*session, 1, {0.25F});
    session->input<double>(2).value()[0] = 0.5;
    session->input<Float16>(3).value()[0] = Float16(2.0F);
    session->input<int32_t>(4).value()[0] = -3;
    // A bool of a caller may be any byte.
    *static_cast<uint8_t*>(session->input_port(5)->tensor.data) = 2;
    ASSERT_TRUE(session->run().ok()) << plan.text(session->diagnostic());
    EXPECT_EQ(read(*session, 0), (Floats{99.75F, -199.5F}));
  }
  EXPECT_EQ(conversion_error(model({1, 1}), sample_options()),
            "node 'Scalars1' (sample:Scalars): rank of a scalar of input 1: expected 0, found 2");
  EXPECT_CONTAINS(conversion_error(model({2}), sample_options()),
                  "elements of a scalar of input 1, axis 0: expected 1, found 2");
}

TEST(OperatorForms, CUS_15_AnExtentThatVariesHasToBeOneInEachRun) {
  OnnxBuilder model;
  model.input("x", {2});
  symbol(model.input("i", {0}, DataType::kInt32), 0, "n");
  model.output("y");
  sample_node(model, "Pick", {"x", "i"}, {"y"});
  converter::ConvertOptions options = sample_options();
  options.dims["n"] = converter::DimRange{0, 2};
  SmallPlan plan(model, options);
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  for (const int32_t n : {2, 0}) {
    ASSERT_TRUE(session->resize_input(1, std::array{n}).ok());
    EXPECT_EQ(session->run().code(), Code::kWrongExtent) << n;
    EXPECT_CONTAINS(plan.text(session->diagnostic()), "elements of a scalar, operand 1, axis 0");
  }
  ASSERT_TRUE(session->resize_input(1, std::array{1}).ok());
  write(*session, 0, {7, 8});
  session->input<int32_t>(1).value()[0] = 1;
  ASSERT_TRUE(session->run().ok()) << plan.text(session->diagnostic());
  EXPECT_EQ(read(*session, 0), Floats{8});
}

}  // namespace
}  // namespace intarsia::test
