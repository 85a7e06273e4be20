// SPDX-License-Identifier: Apache-2.0
//
// Transposed convolutions without strides become convolutions: random windows, groups and ranks
// give what the reference kernel gives in double, which stays a ConvTranspose; what would be no
// gain, or is not as it has to be, stays as well.
#include <random>

#include "test/converter/inferred_model.h"
#include "test/converter/layout_cases.h"
#include "test/runtime/small_plan.h"

namespace intarsia::test {
namespace {

using converter::OnnxBuilder;
using layout::Draft;
using layout::run;

using Ints = std::vector<int64_t>;

struct Drawn {
  Ints x, w, pads, dilations;
  int64_t group = 1;
  bool bias = false;
};

Drawn draw(std::mt19937& random) {
  const auto between = [&](int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random() % static_cast<uint64_t>(most - least + 1));
  };
  Drawn d;
  d.group = between(1, 3);
  const int64_t channels = between(1, 5), filters = between(d.group > 1 && channels > 1 ? 2 : 1, 5);
  d.bias = random() % 2 == 0;
  d.x = {between(1, 2), d.group * channels};
  d.w = {d.group * channels, filters};
  const int64_t spatial = between(1, 3);
  d.pads.resize(2 * static_cast<size_t>(spatial));
  for (int64_t i = 0; i < spatial; ++i) {
    const auto at = static_cast<size_t>(i);
    const int64_t kernel = between(1, 3), dilation = between(1, 2), reach = dilation * (kernel - 1);
    d.x.push_back(between(9, 20));
    d.w.push_back(kernel);
    d.dilations.push_back(dilation);
    d.pads[at] = between(reach / 2, reach);
    d.pads[at + static_cast<size_t>(spatial)] = between(reach / 2, reach);
  }
  return d;
}

OnnxBuilder model_of(const Drawn& d, DataType type) {
  Draft draft;
  draft.type = type;
  draft.model.input("x", d.x, type);
  draft.weights("w", d.w);
  if (d.bias) draft.weights("b", {d.group * d.w[1]});
  auto& node = draft.node("ConvTranspose", d.bias ? std::vector<std::string>{"x", "w", "b"}
                                                  : std::vector<std::string>{"x", "w"});
  draft.set(node, "group", d.group);
  draft.set(node, "pads", d.pads);
  draft.set(node, "dilations", d.dilations);
  draft.model.output("z");
  return std::move(draft.model);
}

std::string operators(const OnnxBuilder& builder) {
  InferredModel model(builder);
  std::string text;
  for (const auto& node : model.graph().nodes()) {
    if (node->type.find("Conv") != std::string::npos) text += node->type;
  }
  return text;
}

TEST(TransposedForms, WithoutStridesAreConvolutions) {
  std::mt19937 random(11);
  for (int i = 0; i < 60; ++i) {
    SCOPED_TRACE("case " + std::to_string(i));
    const Drawn d = draw(random);
    ASSERT_EQ(operators(model_of(d, DataType::kFloat)), "Conv");
    ASSERT_EQ(operators(model_of(d, DataType::kDouble)), "ConvTranspose");
    const std::vector<double> found = run<float>(model_of(d, DataType::kFloat));
    const std::vector<double> expected = run<double>(model_of(d, DataType::kDouble));
    ASSERT_EQ(found.size(), expected.size());
    // Eighths and their products are exact; F(4 x 4) is not, but has no 16 channels here.
    for (size_t j = 0; j < found.size(); ++j) {
      ASSERT_EQ(found[j], expected[j]) << "element " << j;
    }
  }
}

struct Kept {
  const char* why;
  Ints x, w;
  int64_t group;
  const char* name;
  Ints value;
};

TEST(TransposedForms, OthersStay) {
  const Kept cases[] = {
      {"strides", {1, 4, 9, 9}, {4, 4, 3, 3}, 1, "strides", {2, 2}},
      {"a larger result", {1, 4, 4, 4}, {4, 4, 4, 4}, 1, "pads", {0, 0, 0, 0}},
      {"elements behind", {1, 4, 9, 9}, {4, 4, 3, 3}, 1, "output_padding", {1, 0}},
      {"given extents", {1, 4, 9, 9}, {4, 4, 3, 3}, 1, "output_shape", {9, 9}},
      {"more padding than taps", {1, 4, 9, 9}, {4, 4, 1, 1}, 1, "pads", {1, 1, 1, 1}},
      {"places of windows", {1, 18, 9, 9}, {18, 1, 3, 3}, 2, "pads", {1, 1, 1, 1}},
  };
  for (const Kept& kept : cases) {
    SCOPED_TRACE(kept.why);
    Draft draft;
    draft.type = DataType::kFloat;
    draft.model.input("x", kept.x, draft.type);
    draft.weights("w", kept.w);
    auto& node = draft.node("ConvTranspose", {"x", "w"});
    draft.set(node, "group", kept.group);
    draft.set(node, kept.name, kept.value);
    if (std::string(kept.name) == "output_padding") draft.set(node, "strides", Ints{2, 1});
    draft.model.output("z");
    EXPECT_EQ(operators(draft.model), "ConvTranspose");
  }
}

TEST(TransposedForms, OfNoChannelsStay) {
  Draft draft;
  draft.type = DataType::kFloat;
  draft.model.input("x", {1, 4, 9, 9}, draft.type);
  draft.weights("w", {0, 1, 3, 3});
  const Ints none{0}, axis{1};
  draft.model.initializer("none", DataType::kInt64, {1}, none.data(), 8);
  draft.model.initializer("axis", DataType::kInt64, {1}, axis.data(), 8);
  draft.model.node("Slice", {"x", "none", "none", "axis"}, {"empty"});
  auto& node = draft.node("ConvTranspose", {"empty", "w"});
  draft.set(node, "group", int64_t{4});
  draft.model.output("z");
  EXPECT_EQ(operators(draft.model), "ConvTranspose");
  EXPECT_EQ(run<float>(draft.model), std::vector<double>(4 * 11 * 11));
}

}  // namespace
}  // namespace intarsia::test
