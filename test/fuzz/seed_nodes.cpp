// SPDX-License-Identifier: Apache-2.0
//
// Nodes whose operands belong together too closely to be drawn: one number of heads for several
// extents, packed weights, scales and zero points between other operands.
#include "test/fuzz/seed_models.h"

namespace intarsia::fuzz {
namespace {

using converter::OnnxBuilder;
using Ints = std::vector<int64_t>;

constexpr DataType kFloat = DataType::kFloat, kUint8 = DataType::kUint8, kInt32 = DataType::kInt32,
                   kInt64 = DataType::kInt64;
const char* const kMicrosoft = "com.microsoft";

/// An operand; absent without a type.
struct Operand {
  DataType type = DataType::kUndefined;
  Ints extents = {};
  bool constant = false;
  Ints values = {};  ///< of a constant of int64; others are ones, or halves
};

Operand floats(Ints extents) {
  return {kFloat, std::move(extents)};
}
Operand bytes(Ints extents) {
  return {kUint8, std::move(extents)};
}
Operand numbers(Ints values) {
  return {kInt64, {static_cast<int64_t>(values.size())}, true, values};
}
Operand constant(Operand operand) {
  operand.constant = true;
  return operand;
}

Operand scale() {
  return constant(floats({}));
}
Operand zero_point() {
  return constant(bytes({}));
}

void add_constant(OnnxBuilder& model, const std::string& name, const Operand& operand) {
  const auto add = [&](const auto& values) {
    model.initializer(name, operand.type, operand.extents, values.data(),
                      values.size() * sizeof values[0]);
  };
  size_t count = 1;
  for (int64_t extent : operand.extents) count *= static_cast<size_t>(extent);
  if (operand.type == kInt64) {
    add(operand.values);
  } else if (operand.type == kFloat) {
    add(std::vector<float>(count, 0.5f));
  } else {
    add(std::string(count, '\1'));
  }
}

/// A node of some operator, and its attributes.
struct Single {
  OnnxBuilder model{converter::kNewestOpset};
  onnx::NodeProto* node = nullptr;

