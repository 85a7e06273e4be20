// SPDX-License-Identifier: Apache-2.0
//
// Reading ONNX attributes into structs: defaults, kinds, ranges, and the sentences of errors.
#include "core/definitions/attribute_codec.h"

#include <gtest/gtest.h>

#include <cstring>

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
  std::vector<std::byte> blob;
  outcome.error = codec_of<Sample>().read(attributes, blob);
  if (blob.size() == sizeof(Sample)) std::memcpy(&outcome.sample, blob.data(), sizeof(Sample));
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
  EXPECT_EQ(error("activation", int64_t{1}),
            "attribute \"activation\" is unknown; the converter alone gives one of that name, a "
            "model cannot");
  EXPECT_EQ(error("axes", int64_t{1}).substr(0, 28), "attribute \"axes\" is unknown;");
}

TEST(AttributeCodec, PrintsEveryField) {
  Sample sample;
  sample.pads.push(4);
  sample.pads.push(5);
  sample.functions.push(1);
  std::map<std::string, std::string> text;
  for (auto& [name, value] : codec_of<Sample>().print(std::as_bytes(std::span(&sample, 1)))) {
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
  std::vector<std::byte> blob;
  EXPECT_EQ(codec.read({}, blob), "");
  EXPECT_TRUE(blob.empty());
  EXPECT_EQ(codec.read({{"axis", int64_t{1}}}, blob),
            "attribute \"axis\" is unknown; the operator has none");
}

struct Limited {
  int32_t keepdims = 1;
  int32_t group = 1;
  int32_t p = 2;
  int32_t stash_type = 1;
  int32_t to = 0;
  FixedList<int32_t, 3> strides;
  template <class V>
  void fields(V& v) {
    v("keepdims", keepdims, kFlag);
    v("group", group, at_least(1));
    v("p", p, between(1, 2));
    v("stash_type", stash_type, one_of({1, 10, 16}));
    v.required("to", to, kElementType);
    v("strides", strides, at_least(1));
  }
};

TEST(AttributeCodec, NumbersOutsideOfTheSpecificationAreErrors) {
  const auto error = [](const std::string& name, AttributeValue value) {
    AttributeMap attributes{{"to", int64_t{1}}};
    attributes[name] = std::move(value);
    std::vector<std::byte> blob;
    return codec_of<Limited>().read(attributes, blob);
  };
  for (int64_t flag : {0, 1}) EXPECT_EQ(error("keepdims", flag), "");
  EXPECT_EQ(error("keepdims", int64_t{2}), "attribute \"keepdims\" must lie in [0, 1], but is 2");
  EXPECT_EQ(error("group", int64_t{1}), "");
  EXPECT_EQ(error("group", int64_t{-1}),
            "attribute \"group\" must lie in [1, 2147483647], but is -1");
  EXPECT_EQ(error("p", int64_t{3}), "attribute \"p\" must lie in [1, 2], but is 3");
  EXPECT_EQ(error("stash_type", int64_t{16}), "");
  EXPECT_EQ(error("stash_type", int64_t{7}),
            "attribute \"stash_type\" must be one of 1, 10, 16, but is 7");
  EXPECT_EQ(error("stash_type", int64_t{17}),
            "attribute \"stash_type\" must be one of 1, 10, 16, but is 17");
  EXPECT_EQ(error("to", int64_t{0}), "attribute \"to\" must lie in [1, 28], but is 0");
  EXPECT_EQ(error("strides", std::vector<int64_t>{1, 2}), "");
  EXPECT_EQ(error("strides", std::vector<int64_t>{1, 0}),
            "attribute \"strides\" must lie in [1, 2147483647], but is 0");
}

struct Filled {
  int64_t bits = 5;
  int32_t type = static_cast<int32_t>(DataType::kInt64);
  int32_t reserved = 0;
  template <class V>
  void fields(V& v) {
    v.scalar("value", bits, type);
  }
};

TEST(AttributeCodec, ATensorOfOneElementIsItsBitsAndType) {
  const auto tensor = [](DataType type, std::vector<int64_t> extents, std::vector<uint8_t> bytes) {
    auto data = std::make_shared<std::vector<uint8_t>>(std::move(bytes));
    const auto* begin = reinterpret_cast<const std::byte*>(data->data());
    return TensorValue{type, std::move(extents), {data, begin}, data->size()};
  };
  Filled filled;
  const auto read_filled = [&](const AttributeMap& attributes) {
    std::vector<std::byte> blob;
    std::string error = codec_of<Filled>().read(attributes, blob);
    std::memcpy(&filled, blob.data(), sizeof(filled));
    return error;
  };
  EXPECT_EQ(read_filled({}), "");
  EXPECT_EQ(filled.bits, 5);
  EXPECT_EQ(read_filled({{"value", tensor(DataType::kInt16, {1}, {1, 2})}}), "");
  EXPECT_EQ(filled.bits, 0x201);
  EXPECT_EQ(filled.type, static_cast<int32_t>(DataType::kInt16));
  EXPECT_EQ(codec_of<Filled>().print(std::as_bytes(std::span(&filled, 1)))[0].second,
            "int16 of the bits 0x201");
  EXPECT_EQ(codec_of<Filled>().list()[0].kind, AttributeField::kTensor);
  EXPECT_EQ(read_filled({{"value", int64_t{1}}}),
            "attribute \"value\" must be a tensor, but is an integer");
  EXPECT_EQ(read_filled({{"value", tensor(DataType::kInt8, {2}, {1, 2})}}),
            "attribute \"value\" must be a tensor of one element, of at most 8 bytes, but is one "
            "of int8 with shape [2]");
}

struct Variable {
  int32_t axis = 3;
  StringAttribute mode;
  ListAttribute<float> taps;
  ListAttribute<int64_t> sizes;
  ListAttribute<uint8_t> flags;
  ListAttribute<StringAttribute> names;
  TensorAttribute window;
  template <class V>
  void fields(V& v) {
    v("axis", axis);
    v("mode", mode, "linear");
    v("taps", taps, {0.25F, 0.75F});
    v("sizes", sizes);
    v("flags", flags);
    v("names", names, {"a", "bc"});
    v("window", window);
  }
};

/// A blob at an address aligned as in a plan.
class Blob {
 public:
  explicit Blob(const AttributeMap& attributes) {
    std::vector<std::byte> bytes;
    error = codec_of<Variable>().read(attributes, bytes);
    size_ = bytes.size();
    words_.resize((size_ + 7) / 8);
    std::memcpy(words_.data(), bytes.data(), size_);
  }
  Variable& value() { return *reinterpret_cast<Variable*>(words_.data()); }
  std::span<const std::byte> bytes(size_t cut = 0) const {
    return std::as_bytes(std::span(words_)).first(size_ - cut);
  }
  bool holds(size_t cut = 0) const { return AttributeBounds(bytes(cut)).hold<Variable>(); }

  std::string error;

 private:
  std::vector<uint64_t> words_;
  size_t size_ = 0;
};

AttributeMap all_kinds() {
  static const double kWindow[] = {1.5, 2.5};
  const auto* data = reinterpret_cast<const std::byte*>(kWindow);
  return {{"axis", int64_t{-2}},
          {"mode", std::string("cubic")},
          {"taps", std::vector<float>{1, 2, 3}},
          {"sizes", std::vector<int64_t>{int64_t{1} << 40, -1}},
          {"flags", std::vector<int64_t>{0, 255}},
          {"names", std::vector<std::string>{"", "one", "of several"}},
          {"window", TensorValue{DataType::kDouble,
                                 {2, 1},
                                 std::shared_ptr<const std::byte>(data, [](const std::byte*) {}),
                                 sizeof(kWindow)}}};
}

TEST(AttributeCodec, CUS_03_EveryKindOfAttributeIsReadInPlace) {
  Blob blob(all_kinds());
  ASSERT_EQ(blob.error, "");
  const Variable& value = blob.value();
  EXPECT_EQ(value.axis, -2);
  EXPECT_EQ(value.mode.view(), "cubic");
  ASSERT_EQ(value.taps.size(), 3u);
  EXPECT_EQ(value.taps[2], 3.0F);
  ASSERT_EQ(value.sizes.size(), 2u);
  EXPECT_EQ(value.sizes[0], int64_t{1} << 40);
  EXPECT_EQ(value.sizes[1], -1);
  EXPECT_EQ(value.flags[1], 255);
  ASSERT_EQ(value.names.size(), 3u);
  EXPECT_EQ(value.names[0].view(), "");
  EXPECT_EQ(value.names[2].view(), "of several");
  const TensorView window = value.window.view();
  EXPECT_EQ(window.type, DataType::kDouble);
  ASSERT_EQ(window.rank, 2);
  EXPECT_EQ(window.extents[0], 2);
  EXPECT_EQ(window.as<double>()[1], 2.5);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(window.data) % alignof(double), 0u);
  EXPECT_TRUE(blob.holds());
}

