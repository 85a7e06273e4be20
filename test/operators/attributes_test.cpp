// SPDX-License-Identifier: Apache-2.0
//
// Attributes of operators of one's own: of each kind, with defaults and required, and what models
// get wrong.
#include <gtest/gtest.h>

#include "test/operators/sample_models.h"

namespace intarsia::test {
namespace {

using converter::OnnxBuilder;
using Floats = std::vector<float>;

TEST(CustomOperators, CUS_02_AMissingRequiredAttributeIsNamed) {
  OnnxBuilder model;
  model.input("x", {8});
  model.output("y");
  sample_node(model, "ReadsAttributes", {"x"}, {"y"});
  EXPECT_EQ(conversion_error(model, sample_options()),
            "node 'ReadsAttributes1' (sample:ReadsAttributes): attribute \"integer\" is required, "
            "but the node has none");
}

/// All that an attribute may be, and nothing with a default.
struct Demanding {
  static constexpr OperatorInfo info{
      .domain = "own", .name = "Demanding", .inputs = {"x"}, .outputs = {"y"}};
  struct Attributes {
    int64_t integer = 0;
    float real = 0;
    StringAttribute text;
    ListAttribute<int64_t> integers;
    ListAttribute<float> reals;
    ListAttribute<StringAttribute> texts;
    TensorAttribute tensor;
    uint32_t reserved = 0;
    template <class V>
    void fields(V& v) {
      v.required("integer", integer);
      v.required("real", real);
      v.required("text", text);
      v.required("integers", integers);
      v.required("reals", reals);
      v.required("texts", texts);
      v.required("tensor", tensor);
    }
  };
  /// y = the integer, in two parts, the integers, the type of the tensor, its extents and elements.
  static void run(const Attributes& a, Input<float> /*x*/, Output<float> y) {
    Floats values{static_cast<float>(a.integer / 1000), static_cast<float>(a.integer % 1000)};
    for (const int64_t each : a.integers.view()) values.push_back(static_cast<float>(each));
    const TensorView tensor = a.tensor.view();
    values.push_back(static_cast<float>(tensor.type));
    for (const int32_t extent : tensor.dims()) values.push_back(static_cast<float>(extent));
    for (int64_t i = 0; i < tensor.count(); ++i) values.push_back(tensor.as<const int16_t>()[i]);
    values.resize(static_cast<size_t>(y.size()), -1);
    std::copy(values.begin(), values.end(), y.data());
  }
};

/// A node with all attributes but one.
OnnxBuilder demanding(const std::string& without = "") {
  OnnxBuilder model;
  model.input("x", {14});
  model.output("y");
  auto& node = model.node("Demanding", {"x"}, {"y"});
  node.set_domain("own");
  OnnxBuilder::set(node, "integer", int64_t{-7'000'123});
  OnnxBuilder::set(node, "real", 1.5F);
  OnnxBuilder::set(node, "text", "");
  OnnxBuilder::set(node, "integers", std::vector<int64_t>{int64_t{-1} << 40, 5});
  OnnxBuilder::set(node, "reals", Floats{0.25F});
  OnnxBuilder::attribute(node, "texts", onnx::AttributeProto::STRINGS).add_strings("a");
  const int16_t elements[] = {-1, 2, 3, 4, 5, 6};
  OnnxBuilder::fill(
      *OnnxBuilder::attribute(node, "tensor", onnx::AttributeProto::TENSOR).mutable_t(), "",
      DataType::kInt16, {1, 3, 2}, elements, sizeof(elements));
  for (int i = node.attribute_size(); i-- > 0;) {
    if (node.attribute(i).name() == without) node.mutable_attribute()->DeleteSubrange(i, 1);
  }
  return model;
}

TEST(CustomOperators, CUS_02_ARequiredAttributeOfEachKindIsNamed) {
  const auto options = options_with<OperatorList<Demanding>>();
  EXPECT_EQ(conversion_error(demanding(), options), "");
  for (const char* name : {"integer", "real", "text", "integers", "reals", "texts", "tensor"}) {
    EXPECT_EQ(conversion_error(demanding(name), options),
              "node 'Demanding1' (own:Demanding): attribute \"" + std::string(name) +
                  "\" is required, but the node has none");
  }
}

TEST(CustomOperators, CUS_03_LargeNumbersAndTensorsOfAnyExtents) {
  EXPECT_EQ(run_once(demanding(), Floats(14), options_with<OperatorList<Demanding>>()),
            (Floats{-7000, -123, -0x1p40F, 5, static_cast<float>(DataType::kInt16), 1, 3, 2, -1, 2,
                    3, 4, 5, 6}));
}

TEST(CustomOperators, CUS_02_AnUnknownAttributeIsNamed) {
  OnnxBuilder model;
  model.input("x", {8});
  model.output("y");
  OnnxBuilder::set(sample_node(model, "Affine", {"x"}, {"y"}), "epsilon", 1.0F);
  EXPECT_EQ(conversion_error(model, sample_options()),
            "node 'Affine1' (sample:Affine): attribute \"epsilon\" is unknown; the operator has "
            "\"factor\"");
}

TEST(CustomOperators, CUS_03_AttributesOfEveryKindReachTheState) {
  OnnxBuilder model;
  model.input("x", {14});
  model.output("y");
  auto& node = sample_node(model, "ReadsAttributes", {"x"}, {"y"});
  OnnxBuilder::set(node, "integer", int64_t{3});
  OnnxBuilder::set(node, "real", 1.5F);
  OnnxBuilder::set(node, "text", "linear");
  OnnxBuilder::set(node, "integers", std::vector<int64_t>{1, -2});
  OnnxBuilder::set(node, "reals", Floats{0.25F});
  auto& texts = OnnxBuilder::attribute(node, "texts", onnx::AttributeProto::STRINGS);
  texts.add_strings("a");
  texts.add_strings("");
  auto& tensor = OnnxBuilder::attribute(node, "tensor", onnx::AttributeProto::TENSOR);
  const int32_t elements[] = {5, 6, 7, 8};
  OnnxBuilder::fill(*tensor.mutable_t(), "", DataType::kInt32, {2, 2}, elements, sizeof(elements));
  EXPECT_EQ(run_once(model, Floats(14)),
            (Floats{3, 1.5F, 6, 1, -2, 0.25F, 1, 0, 5, 6, 7, 8, -1, -1}));
}

TEST(CustomOperators, CUS_03_DefaultsOfEveryKind) {
  OnnxBuilder model;
  model.input("x", {8});
  model.output("y");
  OnnxBuilder::set(sample_node(model, "ReadsAttributes", {"x"}, {"y"}), "integer", int64_t{9});
  EXPECT_EQ(run_once(model, Floats(8)), (Floats{9, 0.5F, 4, 7, 8, 3, -1, -1}));
}

TEST(CustomOperators, CTR_07_AnAttributeValueThatTheOperatorLacksIsNamed) {
  const auto rounded = [](const char* mode) {
    OnnxBuilder model;
    model.input("x", {2});
    model.output("y");
    auto& node = model.node("Rounded", {"x"}, {"y"});
    node.set_domain("com.microsoft");
    if (*mode != '\0') OnnxBuilder::set(node, "mode", mode);
    return model;
  };
  EXPECT_EQ(run_once(rounded(""), {1.5F, -1.5F}), (Floats{1, -2}));
  EXPECT_EQ(run_once(rounded("down"), {1.5F, -1.5F}), (Floats{1, -2}));
  EXPECT_EQ(run_once(rounded("up"), {1.5F, -1.5F}), (Floats{2, -1}));
  EXPECT_EQ(conversion_error(rounded("nearest"), sample_options()),
            "node 'Rounded1' (com.microsoft:Rounded): attribute \"mode\" must be one of \"down\", "
            "\"up\", but is \"nearest\"");
}

}  // namespace
}  // namespace intarsia::test
