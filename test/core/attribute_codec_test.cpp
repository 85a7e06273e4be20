// SPDX-License-Identifier: Apache-2.0
//
// Reading ONNX attributes into structs: defaults, kinds, ranges, and the sentences of errors.
#include "core/definitions/attribute_codec.h"

#include <gtest/gtest.h>

namespace intarsia::definitions {
namespace {

struct Sample {
  int32_t axis = -1;
  float alpha = 0.5F;
  int32_t mode = 1;
  int32_t activation = 7;
  FixedList<int32_t, 3> pads;
  FixedList<float, 2> scales;
  FixedList<int32_t, 2> functions;
  uint8_t flags[4] = {};
  template <class V>
  void fields(V& v) {
    v.required("axis", axis);
    v("alpha", alpha);
    v.choice("mode", mode, {"constant", "edge"});
    v.internal("activation", activation);
    v("pads", pads);
    v("scales", scales);
    v.choices("functions", functions, {"Relu", "Tanh"});
    v("flag", flags[0]);
    v.ignored("storage_order");
  }
};

struct Outcome {
  Sample sample;
  std::string error;
};
Outcome read(const AttributeMap& attributes) {
  Outcome outcome;
  outcome.error =
      codec_of<Sample>().read(attributes, reinterpret_cast<std::byte*>(&outcome.sample));
  return outcome;
}

TEST(AttributeCodec, ReadsEveryKind) {
  const Outcome outcome = read({{"axis", int64_t{2}},
                                {"alpha", 0.25F},
                                {"mode", std::string("constant")},
                                {"pads", std::vector<int64_t>{1, -2}},
                                {"scales", std::vector<float>{1.5F}},
                                {"functions", std::vector<std::string>{"Tanh", "Relu"}},
                                {"flag", int64_t{1}},
                                {"storage_order", int64_t{1}}});
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.sample.axis, 2);
  EXPECT_EQ(outcome.sample.alpha, 0.25F);
  EXPECT_EQ(outcome.sample.mode, 0);
  ASSERT_EQ(outcome.sample.pads.count, 2);
  EXPECT_EQ(outcome.sample.pads[1], -2);
  ASSERT_EQ(outcome.sample.scales.count, 1);
  EXPECT_EQ(outcome.sample.scales[0], 1.5F);
  ASSERT_EQ(outcome.sample.functions.count, 2);
  EXPECT_EQ(outcome.sample.functions[0], 1);
  EXPECT_EQ(outcome.sample.flags[0], 1);
}

TEST(AttributeCodec, AbsentAttributesKeepTheirDefaults) {
  const Outcome outcome = read({{"axis", int64_t{0}}});
  EXPECT_EQ(outcome.error, "");
  EXPECT_EQ(outcome.sample.alpha, 0.5F);
  EXPECT_EQ(outcome.sample.mode, 1);
  EXPECT_EQ(outcome.sample.pads.count, 0);
}

TEST(AttributeCodec, ErrorsNameAttributeExpectedAndFound) {
  const auto error = [](const std::string& name, AttributeValue value) {
    AttributeMap attributes{{"axis", int64_t{0}}};
    attributes[name] = std::move(value);
    return read(attributes).error;
  };
  EXPECT_EQ(read({}).error, "attribute \"axis\" is required, but the node has none");
  EXPECT_EQ(error("alpha", int64_t{1}), "attribute \"alpha\" must be a float, but is an integer");
  EXPECT_EQ(error("axis", int64_t{1} << 40),
            "attribute \"axis\" must lie in [-2147483648, 2147483647], but is 1099511627776");
  EXPECT_EQ(error("flag", int64_t{-1}), "attribute \"flag\" must lie in [0, 255], but is -1");
  EXPECT_EQ(error("mode", std::string("wrap")),
            "attribute \"mode\" must be one of \"constant\", \"edge\", but is \"wrap\"");
  EXPECT_EQ(error("functions", std::vector<std::string>{"Gelu"}),
            "attribute \"functions\" must be one of \"Relu\", \"Tanh\", but is \"Gelu\"");
  EXPECT_EQ(error("pads", std::vector<int64_t>(4)),
            "attribute \"pads\" may have at most 3 elements, but has 4");
  EXPECT_EQ(error("activation", int64_t{1}).substr(0, 34), "attribute \"activation\" is unknown;");
  EXPECT_EQ(error("axes", int64_t{1}).substr(0, 28), "attribute \"axes\" is unknown;");
}

TEST(AttributeCodec, PrintsEveryField) {
  Sample sample;
  sample.pads.push(4);
  sample.pads.push(5);
  sample.functions.push(1);
  std::map<std::string, std::string> text;
  for (auto& [name, value] :
       codec_of<Sample>().print(reinterpret_cast<const std::byte*>(&sample))) {
    text[name] = value;
  }
  EXPECT_EQ(text["axis"], "-1");
  EXPECT_EQ(text["alpha"], "0.5");
  EXPECT_EQ(text["mode"], "edge");
  EXPECT_EQ(text["activation"], "7");
  EXPECT_EQ(text["pads"], "[4,5]");
  EXPECT_EQ(text["functions"], "[Tanh]");
  EXPECT_EQ(text.count("storage_order"), 0u);
}

TEST(AttributeCodec, NoAttributesAcceptNone) {
  const AttributeCodec codec = codec_of<NoAttributes>();
  EXPECT_EQ(codec.bytes, 0u);
  EXPECT_EQ(codec.read({}, nullptr), "");
  EXPECT_EQ(codec.read({{"axis", int64_t{1}}}, nullptr),
            "attribute \"axis\" is unknown; the operator has none");
}

}  // namespace
}  // namespace intarsia::definitions