TEST(AttributeCodec, CUS_03_DefaultsOfEveryKind) {
  Blob blob({});
  ASSERT_EQ(blob.error, "");
  const Variable& value = blob.value();
  EXPECT_EQ(value.axis, 3);
  EXPECT_EQ(value.mode.view(), "linear");
  ASSERT_EQ(value.taps.size(), 2u);
  EXPECT_EQ(value.taps[1], 0.75F);
  EXPECT_EQ(value.sizes.size(), 0u);
  ASSERT_EQ(value.names.size(), 2u);
  EXPECT_EQ(value.names[1].view(), "bc");
  EXPECT_FALSE(value.window.present());
  EXPECT_TRUE(blob.holds());
}

TEST(AttributeCodec, PrintsWhatHasAVariableLength) {
  Blob blob(all_kinds());
  std::map<std::string, std::string> text;
  for (auto& [name, value] : codec_of<Variable>().print(blob.bytes())) text[name] = value;
  EXPECT_EQ(text["mode"], "\"cubic\"");
  EXPECT_EQ(text["taps"], "[1,2,3]");
  EXPECT_EQ(text["names"], "[\"\",\"one\",\"of several\"]");
  EXPECT_EQ(text["window"], "tensor of type 11 [2,1]");
}

TEST(AttributeCodec, PrintsNothingFromOutsideTheBlob) {
  const Blob blob(all_kinds());
  // In memory of its own size, so that the address sanitizer sees a read beyond it.
  const std::vector<std::byte> cut(blob.bytes().begin(), blob.bytes().begin() + sizeof(Variable));
  std::map<std::string, std::string> text;
  for (auto& [name, value] : codec_of<Variable>().print(cut)) text[name] = value;
  EXPECT_EQ(text["axis"], "-2");
  for (const char* name : {"mode", "taps", "names", "window"}) {
    EXPECT_EQ(text[name], "outside the attributes") << name;
  }
  EXPECT_TRUE(codec_of<Variable>().print(std::span(cut).first(4)).empty());
}