  Single(const char* domain, const char* op, const std::vector<Operand>& operands,
         int outputs = 1) {
    if (*domain != '\0') model.import_opset(domain, 1);
    std::vector<std::string> inputs, results;
    for (const Operand& operand : operands) {
      const std::string name = "i" + std::to_string(inputs.size());
      const bool present = operand.type != DataType::kUndefined;
      inputs.push_back(present ? name : "");
      if (operand.constant) {
        add_constant(model, name, operand);
      } else if (present) {
        model.input(name, operand.extents, operand.type);
      }
    }
    for (int i = 0; i < outputs; ++i) {
      results.push_back("o" + std::to_string(i));
      model.output(results.back());
    }
    node = &model.node(op, inputs, results);
    node->set_domain(domain);
  }
  template <class Value>
  Single& with(const char* name, Value value) {
    OnnxBuilder::set(*node, name, std::move(value));
    return *this;
  }
  Single& with(const char* name, int value) { return with(name, int64_t{value}); }
  std::string bytes() const { return model.bytes(); }
};

/// Sequences and an optional value that nodes make.
std::string made_sequences() {
  OnnxBuilder model(converter::kNewestOpset);
  model.input("x", {4, 3});
  add_constant(model, "first", {kInt64, {}, true, {0}});
  for (const char* name : {"joined", "count", "mapped"}) model.output(name);
  model.node("SplitToSequence", {"x"}, {"parts"});
  OnnxBuilder::set(model.node("ConcatFromSequence", {"parts"}, {"joined"}), "axis", int64_t{1});
  model.node("SequenceEmpty", {}, {"none"});
  model.node("SequenceInsert", {"none", "x"}, {"one"});
  model.node("SequenceAt", {"one", "first"}, {"element"});
  model.node("SequenceConstruct", {"element", "x"}, {"two"});
  model.node("SequenceLength", {"two"}, {"count"});
  auto& map = model.node("SequenceMap", {"two"}, {"each"});
  auto& body = *OnnxBuilder::attribute(map, "body", onnx::AttributeProto::GRAPH).mutable_g();
  body.set_name("body");
  body.add_input()->set_name("a");
  body.add_output()->set_name("b");
  OnnxBuilder::add_node(*body.mutable_node(), "Relu", {"a"}, {"b"});
  OnnxBuilder::set(model.node("ConcatFromSequence", {"each"}, {"mapped"}), "axis", int64_t{0});
  return model.bytes();
}
std::string optional_value() {
  OnnxBuilder model;
  model.input("x", {2, 3});
  model.output("y");
  model.node("Optional", {"x"}, {"o"});
  model.node("OptionalGetElement", {"o"}, {"y"});
  return model.bytes();
}

std::string gradient() {
  OnnxBuilder model;
  model.import_opset("ai.onnx.preview.training", 1);
  model.input("x", {2, 3});
  model.output("d");
  model.node("Tanh", {"x"}, {"t"});
  model.node("ReduceSum", {"t"}, {"y"});
  auto& node = model.node("Gradient", {"x"}, {"d"});
  node.set_domain("ai.onnx.preview.training");
  OnnxBuilder::attribute(node, "xs", onnx::AttributeProto::STRINGS).add_strings("x");
  OnnxBuilder::set(node, "y", "y");
  return model.bytes();
}

/// Elements above a limit: only a run tells how many (model_options.cpp gives a bound).
std::string elements_above() {
  OnnxBuilder model;
  model.import_opset("sample", 1);
  model.input("x", {4});
  model.input("limit", {});
  model.output("bounded");
  model.node("Above", {"x", "limit"}, {"bounded"}).set_domain("sample");
  return model.bytes();
}

/// X, W and Y of a quantised convolution, with scales and zero points.
std::vector<Operand> quantised_window() {
  return {bytes({1, 1, 3, 3}), scale(), zero_point(), constant(bytes({1, 1, 2, 2})), scale(),
          zero_point(),        scale(), zero_point()};
}
/// Two operands of the same extents, or the extents of a product, and a result.
std::vector<Operand> quantised_pair(const Ints& a, const Ints& b) {
  return {bytes(a), scale(), zero_point(), bytes(b), scale(), zero_point(), scale(), zero_point()};
}

}  // namespace

std::map<std::string, std::string> seed_nodes() {
  const Operand none;
  const Operand rotation = floats({1, 3, 2}), table = floats({5, 2});
  return {
      {"AffineGrid", Single("", "AffineGrid", {floats({1, 2, 3}), numbers({1, 2, 3, 3})}).bytes()},
      {"Attention",
       Single("", "Attention", {floats({1, 2, 3, 4}), floats({1, 2, 5, 4}), floats({1, 2, 5, 4})})
           .bytes()},
      {"CausalConvWithState",
       Single("", "CausalConvWithState",
              {floats({1, 2, 4}), floats({2, 1, 3}), floats({2}), floats({1, 2, 2})}, 2)
           .bytes()},
      {"Col2Im",
       Single("", "Col2Im", {floats({1, 4, 4}), numbers({3, 3}), numbers({2, 2})}).bytes()},
      {"made_sequences", made_sequences()},
      {"MaxUnpool", Single("", "MaxUnpool", {floats({1, 1, 2, 2}), {kInt64, {1, 1, 2, 2}}})
                        .with("kernel_shape", Ints{2, 2})
                        .with("strides", Ints{2, 2})
                        .bytes()},
      {"Optional", optional_value()},
      {"QLinearConv", Single("", "QLinearConv", quantised_window()).bytes()},
      {"QLinearMatMul", Single("", "QLinearMatMul", quantised_pair({2, 3}, {3, 2})).bytes()},
      {"RotaryEmbedding",
       Single("", "RotaryEmbedding", {floats({1, 2, 3, 4}), rotation, rotation}).bytes()},
      {"TensorScatter",
       Single("", "TensorScatter", {floats({1, 2, 6, 4}), floats({1, 2, 1, 4})}).bytes()},
      {"FlexAttention", Single("ai.onnx.preview", "FlexAttention",
                               {floats({1, 2, 3, 4}), floats({1, 2, 5, 4}), floats({1, 2, 5, 4})})
                            .bytes()},
      {"Gradient", gradient()},
      {"microsoft_Attention",
       Single(kMicrosoft, "Attention", {floats({1, 3, 4}), floats({4, 12}), floats({12})})
           .with("num_heads", 2)
           .bytes()},
      {"microsoft_DynamicQuantizeLSTM",
       Single(kMicrosoft, "DynamicQuantizeLSTM",
              {floats({2, 1, 3}), constant(bytes({1, 3, 8})), constant(bytes({1, 2, 8})), none,
               none, none, none, none, constant(floats({1})), constant(bytes({1})),
               constant(floats({1})), constant(bytes({1}))},
              3)
           .with("hidden_size", 2)
           .bytes()},
      {"microsoft_EmbedLayerNormalization",
       Single(
           kMicrosoft, "EmbedLayerNormalization",
           {{kInt32, {1, 3}}, none, floats({5, 4}), floats({6, 4}), none, floats({4}), floats({4})})
           .bytes()},
      {"microsoft_FusedConv",
       Single(kMicrosoft, "FusedConv", {floats({1, 2, 4, 4}), constant(floats({3, 2, 3, 3}))})
           .with("activation", "Relu")
           .bytes()},
      {"microsoft_GatherBlockQuantized",
       Single(kMicrosoft, "GatherBlockQuantized",
              {{DataType::kUint4, {3, 32}}, {kInt64, {2}}, floats({3, 2})})
           .with("block_size", 16)
           .with("quantize_axis", 1)
           .bytes()},
      {"microsoft_GroupQueryAttention", Single(kMicrosoft, "GroupQueryAttention",
                                               {floats({1, 1, 16}),
                                                floats({1, 1, 8}),
                                                floats({1, 1, 8}),
                                                floats({1, 1, 3, 8}),
                                                floats({1, 1, 3, 8}),
                                                {kInt32, {1}},
                                                {kInt32, {}}},
                                               3)
                                            .with("num_heads", 2)
                                            .with("kv_num_heads", 1)
                                            .bytes()},
      {"microsoft_MatMulNBits",
       Single(kMicrosoft, "MatMulNBits",
              {floats({2, 32}), constant(bytes({3, 2, 8})), constant(floats({6}))})
           .with("K", 32)
           .with("N", 3)
           .with("bits", 4)
           .with("block_size", 16)
           .bytes()},
      {"microsoft_MultiHeadAttention",
       Single(kMicrosoft, "MultiHeadAttention",
              {floats({1, 3, 4}), floats({1, 2, 4}), floats({1, 2, 4})})
           .with("num_heads", 2)
           .bytes()},
      {"microsoft_NhwcConv",
       Single(kMicrosoft, "NhwcConv", {floats({1, 4, 4, 2}), constant(floats({3, 3, 3, 2}))})
           .bytes()},
      {"microsoft_QAttention",
       Single(kMicrosoft, "QAttention",
              {bytes({1, 3, 4}), constant(bytes({4, 12})), constant(floats({12})), scale(), scale(),
               none, zero_point(), zero_point()})
           .with("num_heads", 2)
           .bytes()},
      {"microsoft_QEmbedLayerNormalization", Single(kMicrosoft, "QEmbedLayerNormalization",
                                                    {{kInt32, {1, 3}},
                                                     none,
                                                     bytes({5, 4}),
                                                     bytes({6, 4}),
                                                     none,
                                                     bytes({4}),
                                                     bytes({4}),
                                                     none,
                                                     scale(),
                                                     scale(),
                                                     none,
                                                     scale(),
                                                     scale(),
                                                     zero_point(),
                                                     zero_point(),
                                                     none,
                                                     zero_point(),
                                                     zero_point()},
                                                    2)
                                                 .bytes()},
      {"microsoft_QGemm", Single(kMicrosoft, "QGemm",
                                 {bytes({2, 3}), scale(), zero_point(), bytes({3, 2}), scale(),
                                  zero_point(), none, scale(), zero_point()})
                              .bytes()},
      {"microsoft_QLinearAdd",
       Single(kMicrosoft, "QLinearAdd", quantised_pair({2, 3}, {3})).bytes()},
      {"microsoft_QLinearAveragePool",
       Single(kMicrosoft, "QLinearAveragePool",
              {bytes({1, 1, 3, 3}), scale(), zero_point(), scale(), zero_point()})
           .with("kernel_shape", Ints{2, 2})
           .bytes()},
      {"microsoft_QLinearConcat", Single(kMicrosoft, "QLinearConcat",
                                         {scale(), zero_point(), bytes({1, 2}), scale(),
                                          zero_point(), bytes({3, 2}), scale(), zero_point()})
                                      .with("axis", 0)
                                      .bytes()},
      {"microsoft_QLinearConv", Single(kMicrosoft, "QLinearConv", quantised_window()).bytes()},
      {"microsoft_QLinearGlobalAveragePool",
       Single(kMicrosoft, "QLinearGlobalAveragePool",
              {bytes({1, 2, 3, 3}), scale(), zero_point(), scale(), zero_point()})
           .bytes()},
      {"microsoft_QLinearMul",
       Single(kMicrosoft, "QLinearMul", quantised_pair({2, 3}, {3})).bytes()},
      {"microsoft_RelativePositionBias",
       Single(kMicrosoft, "RelativePositionBias", {floats({8, 2}), numbers({3}), numbers({3})})
           .with("max_distance", 16)
           .bytes()},
      {"microsoft_RotaryEmbedding",
       Single(kMicrosoft, "RotaryEmbedding", {floats({1, 2, 3, 4}), {kInt64, {1, 3}}, table, table})
           .bytes()},
      {"microsoft_SkipGroupNorm",
       Single(kMicrosoft, "SkipGroupNorm",
              {floats({1, 2, 2, 4}), floats({4}), floats({4}), floats({1, 2, 2, 4})})
           .with("groups", 2)
           .with("activation", 1)
           .bytes()},
      {"sample_Above", elements_above()},
  };
}

}  // namespace intarsia::fuzz
