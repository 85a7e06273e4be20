// SPDX-License-Identifier: Apache-2.0
//
// What a model declares of outputs whose extents only the run can tell holds at every run.
#include <gtest/gtest.h>

#include "test/operators/sample_models.h"
#include "test/runtime/forged_plan.h"

namespace intarsia::test {
namespace {

using converter::contains;
using converter::OnnxBuilder;
using Extents = std::vector<int32_t>;

/// A y of the extents that `wanted` has, full of ones.
struct Ones {
  static constexpr OperatorInfo info{.domain = "own",
                                     .name = "Ones",
                                     .inputs = {"x", {"wanted", "W"}},
                                     .outputs = {"y"},
                                     .extents_vary = true};
  template <class S>
  static Status infer(S& s) {
    return s.set_output_type(0, s.type(0));
  }
  static Status run(Input<float>, Input<int32_t> wanted, Output<float> y) {
    if (Status status = y.resize(wanted.span()); !status) return status;
    for (int64_t i = 0; i < y.size(); ++i) y[i] = 1;
    return {};
  }
};

void declare(onnx::GraphProto& graph, const std::string& name,
             const std::vector<std::string>& extents) {
  auto* info = graph.add_value_info();
  info->set_name(name);
  auto& type = *info->mutable_type()->mutable_tensor_type();
  type.set_elem_type(1);
  for (const std::string& extent : extents) {
    auto* dim = type.mutable_shape()->add_dim();
    if (std::isdigit(extent[0]) != 0) dim->set_dim_value(std::stoi(extent));
    if (std::isdigit(extent[0]) == 0) dim->set_dim_param(extent);
  }
}

/// x [n, 2] and wanted [2] -> y, of which z is the negative. No input has k.
class PromisedExtents : public ::testing::Test {
 protected:
  static OnnxBuilder inputs() {
    OnnxBuilder model;
    symbol(model.input("x", {0, 2}), 0, "n");
    model.input("wanted", {2}, DataType::kInt32);
    model.output("z");
    return model;
  }
  static ForgedPlan plan(const OnnxBuilder& model, bool has_k = false) {
    converter::ConvertOptions options = options_with<OperatorList<Ones>>();
    options.dims["n"] = converter::DimRange{1, 4};
    if (has_k) options.dims["k"] = converter::DimRange{0, 5};
    return ForgedPlan(model, options);
  }
  static ForgedPlan plan(const std::vector<std::string>& declared) {
    OnnxBuilder model = inputs();
    model.node("Ones", {"x", "wanted"}, {"y"}).set_domain("own");
    model.node("Neg", {"y"}, {"z"});
    declare(model.graph(), "y", declared);
    return plan(model, declared[0] == "k");
  }
  /// "" if a run with x [n, 2] may give such a y.
  static std::string result(ForgedPlan& plan, Session& session, int32_t n, const Extents& wanted) {
    EXPECT_TRUE(session.resize_input(0, std::array{n, 2}).ok());
    auto given = session.input<int32_t>(1).value();
    std::copy(wanted.begin(), wanted.end(), given.begin());
    if (!session.run()) return plan.text(session.diagnostic());
    const auto z = session.output_port(0).value().tensor.dims();
    EXPECT_EQ(Extents(z.begin(), z.end()), wanted);
    return "";
  }
};

TEST_F(PromisedExtents, AFixedAxisAndASymbolOfAnInput) {
  ForgedPlan small = plan({"n", "3"});
  auto session = small.open();
  ASSERT_TRUE(session.ok()) << small.text(small.diagnostic);
  const std::string node = "node 0 'Ones1' (own:Ones): output extent, operand 2, axis ";
  for (int32_t n : {4, 1, 3}) {
    EXPECT_EQ(result(small, *session, n, {n, 3}), "");
    EXPECT_EQ(result(small, *session, n, {n, 2}), node + "1: expected 3, found 2");
    EXPECT_EQ(result(small, *session, n, {n - 1, 3}),
              node + "0: expected " + std::to_string(n) + ", found " + std::to_string(n - 1));
    EXPECT_EQ(result(small, *session, n, {n, 3}), "") << "the session goes on";
  }
  EXPECT_EQ(result(small, *session, 3, {4, 3}), node + "0: expected 3, found 4") << "there is room";
}

TEST_F(PromisedExtents, ASymbolThatNoInputHasIsABound) {
  ForgedPlan small = plan({"k", "3"});
  auto session = small.open();
  ASSERT_TRUE(session.ok()) << small.text(small.diagnostic);
  for (int32_t k : {0, 5, 2}) EXPECT_EQ(result(small, *session, 2, {k, 3}), "");
  EXPECT_CONTAINS(
      result(small, *session, 2, {6, 3}),
      "output extent beyond its planned maximum, operand 2, axis 0: expected 5, found 6");
  EXPECT_CONTAINS(result(small, *session, 2, {-1, 3}), "expected 5, found -1");
}

TEST_F(PromisedExtents, ABranchPromisesWhatBothDo) {
  OnnxBuilder model = inputs();
  model.input("condition", {}, DataType::kBool);
  auto& node = model.node("If", {"condition"}, {"y"});
  model.node("Neg", {"y"}, {"z"});
  for (const auto& [branch, columns] : {std::pair("then_branch", "3"), {"else_branch", "2"}}) {
    auto& attribute = OnnxBuilder::attribute(node, branch, onnx::AttributeProto::GRAPH);
    auto& graph = *attribute.mutable_g();
    graph.set_name(branch);
    OnnxBuilder::add_node(*graph.mutable_node(), "Ones", {"x", "wanted"}, {branch})
        .set_domain("own");
    graph.add_output()->set_name(branch);
    declare(graph, branch, {"n", columns});
  }
  ForgedPlan small = plan(model);
  auto session = small.open();
  ASSERT_TRUE(session.ok()) << small.text(small.diagnostic);
  for (const bool taken : {true, false}) {
    session->input<bool>(2).value()[0] = taken;
    EXPECT_EQ(result(small, *session, 3, {3, taken ? 3 : 2}), "");
    EXPECT_CONTAINS(result(small, *session, 3, {2, 2}), "axis 0: expected 3, found 2");
    EXPECT_CONTAINS(result(small, *session, 3, {3, 4}), "axis 1: expected 3, found 4");
  }
}

TEST_F(PromisedExtents, DamagedOnesAreBounds) {
  ForgedPlan small = plan({"n", "3"});
  const auto* promised = small.root().promised();
  ASSERT_NE(promised, nullptr);
  ASSERT_EQ(promised->size(), small.root().dynamic_extents());
  for (const uint32_t beyond : {0U, 7U, 0x7fffffffU}) {
    const uint32_t wrong = small.root().dynamic_extents() + 1 + beyond;
    std::vector<std::unique_ptr<Forgery>> rules;
    for (uint32_t i = 0; i < promised->size(); ++i) {
      rules.push_back(std::make_unique<Forgery>(promised->data() + i, 0, wrong));
    }
    auto session = small.open(small.unchecked());
    ASSERT_TRUE(session.ok()) << small.text(small.diagnostic);
    EXPECT_EQ(result(small, *session, 3, {2, 1}), "") << wrong;
    EXPECT_CONTAINS(result(small, *session, 3, {2, 4}), "axis 1: expected 3, found 4");
  }
  const Forgery count(promised, 0, uint32_t{0});
  auto session = small.open(small.unchecked());
  ASSERT_TRUE(session.ok()) << small.text(small.diagnostic);
  EXPECT_EQ(result(small, *session, 3, {2, 1}), "");
}

}  // namespace
}  // namespace intarsia::test
