// SPDX-License-Identifier: Apache-2.0
//
// Maps from model to run: their bytes, ports of maps, and the operators of ai.onnx.ml that make
// them and take them apart. Each model runs with all passes and with none.
#include "intarsia/sequence.h"

#include <array>

#include "test/runtime/both_ways.h"

namespace intarsia::test {
namespace {

using converter::contains;
using converter::ConvertOptions;
using converter::OnnxBuilder;
using Words = std::vector<std::string>;

struct alignas(16) Bytes {
  std::array<std::byte, 1024> memory{};
};

template <class T>
TensorView vector_of(const std::vector<T>& elements, const int32_t& count) {
  return {const_cast<T*>(elements.data()), &count, data_type_of<T>, 1};
}

/// A map's bytes: keys, then values, which may be of different lengths here.
template <class K, class V>
TensorView map_in(Bytes& bytes, int32_t& size, const std::vector<K>& keys,
                  const std::vector<V>& values) {
  SequenceWriter writer(bytes.memory);
  EXPECT_TRUE(writer.append(vector_of(keys, static_cast<int32_t>(keys.size()))));
  EXPECT_TRUE(writer.append(vector_of(values, static_cast<int32_t>(values.size()))));
  size = static_cast<int32_t>(writer.bytes());
  return {bytes.memory.data(), &size, DataType::kMap, 1};
}

TEST(MapBytes, WhatIsWrittenIsRead) {
  Bytes bytes;
  int32_t size = 0;
  const auto map =
      MapView::of(map_in<int64_t, float>(bytes, size, {7, -1, int64_t{1} << 40}, {1, 2, 3}));
  ASSERT_TRUE(map);
  ASSERT_EQ(map->size(), 3);
  EXPECT_EQ(map->keys().as<const int64_t>()[2], int64_t{1} << 40);
  EXPECT_EQ(map->values().as<const float>()[1], 2);
  const int32_t none = 0;
  const auto empty = MapView::of(TensorView{bytes.memory.data(), &none, DataType::kMap, 1});
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->size(), 0);
  EXPECT_FALSE(empty->keys().present());
}

TEST(MapBytes, WhatIsNoMapIsFound) {
  Bytes bytes;
  int32_t size = 0;
  EXPECT_FALSE(MapView::of(map_in<int64_t, float>(bytes, size, {1, 2}, {1})));
  TensorView sequence = map_in<int64_t, float>(bytes, size, {1, 2}, {1, 2});
  sequence.type = DataType::kSequence;
  EXPECT_FALSE(MapView::of(sequence));
  const int32_t keys_alone = 64;
  EXPECT_FALSE(MapView::of(TensorView{bytes.memory.data(), &keys_alone, DataType::kMap, 1}));
  const int32_t cut = size - 1;
  EXPECT_FALSE(MapView::of(TensorView{bytes.memory.data(), &cut, DataType::kMap, 1}));
  bytes.memory[9] = std::byte{2};  // rank of the keys
  bytes.memory[20] = std::byte{1};
  EXPECT_FALSE(MapView::of(TensorView{bytes.memory.data(), &size, DataType::kMap, 1}));
}

void map_input(OnnxBuilder& model, DataType key, DataType value) {
  auto* input = model.graph().add_input();
  input->set_name("x");
  auto* type = input->mutable_type()->mutable_map_type();
  type->set_key_type(static_cast<int32_t>(key));
  type->mutable_value_type()->mutable_tensor_type()->set_elem_type(static_cast<int32_t>(value));
}

onnx::NodeProto& ml_node(OnnxBuilder& model, const char* type) {
  model.import_opset("ai.onnx.ml", 3);
  auto& node = model.node(type, {"x"}, {"y"});
  node.set_domain("ai.onnx.ml");
  model.output("y");
  return node;
}

void list(onnx::NodeProto& node, const char* name, const Words& words) {
  auto& attribute = OnnxBuilder::attribute(node, name, onnx::AttributeProto::STRINGS);
  for (const std::string& word : words) attribute.add_strings(word);
}

ConvertOptions up_to(int64_t entries) {
  ConvertOptions options;
  options.max_lengths["x"] = entries;
  options.max_string = 16;
  return options;
}

StringRef element(Session& session, const std::string& text) {
  return session.add_string(text).value();
}
template <class T>
T element(Session&, T value) {
  return value;
}
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, std::string>, StringRef, T>;

/// Gives the session its input and runs it.
template <class K, class V>
Status run(Session& session, const std::vector<K>& keys, const std::vector<V>& values) {
  std::vector<Stored<K>> key_elements;
  std::vector<Stored<V>> value_elements;
  for (const K& key : keys) key_elements.push_back(element(session, key));
  for (const V& value : values) value_elements.push_back(element(session, value));
  Bytes bytes;
  int32_t size = 0;
  map_in(bytes, size, key_elements, value_elements);
  const int32_t extents[] = {size};
  if (Status status = session.resize_input(0, extents); !status) return status;
  std::memcpy(session.input_port(0).value().tensor.data, bytes.memory.data(),
              static_cast<size_t>(size));  // never empty: two records
  return session.run();
}

template <class T>
std::vector<T> row(Session& session) {
  const TensorView y = session.output_port(0).value().tensor;
  EXPECT_EQ(y.rank, 2);
  EXPECT_EQ(y.extents[0], 1);
  const auto elements = session.output<T>(0).value();
  return {elements.begin(), elements.end()};
}
Words words(Session& session) {
  Words words;
  for (const StringRef& word : row<StringRef>(session)) words.emplace_back(session.string(word));
  return words;
}

TEST(Maps, ZipMapMakesOneOfEachRow) {
  for (const bool texts : {false, true}) {
    OnnxBuilder model;
    symbol(model.input("x", {0, 3}), 0, "n");
    auto& node = ml_node(model, "ZipMap");
    if (texts) {
      list(node, "classlabels_strings", {"cat", "", "a dog"});
    } else {
      OnnxBuilder::set(node, "classlabels_int64s", std::vector<int64_t>{5, -2, 9});
    }
    ConvertOptions options;
    options.dims["n"] = converter::DimRange{0, 4};
    both(model, options, [&](SmallPlan& plan, Session& session) {
      for (const int32_t rows : {4, 0, 1, 3}) {
        const int32_t extents[] = {rows, 3};
        ASSERT_TRUE(session.resize_input(0, extents).ok());
        std::vector<float> x;
        for (int i = 0; i < 3 * rows; ++i) x.push_back(0.5f * static_cast<float>(i));
        write(session, 0, x);
        ASSERT_TRUE(session.run().ok()) << plan.text(session.diagnostic());
        const auto maps = SequenceView::of(session.output_port(0).value().tensor);
        ASSERT_TRUE(maps);
        ASSERT_EQ(maps->size(), rows);
        for (int32_t i = 0; i < rows; ++i) {
          const auto map = MapView::of((*maps)[i]);
          ASSERT_TRUE(map);
          ASSERT_EQ(map->size(), 3);
          EXPECT_EQ(map->values().as<const float>()[2], x[static_cast<size_t>(3 * i) + 2]);
          if (texts) {
            EXPECT_EQ(session.string(map->keys().as<const StringRef>()[0]), "cat");
            EXPECT_EQ(session.string(map->keys().as<const StringRef>()[1]), "");
            EXPECT_EQ(session.string(map->keys().as<const StringRef>()[2]), "a dog");
          } else {
            EXPECT_EQ(map->keys().as<const int64_t>()[1], -2);
          }
        }
      }
    });
  }
}

TEST(Maps, ZipMapTakesAVectorAsOneRow) {
  OnnxBuilder model;
  model.input("x", {2});
  OnnxBuilder::set(ml_node(model, "ZipMap"), "classlabels_int64s", std::vector<int64_t>{0, 1});
  both(model, {}, [](SmallPlan&, Session& session) {
    write(session, 0, {3, 4});
    ASSERT_TRUE(session.run().ok());
    const auto maps = SequenceView::of(session.output_port(0).value().tensor);
    ASSERT_TRUE(maps && maps->size() == 1);
    EXPECT_EQ(MapView::of((*maps)[0])->values().as<const float>()[1], 4);
  });
}

TEST(Maps, DictVectorizerPutsValuesWhereTheVocabularyHasTheirKeys) {
  OnnxBuilder model;
  map_input(model, DataType::kString, DataType::kDouble);
  list(ml_node(model, "DictVectorizer"), "string_vocabulary", {"pear", "apple", "fig", "apple"});
  both(model, up_to(4), [](SmallPlan& plan, Session& session) {
    ASSERT_TRUE((run<std::string, double>(session, {"fig", "plum", "apple"}, {1.5, 7, -2}).ok()))
        << plan.text(session.diagnostic());
    EXPECT_EQ(row<double>(session), (std::vector<double>{0, -2, 1.5, -2}));
    ASSERT_TRUE((run<std::string, double>(session, {}, {}).ok()));
    EXPECT_EQ(row<double>(session), (std::vector<double>{0, 0, 0, 0}));
    const int32_t nothing[] = {0};
    ASSERT_TRUE(session.resize_input(0, nothing).ok());
    ASSERT_TRUE(session.run().ok()) << "an empty map may be no bytes";
    EXPECT_EQ(row<double>(session), (std::vector<double>{0, 0, 0, 0}));
  });
}

TEST(Maps, DictVectorizerOfStrings) {
  OnnxBuilder model;
  map_input(model, DataType::kInt64, DataType::kString);
  OnnxBuilder::set(ml_node(model, "DictVectorizer"), "int64_vocabulary",
                   std::vector<int64_t>{10, -3, 0});
  both(model, up_to(3), [](SmallPlan& plan, Session& session) {
    ASSERT_TRUE((run<int64_t, std::string>(session, {0, 10}, {"zero", "ten"}).ok()))
        << plan.text(session.diagnostic());
    EXPECT_EQ(words(session), (Words{"ten", "", "zero"}));
  });
}

OnnxBuilder cast_map(DataType value, const char* to, const char* form, int64_t most) {
  OnnxBuilder model;
  map_input(model, DataType::kInt64, value);
  auto& node = ml_node(model, "CastMap");
  OnnxBuilder::set(node, "cast_to", to);
  OnnxBuilder::set(node, "map_form", form);
  OnnxBuilder::set(node, "max_map", most);
  return model;
}

TEST(Maps, CastMapOrdersTheValuesByTheirKeys) {
  both(cast_map(DataType::kFloat, "TO_FLOAT", "DENSE", 1), up_to(4),
       [](SmallPlan& plan, Session& session) {
         ASSERT_TRUE((run<int64_t, float>(session, {3, -5, 40, 0}, {3, -5, 40, 0.5f}).ok()))
             << plan.text(session.diagnostic());
         EXPECT_EQ(row<float>(session), (std::vector<float>{-5, 0.5f, 3, 40}));
         ASSERT_TRUE((run<int64_t, float>(session, {1, 2}, {8, 9}).ok()));
         EXPECT_EQ(row<float>(session), (std::vector<float>{8, 9}));
         ASSERT_TRUE((run<int64_t, float>(session, {}, {}).ok()));
         EXPECT_TRUE(row<float>(session).empty());
       });
}

TEST(Maps, CastMapGoesToOtherTypes) {
  both(cast_map(DataType::kString, "TO_INT64", "DENSE", 1), up_to(2),
       [](SmallPlan& plan, Session& session) {
         ASSERT_TRUE((run<int64_t, std::string>(session, {2, 1}, {"-4", "17"}).ok()))
             << plan.text(session.diagnostic());
         EXPECT_EQ(row<int64_t>(session), (std::vector<int64_t>{17, -4}));
         EXPECT_FALSE((run<int64_t, std::string>(session, {2}, {"four"}).ok()));
         EXPECT_CONTAINS(plan.text(session.diagnostic()), "no number");
       });
  both(cast_map(DataType::kFloat, "TO_STRING", "SPARSE", 3), up_to(2),
       [](SmallPlan& plan, Session& session) {
         ASSERT_TRUE((run<int64_t, float>(session, {2, 7}, {0.25f, 1}).ok()))
             << plan.text(session.diagnostic());
         EXPECT_EQ(words(session), (Words{"0", "0", "0.25"}));
       });
}

TEST(Maps, WhatDoesNotFitIsRefused) {
  OnnxBuilder model = cast_map(DataType::kFloat, "TO_FLOAT", "DENSE", 1);
  both(model, up_to(2), [](SmallPlan& plan, Session& session) {
    EXPECT_EQ(
        (run<int64_t, float>(session, {1, 2, 3, 4, 5, 6, 7, 8}, {1, 2, 3, 4, 5, 6, 7, 8}).code()),
        Code::kWrongExtent);
    EXPECT_EQ((run<int64_t, double>(session, {1}, {2}).code()), Code::kWrongType);
    EXPECT_CONTAINS(plan.text(session.diagnostic()), "type of the map's values");
    const TensorView input = session.input_port(0).value().tensor;
    std::memset(input.data, 0xee, static_cast<size_t>(input.bytes()));
    EXPECT_EQ(session.run().code(), Code::kInvalidValue);
    EXPECT_CONTAINS(plan.text(session.diagnostic()), "no map");
    ASSERT_TRUE((run<int64_t, float>(session, {1}, {2}).ok())) << "the session lives on";
  });
  EXPECT_CONTAINS(conversion_error(model), "nothing says how long this map may be");
  EXPECT_CONTAINS(conversion_error(model), "--max-length x=N");
  ConvertOptions shaped = up_to(2);
  shaped.shapes["x"] = {2};
  EXPECT_CONTAINS(conversion_error(model, shaped), "--shape x: the input is a map");
}

TEST(Maps, AttributesThatContradictAreNamed) {
  OnnxBuilder both_given;
  both_given.input("x", {2});
  auto& node = ml_node(both_given, "ZipMap");
  list(node, "classlabels_strings", {"a", "b"});
  OnnxBuilder::set(node, "classlabels_int64s", std::vector<int64_t>{0, 1});
  EXPECT_CONTAINS(conversion_error(both_given),
                  "has both 'classlabels_strings' and 'classlabels_int64s'");
  OnnxBuilder none;
  none.input("x", {2});
  ml_node(none, "ZipMap");
  EXPECT_CONTAINS(conversion_error(none), "has neither");
  OnnxBuilder few;
  few.input("x", {2});
  OnnxBuilder::set(ml_node(few, "ZipMap"), "classlabels_int64s", std::vector<int64_t>{1});
  EXPECT_CONTAINS(conversion_error(few), "columns of X");
  const auto refusal = [](const char* to, const char* form, int64_t most) {
    return conversion_error(cast_map(DataType::kFloat, to, form, most), up_to(2));
  };
  EXPECT_CONTAINS(refusal("TO_BOOL", "DENSE", 1), "'cast_to' is 'TO_BOOL'");
  EXPECT_CONTAINS(refusal("TO_FLOAT", "THIN", 1), "'map_form' is 'THIN'");
  EXPECT_CONTAINS(refusal("TO_FLOAT", "SPARSE", int64_t{1} << 60), "'max_map' is");
  OnnxBuilder keys;
  map_input(keys, DataType::kString, DataType::kFloat);
  OnnxBuilder::set(ml_node(keys, "DictVectorizer"), "int64_vocabulary", std::vector<int64_t>{1});
  EXPECT_CONTAINS(conversion_error(keys, up_to(2)), "type of the map's keys");
}

}  // namespace
}  // namespace intarsia::test
