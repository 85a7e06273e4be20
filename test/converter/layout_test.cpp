// SPDX-License-Identifier: Apache-2.0
//
// The layout pass: models Conv -> operator -> Conv compute what they compute in double, where no
// convolution asks for another layout; and where an operator can follow, nothing is transposed
// between the two.
#include <random>

#include "converter/passes/layout.h"
#include "converter/passes/simplify.h"
#include "test/converter/inferred_model.h"
#include "test/converter/layout_cases.h"

namespace intarsia::test {
namespace {

using converter::OnnxBuilder;
using layout::Case;
using layout::model_of;
using layout::run;

std::string left_after_layout(const OnnxBuilder& builder) {
  InferredModel model(builder);
  converter::simplify(model.graph());
  converter::assign_layout(model.graph(), model.inference);
  converter::simplify(model.graph());
  EXPECT_EQ(model.graph().check(), "");
  std::string text;
  for (const auto& node : model.graph().nodes()) {
    text += (text.empty() ? "" : " ") + (node->type == "Transpose" ? "T" : node->type);
  }
  return text;
}

class Layout : public testing::TestWithParam<Case> {};

TEST_P(Layout, ComputesTheSame) {
  const std::vector<double> found = run<float>(model_of(GetParam(), DataType::kFloat));
  const std::vector<double> expected = run<double>(model_of(GetParam(), DataType::kDouble));
  ASSERT_EQ(found.size(), expected.size());
  double scale = 1;
  for (double value : expected) scale = std::max(scale, std::abs(value));
  for (size_t i = 0; i < found.size(); ++i) {
    ASSERT_NEAR(found[i], expected[i], 1e-5 * scale) << "element " << i;
  }
}

TEST_P(Layout, TransposesNothingInBetween) {
  EXPECT_EQ(left_after_layout(model_of(GetParam(), DataType::kFloat)), GetParam().left);
}

// Kernels of few filters serve both orders, whether the weights are constant or computed.
TEST(LayoutOfOneNode, FewTransposedFiltersStayAsTheyAre) {
  for (const bool constant : {true, false}) {
    for (const int64_t filters : {2, 20}) {
      layout::Draft draft;
      draft.type = DataType::kFloat;
      draft.model.input("x", {1, 6, 5, 7}, draft.type);
      if (constant) {
        draft.weights("w", {6, filters, 2, 2});
      } else {
        draft.model.input("w", {6, filters, 2, 2}, draft.type);
      }
      draft.set(draft.node("ConvTranspose", {"x", "w"}), "strides", std::vector<int64_t>{2, 2});
      draft.model.output("z");
      EXPECT_EQ(left_after_layout(draft.model),
                filters == 2 ? "ConvTranspose" : "T ConvTranspose T");
    }
  }
}

// A node that stands alone is computed as it is, unless its sums are worth what reordering takes;
// neighbours share that.
TEST(LayoutOfOneNode, LoneConvolutionsStayAsTheyAre) {
  struct Lone {
    std::vector<int64_t> x, w, pads;
    int64_t group;
    int nodes;
    const char* left;
  };
  const Lone cases[] = {
      {{1, 32, 56, 56}, {32, 32, 1, 1}, {0, 0, 0, 0}, 1, 1, "Conv"},
      {{1, 32, 56, 56}, {32, 32, 1, 1}, {0, 0, 0, 0}, 1, 2, "T Conv Conv T"},
      {{1, 32, 56, 56}, {32, 1, 3, 3}, {1, 1, 1, 1}, 32, 1, "Conv"},
      {{1, 32, 56, 56}, {32, 4, 3, 3}, {1, 1, 1, 1}, 8, 2, "Conv Conv"},  // small groups
      {{1, 32, 56, 56}, {32, 32, 3, 3}, {1, 1, 1, 1}, 1, 1, "T Conv T"},  // Winograd's
      {{1, 64, 17, 17}, {64, 64, 5, 5}, {2, 2, 2, 2}, 1, 1, "T Conv T"},  // narrow, long sums
      {{1, 4, 8, 3}, {16, 4, 1, 1}, {0, 0, 0, 0}, 1, 1, "Conv"},          // a row of 24 pixels
      {{1, 40, 1000}, {40, 40, 5}, {2, 2}, 1, 1, "Conv"},
  };
  for (const Lone& lone : cases) {
    layout::Draft draft;
    draft.type = DataType::kFloat;
    draft.model.input("x", lone.x, draft.type);
    draft.weights("w", lone.w);
    std::string data = "x";
    for (int i = 0; i < lone.nodes; ++i) {
      const std::string result = "z" + std::to_string(i);
      onnx::NodeProto& node = draft.node("Conv", {data, "w"}, result);
      draft.set(node, "group", lone.group);
      draft.set(node, "pads", lone.pads);
      data = result;
    }
    draft.model.output(data);
    EXPECT_EQ(left_after_layout(draft.model), lone.left) << "case " << &lone - cases;
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, Layout, testing::ValuesIn(layout::kCases),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace intarsia::test
