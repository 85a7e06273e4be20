// SPDX-License-Identifier: Apache-2.0
//
// Operators that are declared in C++ and computed in Python.
#include "test/pyop/declared_operators.h"

#include "test/operators/own_library.h"
#include "test/pyop/pyop_fixture.h"

namespace intarsia::test {
namespace {

using Floats = std::vector<float>;

class Declared : public Pyop {
 protected:
  void SetUp() override {
    Pyop::SetUp();
    paths_ = {PYOP_TEST_FOLDER};
    options_ = options_with<declared::Operators>();
  }
  std::unique_ptr<Loaded> opened(const OnnxBuilder& model) {
    auto loaded = std::make_unique<Loaded>(convert(model, options_));
    EXPECT_TRUE(loaded->open(services(), options_.library->kernels())) << loaded->text();
    return loaded;
  }
  static OnnxBuilder model_of(const char* type, const std::vector<std::string>& inputs,
                              const std::vector<std::string>& outputs,
                              const std::vector<int64_t>& extents,
                              DataType element = DataType::kFloat) {
    OnnxBuilder model;
    for (const std::string& input : inputs) model.input(input, extents, element);
    model.node(type, inputs, outputs).set_domain("user");
    for (const std::string& output : outputs) model.output(output);
    return model;
  }
  static void set_attributes(onnx::NodeProto& node) {
    OnnxBuilder::set(node, "times", int64_t{3});
    OnnxBuilder::set(node, "gain", 0.5f);
    OnnxBuilder::set(node, "mode", "blocks");
    OnnxBuilder::set(node, "axes", std::vector<int64_t>{2, 1});
    auto& names = OnnxBuilder::attribute(node, "names", onnx::AttributeProto::STRINGS);
    names.add_strings("a");
    names.add_strings("bc");
    const int16_t table[] = {1, 2, 3, 4};
    OnnxBuilder::fill(
        *OnnxBuilder::attribute(node, "table", onnx::AttributeProto::TENSOR).mutable_t(), "",
        DataType::kInt16, {2, 2}, table, sizeof(table));
  }

