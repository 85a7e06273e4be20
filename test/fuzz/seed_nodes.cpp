// SPDX-License-Identifier: Apache-2.0
//
// Operators of which a model of one node cannot be: their operands are what other nodes make.
#include "test/fuzz/seed_models.h"

namespace intarsia::fuzz {
namespace {

using converter::OnnxBuilder;

/// Sequences and an optional value that nodes make.
std::string made_sequences() {
  OnnxBuilder model(converter::kNewestOpset);
  model.input("x", {4, 3});
  const int64_t first = 0;
  model.initializer("first", DataType::kInt64, {}, &first, sizeof first);
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

}  // namespace

std::map<std::string, std::string> seed_nodes() {
  return {
      {"made_sequences", made_sequences()},
      {"Optional", optional_value()},
      {"Gradient", gradient()},
      {"sample_Above", elements_above()},
  };
}

}  // namespace intarsia::fuzz
