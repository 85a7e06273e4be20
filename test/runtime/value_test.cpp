// SPDX-License-Identifier: Apache-2.0
//
// Values of inputs that a plan is made for: `--value`, and those that a trial gives.
#include "test/runtime/small_plan.h"

namespace intarsia::test {
namespace {

using converter::Constant;
using converter::contains;
using converter::ConvertOptions;
using converter::OnnxBuilder;

/// y: the Fourier transform of x [2,2,1] along `axis`, which is an input.
OnnxBuilder transform() {
  OnnxBuilder model(20);
  model.input("x", {2, 2, 1});
  model.input("axis", {}, DataType::kInt64);
  model.output("y");
  model.node("DFT", {"x", "", "axis"}, {"y"});
  return model;
}

/// y: x as a row if the two elements of n are the same, else as it is.
OnnxBuilder row_or_not() {
  OnnxBuilder model;
  model.input("x", {3});
  symbol(model.input("n", {0}, DataType::kInt64), 0, "count");
  model.output("y");
  const int64_t zero = 0, one = 1;
  model.initializer("zero", DataType::kInt64, {}, &zero, sizeof(zero));
  model.initializer("one", DataType::kInt64, {}, &one, sizeof(one));
  model.initializer("axes", DataType::kInt64, {1}, &zero, sizeof(zero));
  model.node("Gather", {"n", "zero"}, {"a"});
  model.node("Gather", {"n", "one"}, {"b"});
  model.node("Equal", {"a", "b"}, {"same"});
  auto& node = model.node("If", {"same"}, {"y"});
  for (const char* branch : {"then_branch", "else_branch"}) {
    auto& graph = *OnnxBuilder::attribute(node, branch, onnx::AttributeProto::GRAPH).mutable_g();
    graph.set_name(branch);
    if (branch[0] == 't') {
      OnnxBuilder::add_node(*graph.mutable_node(), "Unsqueeze", {"x", "axes"}, {branch});
    } else {
      OnnxBuilder::add_node(*graph.mutable_node(), "Neg", {"x"}, {branch});
    }
    graph.add_output()->set_name(branch);
  }
  return model;
}

/// Runs with the integers as input 1; the text of the failure, or "".
std::string run(SmallPlan& plan, Session& session, const std::vector<int64_t>& integers) {
  const auto input = session.input<int64_t>(1).value();
  EXPECT_EQ(input.size(), integers.size());
  std::copy(integers.begin(), integers.end(), input.begin());
  return session.run() ? "" : plan.text(session.diagnostic());
}

TEST(Value, DecidesTheFormOfANodeAndIsChecked) {
  for (const int64_t axis : {0, 1}) {
    ConvertOptions options;
    options.values["axis"] = std::to_string(axis);
    SmallPlan plan(transform(), options);
    Session session = plan.open().value();
    ASSERT_EQ(session.input_count(), 2);
    write(session, 0, {1, 2, 3, 5});
    EXPECT_EQ(run(plan, session, {axis}), "");
    const std::vector<float> down = {4, 0, 7, 0, -2, 0, -3, 0}, along = {3, 0, -1, 0, 8, 0, -2, 0};
    const std::vector<float> found = read(session, 0);
    ASSERT_EQ(found.size(), 8u);
    for (size_t i = 0; i < 8; ++i) EXPECT_NEAR(found[i], (axis == 0 ? down : along)[i], 1e-6) << i;
    EXPECT_EQ(run(plan, session, {7}),
              "node 0 'axis_check' (intarsia:ValueCheck): value that the plan was made for: "
              "expected " +
                  std::to_string(axis) + ", found 7");
    EXPECT_EQ(session.diagnostic().code, Code::kInvalidValue);
    EXPECT_EQ(run(plan, session, {axis}), "");
  }
}

TEST(Value, IsAskedForWhereItDecides) {
  EXPECT_EQ(conversion_error(transform()),
            "node 'DFT1' (DFT): its axis has to be known; decide it with --value axis=VALUE; --fix "
            "instead of --value takes the input away");
  ConvertOptions options;
  options.shapes["n"] = {2};
  const std::string error = conversion_error(row_or_not(), options);
  EXPECT_CONTAINS(error, "output 0 has rank 2 in one branch ([1,3]) and rank 1 in the other ([3])");
  EXPECT_CONTAINS(error, "decide it with --value n=VALUE");
}

TEST(Value, IsTakenFromATrialWhereItDecides) {
  ConvertOptions options;
  options.shapes["n"] = {2};
  options.probe["x"] = Constant::of<float>({3}, std::vector<float>{1, 2, 3});
  options.probe["n"] = Constant::ints({4, 4});
  SmallPlan plan(row_or_not(), options);
  ASSERT_EQ(plan.conversion.warnings.size(), 1u);
  EXPECT_CONTAINS(plan.conversion.warnings[0], "depends on the value of 'n'");
  Session session = plan.open().value();
  write(session, 0, {1, 2, 3});
  EXPECT_EQ(run(plan, session, {4, 4}), "");
  EXPECT_EQ(session.output_port(0).value().tensor.rank, 2);
  EXPECT_CONTAINS(run(plan, session, {4, 5}), "expected 4, found 5");
}

TEST(Value, AConversionThatBeginsAgainGoesOnInItsProgress) {
  ConvertOptions options;
  options.shapes["n"] = {2};
  options.probe["n"] = Constant::ints({4, 4});
  std::vector<std::string> stages;
  double last = 0;
  options.progress = [&](std::string_view stage, double fraction) {
    stages.emplace_back(stage);
    EXPECT_GE(fraction, last);
    last = fraction;
  };
  const SmallPlan plan(row_or_not(), options);
  EXPECT_EQ(std::count(stages.begin(), stages.end(), "reading"), 2);
  EXPECT_EQ(stages.back(), "done");
  EXPECT_EQ(last, 1);

  // What a listener throws is no failure of the conversion, whatever it is.
  options.progress = [](std::string_view stage, double) {
    if (stage == "inferring") throw converter::Error("enough");
  };
  EXPECT_THROW(SmallPlan(row_or_not(), options), converter::Error);
  options.progress = [](std::string_view stage, double) {
    if (stage == "writing") throw 7;
  };
  EXPECT_THROW(SmallPlan(row_or_not(), options), int);
}

/// y: x, without its axes of extent 1 or transformed along an axis, if the flag is true.
OnnxBuilder in_branch(const char* type, const std::vector<std::string>& inputs) {
  OnnxBuilder model(20);
  model.input("x", {2, 2, 1});
  model.input("n", {1}, DataType::kInt64);
  model.input("axis", {}, DataType::kInt64);
  model.input("flag", {}, DataType::kBool);
  model.output("y");
  model.node("Expand", {"x", "n"}, {"wide"});
  auto& node = model.node("If", {"flag"}, {"y"});
  for (const char* branch : {"then_branch", "else_branch"}) {
    auto& graph = *OnnxBuilder::attribute(node, branch, onnx::AttributeProto::GRAPH).mutable_g();
    graph.set_name(branch);
    if (branch[0] == 't') {
      OnnxBuilder::add_node(*graph.mutable_node(), type, inputs, {branch});
    } else {
      OnnxBuilder::add_node(*graph.mutable_node(), "Concat", {"x", "x"}, {branch});
      OnnxBuilder::set(*graph.mutable_node(0), "axis", int64_t{2});
    }
    graph.add_output()->set_name(branch);
  }
  return model;
}

TEST(Value, IsAskedForInBranchesWhereItDecidesTheNodes) {
  EXPECT_CONTAINS(conversion_error(in_branch("DFT", {"x", "", "axis"})), "--value axis=VALUE");
  ConvertOptions options;
  options.values["axis"] = "0";
  SmallPlan plan(in_branch("DFT", {"x", "", "axis"}), options);
  EXPECT_TRUE(plan.conversion.warnings.empty());
  // Which axes there are is the data's: such a branch may be one that is never taken.
  options = {};
  options.bounds["wide"] = {2, 2, 4};
  SmallPlan other(in_branch("Squeeze", {"wide"}), options);
  ASSERT_EQ(other.conversion.warnings.size(), 1u);
  EXPECT_CONTAINS(other.conversion.warnings[0], "extent that may or may not be 1");
}

TEST(Value, IsAListOfAsManyElementsAsTheInputHas) {
  ConvertOptions options;
  options.values["n"] = "[4,5]";  // gives the extent of the input too
  SmallPlan plan(row_or_not(), options);
  Session session = plan.open().value();
  write(session, 0, {1, 2, 3});
  EXPECT_EQ(run(plan, session, {4, 5}), "");
  EXPECT_EQ(read(session, 0), (std::vector<float>{-1, -2, -3}));

  const auto error = [](const char* text, int64_t extent) {
    ConvertOptions given;
    given.values["n"] = text;
    if (extent > 0) given.shapes["n"] = {extent};
    return conversion_error(row_or_not(), given);
  };
  EXPECT_EQ(error("7", 2), "");
  EXPECT_CONTAINS(error("7", 0), "axis 0 of the input varies");
  EXPECT_CONTAINS(error("[4,5]", 3), "lists 2 elements, the input has 3");
  EXPECT_CONTAINS(error("[4,five]", 0), "--value n=[4,five]: 'five' is no int64");
  EXPECT_CONTAINS(error("[4,5", 2), "'[4,5' is no int64");
  EXPECT_CONTAINS(error("0.5", 2), "'0.5' is no int64");
}

TEST(Value, RefusesWhatIsNoInput) {
  ConvertOptions options;
  options.values["z"] = "1";
  EXPECT_CONTAINS(conversion_error(transform(), options), "--value: the model has no input 'z'");
  options.values = {{"axis", Constant::scalar<float>(1)}};
  EXPECT_CONTAINS(conversion_error(transform(), options),
                  "--value axis: the value holds float, the input is int64");
  options.values = {{"axis", "1"}};
  options.fixed = {{"axis", "1"}};
  EXPECT_CONTAINS(conversion_error(transform(), options), "--fix takes the same input away");
}

TEST(Value, OfRealsAndTruthValuesIsCheckedToTheBit) {
  OnnxBuilder model;
  model.input("x", {2});
  model.input("flag", {}, DataType::kBool);
  model.output("y");
  model.node("Where", {"flag", "x", "x"}, {"y"});
  ConvertOptions options;
  options.values = {{"x", "[0.5,2]"}, {"flag", "true"}};
  SmallPlan plan(model, options);
  Session session = plan.open().value();
  const auto failure = [&](float second, bool flag) {
    write(session, 0, {0.5f, second});
    session.input<bool>(1).value()[0] = flag;
    return session.run() ? "" : plan.text(session.diagnostic());
  };
  EXPECT_EQ(failure(2, true), "");
  EXPECT_EQ(read(session, 0), (std::vector<float>{0.5f, 2}));
  EXPECT_CONTAINS(failure(3, true), "'x_check' (intarsia:ValueCheck): element 1 is not what");
  EXPECT_CONTAINS(failure(2, false), "'flag_check' (intarsia:ValueCheck)");
}

}  // namespace
}  // namespace intarsia::test