TEST(AttributeCodec, RefusesWrongKindsAndValues) {
  EXPECT_EQ(Blob({{"mode", int64_t{1}}}).error,
            "attribute \"mode\" must be a string, but is an integer");
  EXPECT_EQ(Blob({{"window", 1.0F}}).error,
            "attribute \"window\" must be a tensor, but is a float");
  EXPECT_EQ(Blob({{"flags", std::vector<int64_t>{256}}}).error,
            "attribute \"flags\" must lie in [0, 255], but is 256");
  EXPECT_NE(Blob({{"window", TensorValue{DataType::kString, {}, nullptr, 0}}}).error, "");
}

TEST(AttributeBounds, RefusesEveryCut) {
  const Blob blob(all_kinds());
  for (size_t cut = 1; cut <= blob.bytes().size() - sizeof(Variable); ++cut) {
    EXPECT_FALSE(blob.holds(cut)) << cut;
  }
}

TEST(AttributeBounds, RefusesWhatLiesOutside) {
  const auto refused = [](const auto& damage) {
    Blob blob(all_kinds());
    damage(blob.value());
    return !blob.holds();
  };
  EXPECT_TRUE(refused([](Variable& v) { v.mode.range.offset = 0xffffffff; }));
  EXPECT_TRUE(refused([](Variable& v) { v.taps.range.count = 0x40000001; }));
  EXPECT_TRUE(refused([](Variable& v) { v.sizes.range.offset += 1; }));
  EXPECT_TRUE(refused(
      [](Variable& v) { const_cast<StringAttribute&>(v.names[1]).range.offset = 0x7fffffff; }));
  EXPECT_TRUE(refused([](Variable& v) { v.window.type = 200; }));
  EXPECT_TRUE(
      refused([](Variable& v) { v.window.type = static_cast<uint8_t>(DataType::kString); }));
  EXPECT_TRUE(refused([](Variable& v) { v.window.bytes.count -= 1; }));
  EXPECT_TRUE(refused([](Variable& v) { v.window.extents.count = 9; }));
  EXPECT_TRUE(refused([](Variable& v) { v.window.bytes.offset += 4; }));
  EXPECT_TRUE(refused([](Variable& v) { const_cast<int32_t*>(v.window.view().extents)[0] = -1; }));
  EXPECT_TRUE(
      refused([](Variable& v) { const_cast<int32_t*>(v.window.view().extents)[0] = 0x7fffffff; }));
}