  converter::ConvertOptions options_;
};

TEST_F(Declared, OFK_1_ReluDeclaredInCppComputedInPython) {
  // The conversion executes nothing of Python: no PyHost runs yet, and the plan is complete.
  const auto plan = convert(model_of("user_relu", {"x"}, {"y"}, {5}), options_);
  Loaded loaded(plan);
  EXPECT_EQ(loaded.open({}, options_.library->kernels()).code(), Code::kUnsupported);
  EXPECT_CONTAINS(loaded.text(), "(user:user_relu): Python operators are not allowed here");
  ASSERT_TRUE(loaded.open(services(), options_.library->kernels())) << loaded.text();
  loaded.set<float>(0, {-2, -1, 0, 1, 2});
  ASSERT_TRUE(loaded.run()) << loaded.text();
  EXPECT_EQ(loaded.get<float>(), (Floats{0, 0, 0, 1, 2}));
  // Types are those of the declaration.
  auto wide = opened(model_of("user_relu", {"x"}, {"y"}, {2}, DataType::kDouble));
  wide->set<double>(0, {-3, 0.1});
  ASSERT_TRUE(wide->run()) << wide->text();
  EXPECT_EQ(wide->get<double>(), (std::vector<double>{0, 0.1}));
  EXPECT_CONTAINS(
      conversion_error(model_of("user_relu", {"x"}, {"y"}, {2}, DataType::kInt32), options_),
      "int32, which the operator does not allow");
}

TEST_F(Declared, OFK_1_AttributesAndShapeFunctionAreThoseOfTheDeclaration) {
  OnnxBuilder model;
  auto& x = model.input("x", {0, 2});
  x.mutable_type()->mutable_tensor_type()->mutable_shape()->mutable_dim(0)->set_dim_param("n");
  model.node("Repeat", {"x"}, {"y", "last"}).set_domain("user");
  model.output("y");
  model.output("last");
  options_.dims["n"] = converter::DimRange{1, 4};
  EXPECT_CONTAINS(conversion_error(model, options_), "attribute \"times\" is required");
  set_attributes(*model.graph().mutable_node(0));
  auto loaded = opened(model);
  EXPECT_EQ(loaded->session.output_port(0).value().tensor.extents[0], 12);
  int calls = 0;
  for (const int32_t n : {2, 1, 4}) {
    ASSERT_TRUE(loaded->session.resize_input(0, std::vector<int32_t>{n, 2}));
    loaded->set<float>(0, Floats(static_cast<size_t>(2 * n), 6));
    ASSERT_TRUE(loaded->run()) << loaded->text();
    EXPECT_EQ(loaded->get<float>(0), Floats(static_cast<size_t>(6 * n), 3));
    EXPECT_EQ(loaded->get<float>(1), Floats(2, static_cast<float>(++calls)));  // one object
  }
  // An exception is told with its traceback, another shape than the declared one with both.
  loaded->set<float>(0, Floats(8, 77));
  EXPECT_EQ(loaded->run().code(), Code::kOperatorFailed);
  EXPECT_CONTAINS(loaded->text(), "(user:Repeat)");
  EXPECT_CONTAINS(loaded->text(), "in forward");
  EXPECT_CONTAINS(loaded->text(), "ValueError: 77 is not a number");
  loaded->set<float>(0, Floats(8, 88));
  EXPECT_EQ(loaded->run().code(), Code::kWrongExtent);
  EXPECT_CONTAINS(loaded->text(), "output 0: expected [12,2], got [4,2]");
  loaded->set<float>(0, Floats(8, 2));
  EXPECT_TRUE(loaded->run()) << loaded->text();
  EXPECT_EQ(loaded->get<float>(0), Floats(24, 1));
}

TEST_F(Declared, OFK_1_OperandsThatAreAbsentOrMany) {
  OnnxBuilder optional = model_of("Repeat", {"x", "offset"}, {"y"}, {1, 1});
  set_attributes(*optional.graph().mutable_node(0));
  auto with = opened(optional);
  with->set<float>(0, {4});
  with->set<float>(1, {10});
  ASSERT_TRUE(with->run()) << with->text();
  EXPECT_EQ(with->get<float>(), Floats(3, 12));
  auto many = opened(model_of("Reverse", {"a", "b", "c"}, {"p", "q", "r"}, {1}));
  for (int i = 0; i < 3; ++i) many->set<float>(i, {static_cast<float>(i)});
  ASSERT_TRUE(many->run()) << many->text();
  for (int i = 0; i < 3; ++i) EXPECT_EQ(many->get<float>(i), Floats(1, static_cast<float>(2 - i)));
}

TEST_F(Declared, OFK_1_ExtentsThatOnlyTheRunTells) {
  options_.bounds["y"] = {4};
  auto loaded = opened(model_of("Positive", {"x"}, {"y"}, {4}));
  for (const Floats& x : {Floats{1, -1, 2, -2}, {-1, -1, -1, -1}, {1, 2, 3, 4}}) {
    loaded->set<float>(0, x);
    ASSERT_TRUE(loaded->run()) << loaded->text();
    Floats expected;
    std::copy_if(x.begin(), x.end(), std::back_inserter(expected), [](float v) { return v > 0; });
    EXPECT_EQ(loaded->get<float>(), expected);
  }
}

TEST_F(Declared, PYOP_4_ATensorThatPythonHasNoElementsForStopsTheOpening) {
  OnnxBuilder model = model_of("Repeat", {"x"}, {"y"}, {1, 1});
  set_attributes(*model.graph().mutable_node(0));
  auto& attributes = *model.graph().mutable_node(0)->mutable_attribute();
  onnx::TensorProto& table = *attributes.rbegin()->mutable_t();
  for (const DataType type : {DataType::kBfloat16, DataType::kInt4, DataType::kFloat8E4M3FN}) {
    table.Clear();
    OnnxBuilder::fill(table, "", type, {2}, "\0\0\0\0", static_cast<size_t>(byte_size(type, 2)));
    Loaded loaded(convert(model, options_));
    EXPECT_EQ(loaded.open(services(), options_.library->kernels()).code(), Code::kUnsupported);
    EXPECT_CONTAINS(loaded.text(), "(user:Repeat)");
    EXPECT_CONTAINS(loaded.text(), std::string("attribute \"table\" is a tensor of ") +
                                       data_type_name(type) + ", for which Python has no elements");
  }
  table.Clear();
  table.set_data_type(static_cast<int32_t>(DataType::kString));
  table.add_string_data("a");
  EXPECT_CONTAINS(conversion_error(model, options_),
                  "attribute \"table\" must be a tensor of numbers");
}

TEST_F(Declared, OFK_1_AFunctionThatIsNotThereStopsTheOpening) {
  Loaded loaded(convert(model_of("Missing", {"x"}, {"y"}, {1}), options_));
  EXPECT_EQ(loaded.open(services(), options_.library->kernels()).code(), Code::kOperatorFailed);
  EXPECT_CONTAINS(loaded.text(), "(user:Missing)");
  EXPECT_CONTAINS(loaded.text(),
                  "module 'declared_kernels': there is no method 'no_such_function'");
}

}  // namespace
}  // namespace intarsia::test
