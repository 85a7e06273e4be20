// SPDX-License-Identifier: Apache-2.0
//
// Extents that a model computes in floats, as exporters of detectors write anchors: bounds follow
// from the model, and every extent up to them runs.
#include <cmath>

#include "test/runtime/small_plan.h"

namespace intarsia::test {
namespace {

using converter::OnnxBuilder;

/// y = Range(0, extent of x, 1), the extent cast to float and sent through `steps`.
struct Case {
  const char* name;
  void (*steps)(OnnxBuilder& model);  // from "f" to "limit"
  double (*limit)(double extent);
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.name;
}

OnnxBuilder model_of(const Case& c) {
  OnnxBuilder model(21);
  symbol(model.input("x", {1, 0}), 1, "n");
  model.output("y");
  const int64_t one = 1;
  model.initializer("axis", DataType::kInt64, {}, &one, sizeof(one));
  model.floats("zero", {}, {0});
  model.floats("one", {}, {1});
  model.node("Shape", {"x"}, {"s"});
  model.node("Gather", {"s", "axis"}, {"g"});
  model.set(model.node("Cast", {"g"}, {"f"}), "to", int64_t{1});
  c.steps(model);
  model.node("Range", {"zero", "limit", "one"}, {"y"});
  return model;
}

class FloatExtents : public testing::TestWithParam<Case> {};

TEST_P(FloatExtents, AreBoundedAndRun) {
  const Case& c = GetParam();
  converter::ConvertOptions options;
  options.dims["n"] = converter::DimRange{1, 13};
  SmallPlan plan(model_of(c), options);
  Session session = plan.open().value();
  EXPECT_EQ(plan.conversion.entries.at(0).outputs.at(0).extents,
            (std::vector<int64_t>{static_cast<int64_t>(std::ceil(c.limit(13)))}));
  for (int32_t n = 1; n <= 13; ++n) {
    const int32_t extents[] = {1, n};
    ASSERT_TRUE(session.resize_input(0, extents).ok());
    ASSERT_TRUE(session.run().ok()) << n << ": " << plan.text(session.diagnostic());
    const std::vector<float> y = read(session, 0);
    ASSERT_EQ(y.size(), static_cast<size_t>(std::max(0.0, std::ceil(c.limit(n))))) << n;
    for (size_t i = 0; i < y.size(); ++i) EXPECT_EQ(y[i], static_cast<float>(i));
  }
}

const Case kCases[] = {
    {"cast", [](OnnxBuilder& m) { m.node("Identity", {"f"}, {"limit"}); },
     [](double n) { return n; }},
    {"doubled",
     [](OnnxBuilder& m) {
       m.floats("two", {}, {2});
       m.node("Mul", {"f", "two"}, {"limit"});
     },
     [](double n) { return 2 * n; }},
    {"halved_down",
     [](OnnxBuilder& m) {
       m.floats("half", {}, {0.5f});
       m.node("Mul", {"f", "half"}, {"h"});
       m.node("Floor", {"h"}, {"limit"});
     },
     [](double n) { return std::floor(n / 2); }},
    {"third_up",
     [](OnnxBuilder& m) {
       m.floats("three", {}, {3});
       m.node("Div", {"f", "three"}, {"h"});
       m.node("Ceil", {"h"}, {"limit"});
     },
     [](double n) { return std::ceil(n / 3); }},
    {"quarters_added",
     [](OnnxBuilder& m) {
       m.floats("quarter", {}, {0.25f});
       m.floats("three", {}, {0.75f});
       m.node("Mul", {"f", "quarter"}, {"a"});
       m.node("Mul", {"f", "three"}, {"b"});
       m.node("Add", {"a", "b"}, {"limit"});
     },
     [](double n) { return n; }},
    {"cast_back",
     [](OnnxBuilder& m) {
       m.floats("eight", {}, {8});
       m.node("Div", {"f", "eight"}, {"h"});
       m.set(m.node("Cast", {"h"}, {"i"}), "to", int64_t{7});
       m.set(m.node("Cast", {"i"}, {"limit"}), "to", int64_t{1});
     },
     [](double n) { return std::floor(n / 8); }},
    {"of_a_constant_root",
     [](OnnxBuilder& m) {
       m.floats("nine", {}, {9});
       m.node("Sqrt", {"nine"}, {"r"});
       m.node("Sub", {"f", "r"}, {"limit"});
     },
     [](double n) { return n - 3; }},
};

INSTANTIATE_TEST_SUITE_P(Steps, FloatExtents, testing::ValuesIn(kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace intarsia::test
