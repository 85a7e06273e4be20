// SPDX-License-Identifier: Apache-2.0
//
// What the operator Gradient means: names, values given in their place, several readers, gradients
// of gradients, and what is refused. The rules of operators: gradient_rules_test.cpp.
#include <array>

#include "test/converter/gradient_models.h"

namespace intarsia::test {
namespace {

using converter::contains;
using converter::OnnxBuilder;

/// A node without a gradient rule whose result is its input, an image of these extents.
onnx::NodeProto& add_regions(OnnxBuilder& model, const char* input, const char* output,
                             const std::vector<int64_t>& extents) {
  model.floats("whole", {1, 5},
               {0, 0, 0, static_cast<float>(extents[1] - 1), static_cast<float>(extents[0] - 1)});
  auto& node = model.node("MaxRoiPool", {input, "whole"}, {output});
  OnnxBuilder::set(node, "pooled_shape", extents);
  return node;
}

// -- Values
// ---------------------------------------------------------------------------------------

/// y = a * a * b + a.
OnnxBuilder square(const Names& inputs = {"a", "b"}) {
  OnnxBuilder model = model_of(inputs);
  model.node("Mul", {"a", "a"}, {"aa"});
  model.node("Mul", {"aa", "b"}, {"p"});
  model.node("Add", {"p", "a"}, {"y"});
  return model;
}

TEST(Gradient, SumsOverTheReadersOfAValue) {
  const auto model = with_gradient(square(), {"a", "b"}, {"da", "db"}, {"a", "b"}, "y");
  const auto found = run(model, {{2, 3}, {5, 7}});
  EXPECT_EQ(found.at(0), (Floats{21, 43}));  // 2ab + 1
  EXPECT_EQ(found.at(1), (Floats{4, 9}));
}

TEST(Gradient, LeavesOutWhatNobodyWants) {
  const auto model = with_gradient(square(), {"a", "b"}, {"", "db"}, {"a", "b"}, "y");
  EXPECT_EQ(run(model, {{2, 3}, {5, 7}}).at(0), (Floats{4, 9}));
  // One product for b, none for a.
  EXPECT_EQ(expanded(model), "Mul Mul Add Shape Expand Mul");
}

TEST(Gradient, IsSummedOverWhatWasBroadcast) {
  OnnxBuilder model = model_of({"x"}, {2, 3});
  model.input("s", {});
  model.input("c", {2, 1});
  model.node("Mul", {"x", "s"}, {"p"});
  model.node("Sub", {"p", "c"}, {"y"});
  const auto found =
      run(with_gradient(model, {"s", "c", "x"}, {"ds", "dc", "dx"}, {"s", "c", "x"}, "y"),
          {{1, 2, 3, 4, 5, 6}, {2}, {0, 0}});
  EXPECT_EQ(found.at(0), (Floats{21}));
  EXPECT_EQ(found.at(1), (Floats{-3, -3}));
  EXPECT_EQ(found.at(2), (Floats{2, 2, 2, 2, 2, 2}));
}

TEST(Gradient, OfWhatDoesNotMatterIsZero) {
  OnnxBuilder model = model_of({"a", "b"});
  model.node("Exp", {"a"}, {"y"});
  // By way of integers.
  OnnxBuilder::set(model.node("Cast", {"b"}, {"i"}), "to", static_cast<int64_t>(DataType::kInt32));
  OnnxBuilder::set(model.node("Cast", {"i"}, {"f"}), "to", static_cast<int64_t>(DataType::kFloat));
  model.node("Add", {"y", "f"}, {"z"});
  const auto found =
      run(with_gradient(model, {"a", "b"}, {"da", "db"}, {"a", "b"}, "z"), {{0, 0}, {3, 4}});
  EXPECT_EQ(found.at(0), (Floats{1, 1}));
  EXPECT_EQ(found.at(1), (Floats{0, 0}));
}

TEST(Gradient, OfAValueByItself) {
  const auto model = with_gradient(model_of({"a"}), {"a"}, {"da"}, {"a"}, "a");
  EXPECT_EQ(run(model, {{5, 6}}).at(0), (Floats{1, 1}));
}

TEST(Gradient, HasTheTypeOfItsOperand) {
  OnnxBuilder model = model_of({"a"});
  OnnxBuilder::set(model.node("Cast", {"a"}, {"d"}), "to", static_cast<int64_t>(DataType::kDouble));
  model.node("Mul", {"d", "d"}, {"y"});
  EXPECT_EQ(run(with_gradient(model, {"a"}, {"da"}, {"a"}, "y"), {{3, 4}}).at(0), (Floats{6, 8}));
}

TEST(Gradient, StandsBeforeTheNodesThatItDifferentiates) {
  OnnxBuilder model = model_of({"a"});
  add_gradient(*model.graph().mutable_node(), {"a"}, {"da"}, {"a"}, "y");
  model.node("Mul", {"a", "a"}, {"y"});
  model.output("da");
  EXPECT_EQ(run(model, {{3, 4}}).at(0), (Floats{6, 8}));
}

TEST(Gradient, OfAGradient) {
  OnnxBuilder model = model_of({"a"});
  model.floats("three", {}, {3});
  model.node("Pow", {"a", "three"}, {"y"});
  auto& nodes = *model.graph().mutable_node();
  // The later one first: it needs the other.
  add_gradient(nodes, {"a"}, {"d3"}, {"a"}, "d2");
  add_gradient(nodes, {"a"}, {"d2"}, {"a"}, "d1");
  add_gradient(nodes, {"a"}, {"d1"}, {"a"}, "y");
  for (const char* name : {"d1", "d2", "d3"}) model.output(name);
  const auto found = run(model, {{2, -1}});
  EXPECT_EQ(found.at(0), (Floats{12, 3}));
  EXPECT_EQ(found.at(1), (Floats{12, -6}));
  EXPECT_EQ(found.at(2), (Floats{6, 6}));
}

TEST(Gradient, WithoutPasses) {
  converter::ConvertOptions options;
  options.passes = {};
  SmallPlan plan(with_gradient(square(), {"a", "b"}, {"da"}, {"a", "b"}, "y"), options);
  Session session = plan.open().value();
  write(session, 0, {2, 3});
  write(session, 1, {5, 7});
  ASSERT_TRUE(session.run().ok()) << plan.text(session.diagnostic());
  EXPECT_EQ(read(session, 0), (Floats{21, 43}));
}

TEST(Gradient, AtExtentsThatVary) {
  OnnxBuilder model(28);
  model.import_opset("ai.onnx.preview.training", 1);
  symbol(model.input("x", {0, 2}), 0, "N");
  model.floats("w", {2, 1}, {3, -1});
  model.floats("b", {1}, {0});
  model.node("MatMul", {"x", "w"}, {"p"});
  model.node("Add", {"p", "b"}, {"q"});
  model.node("ReduceMean", {"q"}, {"y"});
  const auto whole =
      with_gradient(model, {"w", "b", "x"}, {"dw", "db", "dx"}, {"w", "b", "x"}, "y");
  converter::ConvertOptions options;
  options.dims["N"] = converter::DimRange{1, 4};
  SmallPlan plan(whole, options);
  Session session = plan.open().value();
  for (const int32_t n : {1, 4, 2}) {
    ASSERT_TRUE(session.resize_input(0, std::array<int32_t, 2>{n, 2}).ok());
    Floats x;
    for (int32_t i = 0; i < 2 * n; ++i) x.push_back(static_cast<float>(i));
    write(session, 0, x);
    ASSERT_TRUE(session.run().ok()) << plan.text(session.diagnostic());
    const auto mean = static_cast<float>(n - 1);  // of the even numbers
    EXPECT_EQ(read(session, 0), (Floats{mean, mean + 1}));
    EXPECT_EQ(read(session, 1), (Floats{1}));
    const Floats dx = read(session, 2);
    ASSERT_EQ(dx.size(), x.size());
    EXPECT_FLOAT_EQ(dx[0], 3 / static_cast<float>(n));
    EXPECT_FLOAT_EQ(dx[1], -1 / static_cast<float>(n));
  }
}

/// Those of LayerNormalization but the first are float whatever the input is.
TEST(Gradient, OfStatistics) {
  OnnxBuilder model = model_of({"x"}, {1, 2});
  model.floats("scale", {2}, {1, 1});
  auto& node = model.node("LayerNormalization", {"x", "scale"}, {"n", "mean", "inverse"});
  OnnxBuilder::set(node, "epsilon", 0.0F);
  model.node("Mul", {"inverse", "inverse"}, {"square"});
  model.node("Add", {"mean", "square"}, {"y"});
  // 1 / variance = 4 / (a - b)^2: its slope is -8 / (a - b)^3.
  EXPECT_EQ(run(with_gradient(model, {"x"}, {"dx"}, {"x"}, "y"), {{1, 3}}).at(0),
            (Floats{0.5F + 1, 0.5F - 1}));
}

/// A formula's gradient by a value that is two of its inputs.
TEST(Gradient, OfAFormulaByAValueThatItReadsTwice) {
  OnnxBuilder model = model_of({"s"}, {1});
  model.floats("x", {1, 1, 2}, {1, 3});
  OnnxBuilder::set(model.node("InstanceNormalization", {"x", "s", "s"}, {"y"}), "epsilon", 0.0F);
  // y = {-1, 1} s + s
  EXPECT_EQ(run(with_gradient(model, {"s"}, {"ds"}, {"s"}, "y"), {{5}}).at(0), (Floats{2}));
}

/// The extents of the windows, of the image and of the padding are computed.
TEST(Gradient, OfWindowsOverImagesThatVary) {
  const auto derivative = [](bool varies, const char* padding, int64_t stride, int32_t extent) {
    OnnxBuilder model(28);
    model.import_opset("ai.onnx.preview.training", 1);
    auto& input = model.input("x", {1, 2, varies ? 0 : extent});
    if (varies) symbol(input, 2, "N");
    model.input("w", {2, 1, 3});
    auto& conv = model.node("Conv", {"x", "w"}, {"c"});
    OnnxBuilder::set(conv, "group", int64_t{2});
    OnnxBuilder::set(conv, "auto_pad", padding);
    OnnxBuilder::set(conv, "strides", std::vector<int64_t>{stride});
    model.node("Mul", {"c", "c"}, {"cc"});
    auto& pool = model.node("AveragePool", {"cc"}, {"p"});
    OnnxBuilder::set(pool, "kernel_shape", std::vector<int64_t>{2});
    OnnxBuilder::set(pool, "strides", std::vector<int64_t>{2});
    OnnxBuilder::set(pool, "ceil_mode", int64_t{1});
    model.node("Mul", {"p", "p"}, {"y"});
    converter::ConvertOptions options;
    if (varies) options.dims["N"] = converter::DimRange{3, 12};
    SmallPlan plan(with_gradient(model, {"x", "w"}, {"dx", "dw"}, {"x", "w"}, "y"), options);
    if (testing::Test::HasFailure()) return std::pair(Floats{}, Floats{});
    Session session = plan.open().value();
    if (varies) {
      EXPECT_TRUE(session.resize_input(0, std::array<int32_t, 3>{1, 2, extent}).ok());
    }
    Floats x;
    for (int32_t i = 0; i < 2 * extent; ++i) x.push_back(static_cast<float>(i % 5 - 1));
    write(session, 0, x);
    write(session, 1, {1, -2, 3, 2, 0, -1});
    EXPECT_TRUE(session.run().ok()) << plan.text(session.diagnostic());
    return std::pair(read(session, 0), read(session, 1));
  };
  for (const char* padding : {"VALID", "SAME_UPPER", "SAME_LOWER"}) {
    for (const int64_t stride : {1, 2, 3}) {
      for (const int32_t extent : {3, 8, 12, 5}) {
        SCOPED_TRACE(std::string(padding) + ", stride " + std::to_string(stride) + ", extent " +
                     std::to_string(extent));
        EXPECT_EQ(derivative(true, padding, stride, extent),
                  derivative(false, padding, stride, extent));
      }
    }
  }
}

// -- Names
// ---------------------------------------------------------------------------------------

TEST(Gradient, ByAnIntermediateValue) {
  OnnxBuilder model = model_of({"w"});
  model.node("Exp", {"w"}, {"h"});
  model.node("Mul", {"h", "h"}, {"hh"});
  model.node("Mul", {"hh", "w"}, {"y"});
  const auto found = run(with_gradient(model, {"h", "w"}, {"dh", "dw"}, {"h", "w"}, "y"), {{0, 0}});
  EXPECT_EQ(found.at(0), (Floats{0, 0}));
  EXPECT_EQ(found.at(1), (Floats{1, 1})) << "h does not count as a function of w";
}

TEST(Gradient, BehindANodeWithoutARule) {
  OnnxBuilder model = model_of({"x"}, {1, 1, 1, 2});
  add_regions(model, "x", "h", {1, 2});
  model.node("Mul", {"h", "x"}, {"y"});
  const auto found = run(with_gradient(model, {"h", "x"}, {"dh"}, {"h", "x"}, "y"), {{3, 4}});
  EXPECT_EQ(found.at(0), (Floats{3, 4}));
  EXPECT_EQ(conversion_error(with_gradient(model, {"h", "x"}, {"dh", "dx"}, {"h", "x"}, "y")), "");
}

TEST(Gradient, ByOneOfSeveralOutputs) {
  OnnxBuilder model = model_of({"w"}, {4});
  model.node("Split", {"w"}, {"p", "q"});
  OnnxBuilder::set(*model.graph().mutable_node(0), "num_outputs", int64_t{2});
  model.node("Mul", {"p", "q"}, {"y"});
  const std::vector<Floats> w = {{2, 3, 5, 7}};
  auto found = run(with_gradient(model, {"w", "p"}, {"dw", "dp"}, {"w", "p"}, "y"), w);
  EXPECT_EQ(found.at(0), (Floats{0, 0, 2, 3})) << "p does not count as a part of w";
  EXPECT_EQ(found.at(1), (Floats{5, 7}));
  const auto fixed = with_gradient(model, {"w", "p"}, {"dw"}, {"w"}, "y", {"p"});
  EXPECT_EQ(run(fixed, w).at(0), (Floats{0, 0, 2, 3}));
  // One product, for q.
  EXPECT_EQ(expanded(fixed), "Split Mul Shape Expand Mul Shape Expand Concat");
}

TEST(Gradient, AtOtherValues) {
  // a at c, b as it is.
  const auto one =
      with_gradient(square({"a", "b", "c"}), {"c", "b"}, {"da", "db"}, {"a", "b"}, "y");
  const auto found = run(one, {{2, 3}, {5, 7}, {10, 20}});
  EXPECT_EQ(found.at(0), (Floats{101, 281}));
  EXPECT_EQ(found.at(1), (Floats{100, 400}));
  // Both at b, each for itself.
  const auto same = with_gradient(square(), {"b", "b"}, {"da", "db"}, {"a", "b"}, "y");
  const auto both = run(same, {{2, 3}, {5, 7}});
  EXPECT_EQ(both.at(0), (Floats{51, 99}));
  EXPECT_EQ(both.at(1), (Floats{25, 49}));
  // One that is not differentiated, of other extents.
  OnnxBuilder other = square();
  other.input("s", {});
  EXPECT_EQ(run(with_gradient(other, {"a", "s"}, {"da"}, {"a"}, "y", {"b"}), {{2, 3}, {5, 7}, {10}})
                .at(0),
            (Floats{41, 61}));
}

TEST(Gradient, InAFunction) {
  OnnxBuilder model = model_of({"y"});
  model.import_opset("local", 1);
  auto& function = *model.model.add_functions();
  function.set_name("Slope");
  function.set_domain("local");
  function.add_input("a");
  function.add_output("da");
  for (const auto& import : model.model.opset_import()) *function.add_opset_import() = import;
  OnnxBuilder::add_node(*function.mutable_node(), "Mul", {"a", "a"}, {"y"});
  add_gradient(*function.mutable_node(), {"a"}, {"da"}, {"a"}, "y");
  for (const char* name : {"d1", "d2"}) {
    model.node("Slope", {"y"}, {name}).set_domain("local");
    model.output(name);
  }
  const auto found = run(model, {{3, 4}});
  EXPECT_EQ(found.at(0), (Floats{6, 8}));
  EXPECT_EQ(found.at(1), (Floats{6, 8}));
}

TEST(Gradient, InABranch) {
  OnnxBuilder model = model_of({"a"});
  model.input("c", {}, DataType::kBool);
  model.node("Mul", {"a", "a"}, {"y"});
  auto& node = model.node("If", {"c"}, {"r"});
  auto& then_branch =
      *OnnxBuilder::attribute(node, "then_branch", onnx::AttributeProto::GRAPH).mutable_g();
  OnnxBuilder::add_node(*then_branch.mutable_node(), "Mul", {"y", "a"}, {"cube"});
  add_gradient(*then_branch.mutable_node(), {"a"}, {"d"}, {"a"}, "cube");
  then_branch.add_output()->set_name("d");
  auto& else_branch =
      *OnnxBuilder::attribute(node, "else_branch", onnx::AttributeProto::GRAPH).mutable_g();
  add_gradient(*else_branch.mutable_node(), {"a"}, {"e"}, {"a"}, "y");
  else_branch.add_output()->set_name("e");
  model.output("r");
  SmallPlan plan(model);
  Session session = plan.open().value();
  for (const bool taken : {true, false}) {
    write(session, 0, {2, 3});
    *session.input<bool>(1).value().data() = taken;
    ASSERT_TRUE(session.run().ok()) << plan.text(session.diagnostic());
    EXPECT_EQ(read(session, 0), taken ? (Floats{12, 27}) : (Floats{4, 6}));
  }
}

// -- Where a function bends
// ---------------------------------------------------------------------------------------

/// y = data with updates at 0, 0 and 2.
OnnxBuilder scattered(const char* reduction, bool tuples) {
  OnnxBuilder model = model_of({"data", "updates"}, {3});
  const int64_t at[] = {0, 0, 2};
  const std::vector<int64_t> extents =
      tuples ? std::vector<int64_t>{3, 1} : std::vector<int64_t>{3};
  model.initializer("at", DataType::kInt64, extents, at, sizeof(at));
  auto& node =
      model.node(tuples ? "ScatterND" : "ScatterElements", {"data", "at", "updates"}, {"y"});
  OnnxBuilder::set(node, "reduction", reduction);
  const Names both{"data", "updates"};
  return with_gradient(model, both, {"d_data", "d_updates"}, both, "y");
}

TEST(Gradient, OfAProductWithZeros) {
  for (const bool tuples : {false, true}) {
    const OnnxBuilder model = scattered("mul", tuples);
    auto found = run(model, {{2, 3, 5}, {4, 7, 11}});
    EXPECT_EQ(found.at(0), (Floats{28, 1, 11}));
    EXPECT_EQ(found.at(1), (Floats{14, 8, 5}));
    found = run(model, {{2, 3, 5}, {0, 7, 0}});
    EXPECT_EQ(found.at(0), (Floats{0, 1, 0}));
    EXPECT_EQ(found.at(1), (Floats{14, 0, 5})) << "one zero";
    found = run(model, {{2, 3, 0}, {0, 0, 11}});
    EXPECT_EQ(found.at(0), (Floats{0, 1, 11}));
    EXPECT_EQ(found.at(1), (Floats{0, 0, 0})) << "two of them, and one in the data";
  }
}

/// Products that are 0 have slopes by what makes them so.
TEST(Gradient, OfTheGradientOfAProductWithZeros) {
  for (const bool tuples : {false, true}) {
    OnnxBuilder model = scattered("mul", tuples);
    // Linear in all gradients, each with a weight of its own.
    model.floats("weights", {3}, {2, 3, 1});
    model.node("Mul", {"d_updates", "weights"}, {"weighted"});
    model.node("Add", {"d_data", "weighted"}, {"z"});
    const Names both{"data", "updates"};
    model = with_gradient(model, both, {"dd_data", "dd_updates"}, both, "z");
    // y = d u v, c, e w: z sums up to u v + 1 + w + 2 d v + 3 d u + e.
    const auto expected = [](const Floats& data, const Floats& updates) {
      const float d = data[0], u = updates[0], v = updates[1];
      return std::pair(Floats{2 * v + 3 * u, 0, 1}, Floats{v + 3 * d, u + 2 * d, 1});
    };
    for (const Floats& updates :
         {Floats{4, 7, 11}, Floats{0, 7, 0}, Floats{4, 0, 1}, Floats{0, 0, 0}}) {
      for (const Floats& data : {Floats{2, 3, 5}, Floats{0, 3, 0}}) {
        const auto found = run(model, {data, updates});
        const auto [dd_data, dd_updates] = expected(data, updates);
        EXPECT_EQ(found.at(2), dd_data) << updates[0] << ' ' << updates[1];
        EXPECT_EQ(found.at(3), dd_updates) << updates[0] << ' ' << updates[1];
      }
    }
  }
}

TEST(Gradient, OfAnExtremeThatSeveralReach) {
  for (const bool tuples : {false, true}) {
    for (const float sign : {1.0F, -1.0F}) {
      const OnnxBuilder model = scattered(sign > 0 ? "max" : "min", tuples);
      const auto of = [&](Floats data, Floats updates) {
        for (Floats* values : {&data, &updates}) {
          for (float& value : *values) value *= sign;
        }
        return run(model, {data, updates});
      };
      auto found = of({5, 3, 1}, {5, 5, 2});
      EXPECT_EQ(found.at(0), (Floats{1.0F / 3, 1, 0}));
      EXPECT_EQ(found.at(1), (Floats{1.0F / 3, 1.0F / 3, 1}));
      found = of({1, 3, 4}, {6, 6, 4});
      EXPECT_EQ(found.at(0), (Floats{0, 1, 0.5F}));
      EXPECT_EQ(found.at(1), (Floats{0.5F, 0.5F, 0.5F}));
    }
  }
}

/// On an element the slope is that of what follows, as everywhere else in its piece: grids that
/// begin as the identity lie on elements.
TEST(Gradient, OfAGridOnTheElements) {
  const auto gradients = [](const char* padding, const Floats& grid, const char* mode = "linear") {
    OnnxBuilder model(28);
    model.import_opset("ai.onnx.preview.training", 1);
    model.input("image", {1, 1, 3});
    model.input("grid", {1, 3, 1});
    auto& node = model.node("GridSample", {"image", "grid"}, {"y"});
    OnnxBuilder::set(node, "align_corners", int64_t{1});
    OnnxBuilder::set(node, "padding_mode", padding);
    OnnxBuilder::set(node, "mode", mode);
    const Names both{"image", "grid"};
    return run(with_gradient(model, both, {"d_image", "d_grid"}, both, "y"), {{1, 4, 9}, grid});
  };
  auto found = gradients("border", {-1, 0, 1});
  EXPECT_EQ(found.at(0), (Floats{1, 1, 1}));
  EXPECT_EQ(found.at(1), (Floats{3, 5, 0}));
  EXPECT_EQ(gradients("zeros", {-1, 0, 1}).at(1), (Floats{3, 5, -9}));
  found = gradients("zeros", {-3, NAN, 5});
  EXPECT_EQ(found.at(0), (Floats{0, 0, 0})) << "outside";
  EXPECT_EQ(found.at(1), (Floats{0, 0, 0}));
  EXPECT_EQ(gradients("reflection", {0.5F, 1.5F, 2.5F}).at(1), (Floats{5, -5, -3}));
  found = gradients("border", {-0.4F, 0.6F, 1}, "nearest");
  EXPECT_EQ(found.at(0), (Floats{0, 1, 2}));
  EXPECT_EQ(found.at(1), (Floats{0, 0, 0}));
}

// -- What is refused
// ---------------------------------------------------------------------------------------

TEST(Gradient, OFK_10_NamesEachNodeWithoutARule) {
  OnnxBuilder model = model_of({"x"}, {1, 1, 4, 4});
  add_regions(model, "x", "n", {4, 4}).set_name("region");
  model.node("Exp", {"n"}, {"e"});
  model.node("MaxRoiPool", {"e", "whole"}, {"unused"}).set_name("unused");
  model.node("MaxRoiPool", {"e", "whole"}, {"y"}).set_name("weighted");
  for (int i : {2, 3}) {
    OnnxBuilder::set(*model.graph().mutable_node(i), "pooled_shape", std::vector<int64_t>{4, 4});
  }
  const std::string text = conversion_error(with_gradient(model, {"x"}, {"dx"}, {"x"}, "y"));
  EXPECT_CONTAINS(text,
                  "node 'weighted' (MaxRoiPool): the operator has no gradient rule, but 'Gradient");
  EXPECT_CONTAINS(text, "asks for the gradient of 'y' by 'x'");
  EXPECT_CONTAINS(text, "node 'region' (MaxRoiPool): the operator has no gradient rule");
  EXPECT_FALSE(contains(text, "Exp") || contains(text, "unused")) << text;
}

/// What goes through a sequence of unknown elements would be a gradient that is a sequence, which
/// nothing adds up.
TEST(Gradient, OFK_10_NamesOperatorsOfSequences) {
  OnnxBuilder model = model_of({"x", "w"}, {4});
  model.input("at", {}, DataType::kInt64);
  model.node("SplitToSequence", {"x"}, {"parts"}).set_name("cut");
  model.node("SequenceInsert", {"parts", "w", "at"}, {"more"}).set_name("put");
  OnnxBuilder::set(model.node("ConcatFromSequence", {"more"}, {"y"}), "axis", int64_t{0});
  model.graph().mutable_node(2)->set_name("join");
  const std::string text = conversion_error(with_gradient(model, {"x"}, {"dx"}, {"x"}, "y"));
  for (const char* node :
       {"'cut' (SplitToSequence)", "'put' (SequenceInsert)", "'join' (ConcatFromSequence)"}) {
    EXPECT_CONTAINS(text, std::string("node ") + node + ": the operator has no gradient rule");
  }
}

/// Elements of known places are values like others.
TEST(Gradient, OFK_10_GoesThroughSequencesOfKnownElements) {
  OnnxBuilder model = model_of({"x", "w"}, {4});
  model.node("SplitToSequence", {"x"}, {"parts"});
  model.node("SequenceInsert", {"parts", "w"}, {"more"});
  OnnxBuilder::set(model.node("ConcatFromSequence", {"more"}, {"all"}), "axis", int64_t{0});
  model.node("Mul", {"all", "all"}, {"y"});
  const auto found = run(with_gradient(model, {"x", "w"}, {"dx", "dw"}, {"x", "w"}, "y"),
                         {{1, 2, 3, 4}, {5, 6, 7, 8}});
  EXPECT_EQ(found.at(0), (Floats{2, 4, 6, 8}));
  EXPECT_EQ(found.at(1), (Floats{10, 12, 14, 16}));
}

TEST(Gradient, OFK_10_NamesAnInputWithoutAGradient) {
  OnnxBuilder model = model_of({"x"}, {3});
  model.input("v", {});
  const int64_t pads[] = {1, 1};
  model.initializer("pads", DataType::kInt64, {2}, pads, sizeof(pads));
  model.node("Pad", {"x", "pads", "v"}, {"y"}).set_name("frame");
  EXPECT_EQ(conversion_error(with_gradient(model, {"x"}, {"dx"}, {"x"}, "y")), "");
  EXPECT_CONTAINS(conversion_error(with_gradient(model, {"v"}, {"dv"}, {"v"}, "y")),
                  "node 'frame' (Pad): its gradient: input 2 ('constant_value') has none");
}

TEST(Gradient, OFK_10_SaysWhatARuleDoesNotCover) {
  OnnxBuilder resized = model_of({"x"}, {1, 1, 2, 2});
  const int64_t sizes[] = {1, 1, 4, 3};
  resized.initializer("sizes", DataType::kInt64, {4}, sizes, sizeof(sizes));
  auto& resize = resized.node("Resize", {"x", "", "", "sizes"}, {"y"});
  OnnxBuilder::set(resize, "mode", "linear");
  OnnxBuilder::set(resize, "keep_aspect_ratio_policy", "not_larger");
  EXPECT_CONTAINS(conversion_error(with_gradient(resized, {"x"}, {"dx"}, {"x"}, "y")),
                  "(Resize): its gradient: keep_aspect_ratio_policy has to be \"stretch\" but for "
                  "mode \"nearest\"");
  OnnxBuilder aligned = model_of({"x"}, {1, 1, 2, 2});
  aligned.input("rois", {1, 4});
  aligned.initializer("of", DataType::kInt64, {1}, std::array<int64_t, 1>{0}.data(), 8);
  auto& align = aligned.node("RoiAlign", {"x", "rois", "of"}, {"y"});
  EXPECT_CONTAINS(
      conversion_error(with_gradient(aligned, {"rois"}, {"d"}, {"rois"}, "y")),
      "(RoiAlign): its gradient: regions ('rois') have none; let them depend on nothing "
      "that is differentiated");
  EXPECT_EQ(conversion_error(with_gradient(aligned, {"x"}, {"dx"}, {"x"}, "y")), "");
  OnnxBuilder::set(align, "mode", "max");
  EXPECT_CONTAINS(conversion_error(with_gradient(aligned, {"x"}, {"dx"}, {"x"}, "y")),
                  "(RoiAlign): its gradient: mode has to be \"avg\"");
  OnnxBuilder cumulated = model_of({"x"});
  cumulated.input("axis", {}, DataType::kInt64);
  cumulated.node("CumProd", {"x", "axis"}, {"y"});
  EXPECT_CONTAINS(conversion_error(with_gradient(cumulated, {"x"}, {"dx"}, {"x"}, "y")),
                  "(CumProd): its gradient: the axis has to be known");
}

TEST(Gradient, RefusesWhatItCannotMean) {
  const auto error = [](const Names& inputs, const Names& outputs, const Names& xs, const char* y,
                        const Names& zs = {}) {
    OnnxBuilder model = square();
    model.input("n", {2}, DataType::kInt64);
    return conversion_error(with_gradient(model, inputs, outputs, xs, y, zs));
  };
  EXPECT_CONTAINS(error({"a"}, {"da"}, {"a"}, "q"),
                  "attribute 'y' names 'q', which is no value of the graph");
  EXPECT_CONTAINS(error({"a"}, {"da"}, {"q"}, "y"), "attribute 'xs' names 'q'");
  EXPECT_CONTAINS(error({"a"}, {"da"}, {"a"}, "y", {"q"}), "attribute 'zs' names 'q'");
  EXPECT_CONTAINS(error({"a"}, {"da"}, {"a"}, "da"), "depends on its own output");
  EXPECT_CONTAINS(error({"a"}, {"da"}, {"a"}, "y", {"b"}), "number of inputs");
  EXPECT_CONTAINS(error({"a", "b", "n"}, {"da"}, {"a", "b"}, "y"), "number of inputs");
  EXPECT_CONTAINS(error({"a"}, {"da", "db"}, {"a"}, "y"), "number of outputs");
  EXPECT_CONTAINS(error({"n"}, {"dn"}, {"n"}, "y"), "'n' (xs) has type int64");
  EXPECT_CONTAINS(error({"a"}, {"da"}, {"a"}, "n"), "'n' (y) has type int64");
  EXPECT_CONTAINS(error({"a", "a"}, {"da"}, {"a"}, "y", {"a"}), "'a' occurs twice in xs and zs");
}

/// Every order takes several times the nodes of the one before; the names of what is made begin
/// with the node's.
TEST(Gradient, OfAnyOrderStaysWithinLimits) {
  const auto order = [](int count, size_t name) {
    OnnxBuilder model = model_of({"x"});
    model.node("Tanh", {"x"}, {"y0"});
    for (int i = 0; i < count; ++i) {
      const std::string y = "y" + std::to_string(i), next = "y" + std::to_string(i + 1);
      add_gradient(*model.graph().mutable_node(), {"x"}, {next}, {"x"}, y)
          .set_name(std::string(name, 'n'));
    }
    model.output("y" + std::to_string(count));
    return conversion_error(model);
  };
  EXPECT_EQ(order(4, 10), "");
  EXPECT_CONTAINS(order(12, 64'000), "the gradients of the model take more than 500000 nodes");
}

TEST(Gradient, RefusesToGuessWhatIsBroadcast) {
  OnnxBuilder model(28);
  model.import_opset("ai.onnx.preview.training", 1);
  symbol(model.input("a", {0}), 0, "N");
  symbol(model.input("b", {0}), 0, "M");
  model.node("Mul", {"a", "b"}, {"y"});
  converter::ConvertOptions options;
  options.dims["N"] = options.dims["M"] = converter::DimRange{1, 4};
  EXPECT_CONTAINS(conversion_error(with_gradient(model, {"a"}, {"da"}, {"a"}, "y"), options),
                  "whether an operand is broadcast along an axis of extent N to extent");
}

TEST(Gradient, InABodyNeedsToKnowWhatStays) {
  const auto loop = [](const Names& given, const Names& zs) {
    OnnxBuilder model = model_of({"a"});
    const int64_t trips = 2;
    model.initializer("trips", DataType::kInt64, {}, &trips, sizeof(trips));
    auto& node = model.node("Loop", {"trips", "", "a"}, {"last"});
    auto& body = *OnnxBuilder::attribute(node, "body", onnx::AttributeProto::GRAPH).mutable_g();
    for (const char* name : {"trip", "go", "state"}) body.add_input()->set_name(name);
    OnnxBuilder::add_node(*body.mutable_node(), "Mul", {"state", "a"}, {"y"});
    add_gradient(*body.mutable_node(), given, {"da"}, {"a"}, "y", zs);
    OnnxBuilder::add_node(*body.mutable_node(), "Identity", {"go"}, {"goes"});
    body.add_output()->set_name("goes");
    body.add_output()->set_name("da");
    model.output("last");
    return model;
  };
  EXPECT_CONTAINS(conversion_error(loop({"a"}, {})),
                  "'y' depends on 'state', which the sub-graph is given; list 'state' in zs");
  EXPECT_EQ(run(loop({"a", "state"}, {"state"}), {{2, 3}}).at(0), (Floats{2, 3}));
}

}  // namespace
}  // namespace intarsia::test