struct Table {
  TensorAttribute tensor;
  int32_t extents[8] = {};
  double elements[1] = {};
  template <class V>
  void fields(V& v) {
    v("tensor", tensor);
  }
};

/// Products of these extents do not fit 64 bits: wrapped around they would be 0, or small.
TEST(AttributeBounds, RefusesTensorsOfImpossibleExtents) {
  const auto holds = [](std::initializer_list<int32_t> extents, DataType type) {
    alignas(8) Table table;
    table.tensor.type = static_cast<uint8_t>(type);
    const auto distance = [](const auto& member, const auto& range) {
      return static_cast<uint32_t>(reinterpret_cast<const std::byte*>(&member) -
                                   reinterpret_cast<const std::byte*>(&range));
    };
    table.tensor.extents = {distance(table.extents, table.tensor.extents),
                            static_cast<uint32_t>(extents.size())};
    table.tensor.bytes = {distance(table.elements, table.tensor.bytes), sizeof(table.elements)};
    std::copy(extents.begin(), extents.end(), table.extents);
    return AttributeBounds(std::as_bytes(std::span(&table, 1))).hold<Table>();
  };
  constexpr int32_t kMost = std::numeric_limits<int32_t>::max();
  EXPECT_TRUE(holds({2}, DataType::kFloat));
  EXPECT_TRUE(holds({}, DataType::kDouble));
  EXPECT_FALSE(holds({3}, DataType::kFloat));
  EXPECT_TRUE(holds({0, 1 << 21, 1 << 21}, DataType::kFloat));
  for (DataType type :
       {DataType::kInt4, DataType::kUint8, DataType::kFloat, DataType::kComplex128}) {
    EXPECT_FALSE(holds({1 << 16, 1 << 16, 1 << 30}, type)) << "2^62 elements";
    EXPECT_FALSE(holds({1 << 30, 1 << 30, 1 << 4}, type)) << "2^64 elements";
    EXPECT_FALSE(holds({kMost, kMost, kMost, kMost, kMost, kMost, kMost, kMost}, type));
    EXPECT_FALSE(holds({0, kMost, kMost, kMost, kMost}, type)) << "multiplied without the first";
    EXPECT_FALSE(holds({kMost, kMost, kMost, kMost, 0}, type));
  }
}

/// Members of fixed size that a kernel uses as an index, a count or a bool.
struct Bounded {
  int32_t mode = 1;
  FixedList<int32_t, 2> functions;
  FixedList<int32_t, 2> pads;
  bool flag = true;
  bool flags[3] = {};
  template <class V>
  void fields(V& v) {
    v.choice("mode", mode, {"constant", "edge"});
    v.choices("functions", functions, {"Relu", "Tanh"});
    v("pads", pads);
    v("flag", flag);
  }
};

TEST(AttributeBounds, RefusesCountsChoicesAndBoolsThatAreNone) {
  const auto holds = [](const auto& damage) {
    Bounded attributes;
    attributes.functions = {2, {1, 0}};
    attributes.pads = {1, {77, 88}};
    damage(attributes);
    return AttributeBounds(std::as_bytes(std::span(&attributes, 1))).hold<Bounded>();
  };
  EXPECT_TRUE(holds([](Bounded&) {}));
  EXPECT_FALSE(holds([](Bounded& b) { b.mode = 2; }));
  EXPECT_FALSE(holds([](Bounded& b) { b.mode = -1; }));
  EXPECT_FALSE(holds([](Bounded& b) { b.functions.count = 3; }));
  EXPECT_FALSE(holds([](Bounded& b) { b.functions.values[1] = 2; }));
  EXPECT_FALSE(holds([](Bounded& b) { b.pads.count = 3; }));
  EXPECT_FALSE(holds([](Bounded& b) { b.pads.count = -1; }));
  EXPECT_FALSE(holds([](Bounded& b) { std::memset(&b.flag, 2, 1); }));
}

}  // namespace
}  // namespace intarsia::definitions
