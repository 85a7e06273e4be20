// SPDX-License-Identifier: Apache-2.0
//
// Outputs whose extents only the run can tell: what the model declares of them, and what the user.
#include <gtest/gtest.h>

#include "test/operators/sample_models.h"

namespace intarsia::test {
namespace {

using converter::contains;
using converter::OnnxBuilder;
using Floats = std::vector<float>;

onnx::TensorShapeProto& shape_of(onnx::ValueInfoProto& value) {
  auto& type = *value.mutable_type()->mutable_tensor_type();
  type.set_elem_type(1);
  return *type.mutable_shape();
}

/// x [4] -> type -> y -> Neg -> z; the caller declares y, which is a result too.
OnnxBuilder filter(const char* type) {
  OnnxBuilder model;
  model.input("x", {4});
  model.output("z");
  model.output("y");
  model.floats("limit", {}, {1});
  sample_node(model, type, {"x", "limit"}, {"y"});
  model.node("Neg", {"y"}, {"z"});
  return model;
}

OnnxBuilder declared(const char* type, const std::vector<int64_t>& extents) {
  OnnxBuilder model = filter(type);
  auto& shape = shape_of(*model.graph().mutable_output(1));
  for (int64_t extent : extents) shape.add_dim()->set_dim_value(extent);
  return model;
}

TEST(VaryingOutputs, CUS_08_ASymbolThatOnlyResultsHaveIsBoundedByItsRange) {
  OnnxBuilder model = filter("Above");
  shape_of(*model.graph().mutable_output(1)).add_dim()->set_dim_param("k");
  EXPECT_CONTAINS(conversion_error(model, sample_options()),
                  "declare them with --bound y=EXTENTS or --dim k=MAX");
  converter::ConvertOptions options = sample_options();
  options.dims["k"] = converter::DimRange{0, 3};
  SmallPlan plan(model, options);
  EXPECT_EQ(plan.conversion.entries.at(0).outputs.at(0).extents, std::vector<int64_t>{3});
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  write(*session, 0, {5, 0, 7, 1});
  ASSERT_TRUE(session->run().ok()) << plan.text(session->diagnostic());
  EXPECT_EQ(read(*session, 0), (Floats{-5, -7}));
  write(*session, 0, {5, 6, 7, 8});
  EXPECT_EQ(session->run().code(), Code::kWrongExtent) << "the range is kept";
  // The explicit bound of a tensor is the nearer one, and a name that nobody has is refused.
  options.bounds["y"] = {2};
  EXPECT_EQ(SmallPlan(model, options).conversion.entries.at(0).outputs.at(0).extents,
            std::vector<int64_t>{2});
  options.dims["m"] = converter::DimRange{0, 3};
  EXPECT_CONTAINS(conversion_error(model, options), "the model has no symbolic dimension 'm'");
}

TEST(VaryingOutputs, CUS_08_ASymbolOfAnInputIsThatOfTheResult) {
  OnnxBuilder model = filter("Above");
  symbol(*model.graph().mutable_input(0), 0, "k");
  shape_of(*model.graph().mutable_output(1)).add_dim()->set_dim_param("k");
  converter::ConvertOptions options = sample_options();
  options.dims["k"] = converter::DimRange{2, 6};
  EXPECT_EQ(SmallPlan(model, options).conversion.entries.at(0).outputs.at(0).extents,
            std::vector<int64_t>{6});
}

TEST(VaryingOutputs, CUS_08_ARangeKeepsTheBoundOfTheShapeFunction) {
  OnnxBuilder model = filter("AtMost");
  shape_of(*model.graph().mutable_output(1)).add_dim()->set_dim_param("k");
  for (const auto& [most, planned] : {std::pair<int64_t, int64_t>{1, 1}, {9, 2}}) {
    converter::ConvertOptions options = sample_options();
    options.dims["k"] = converter::DimRange{0, most};
    EXPECT_EQ(SmallPlan(model, options).conversion.entries.at(0).outputs.at(0).extents,
              std::vector<int64_t>{planned});
  }
}

TEST(VaryingOutputs, CUS_08_ADeclarationThatContradictsTheShapeFunctionIsRefused) {
  EXPECT_EQ(conversion_error(declared("AtMost", {7}), sample_options()),
            "node 'AtMost1' (sample:AtMost): 'y' is declared as [7], but is at most [2]; the model "
            "is invalid; export it again, or correct the declaration");
  EXPECT_EQ(conversion_error(declared("AtMost", {2, 1}), sample_options()),
            "node 'AtMost1' (sample:AtMost): 'y' is declared as [2,1], but is at most [2]; the "
            "model is invalid; export it again, or correct the declaration");
  EXPECT_EQ(conversion_error(declared("AtMost", {2}), sample_options()), "");
  EXPECT_EQ(conversion_error(declared("AtMost", {1}), sample_options()), "");
  OnnxBuilder model = declared("AtMost", {2});
  model.graph().mutable_output(1)->mutable_type()->mutable_tensor_type()->set_elem_type(
      static_cast<int32_t>(DataType::kDouble));
  EXPECT_CONTAINS(conversion_error(model, sample_options()),
                  "'y' is declared as double, but is computed as float");
}

/// x [3] -> Halve -> y, declared so; `behind`: a built-in operator computes the output.
OnnxBuilder halved(const std::vector<int64_t>& extents, bool behind = false) {
  OnnxBuilder model;
  model.input("x", {3});
  model.output("y");
  sample_node(model, "Halve", {"x"}, {behind ? "h" : "y"});
  if (behind) model.node("Neg", {"h"}, {"y"});
  auto& shape = shape_of(*model.graph().mutable_output(0));
  for (int64_t extent : extents) {
    auto* dim = shape.add_dim();
    if (extent != 0) dim->set_dim_value(extent);
    if (extent == 0) dim->set_dim_param("n");
  }
  return model;
}

TEST(VaryingOutputs, ExtentsThatContradictAnOperatorOfOnesOwnAreRefused) {
  EXPECT_EQ(conversion_error(halved({3}), sample_options()), "");
  EXPECT_EQ(conversion_error(halved({0}), sample_options()), "");
  EXPECT_EQ(conversion_error(halved({4}), sample_options()),
            "node 'Halve1' (sample:Halve): 'y' is declared as [4], but is computed as [3]; the "
            "model is invalid; export it again, or correct the declaration");
  EXPECT_CONTAINS(conversion_error(halved({3, 1}), sample_options()),
                  "'y' is declared as [3,1], but is computed as [3]");
  const SmallPlan lenient(halved({4}, true), sample_options());
  ASSERT_EQ(lenient.conversion.warnings.size(), 1U) << "models in circulation have wrong extents";
  EXPECT_CONTAINS(lenient.conversion.warnings[0], "'y' is declared as [4], but is computed as [3]");
}

}  // namespace
}  // namespace intarsia::test
