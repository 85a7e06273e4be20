// SPDX-License-Identifier: Apache-2.0
//
// Models of one node for the gradients of what goes step by step, and of branches: recurrent
// layers, Loop, Scan, If.
#include <map>

#include "test/converter/gradient_cases.h"

namespace intarsia::test {
namespace {

using converter::OnnxBuilder;
using Extents = std::vector<int64_t>;

// -- Recurrent layers
// -------------------------------------------------------------------------------

/// What the three layers differ in.
struct Layer {
  int64_t gates, functions;
  bool cell;
};

void set_activations(GradientSample& s, onnx::NodeProto& node, int64_t count) {
  auto& names = OnnxBuilder::attribute(node, "activations", onnx::AttributeProto::STRINGS);
  for (int64_t i = 0; i < count; ++i) {
    // Bounded ones: the states of others grow. All are in gradient_rules_test.cpp.
    names.add_strings(s.random.pick<const char*>({"Sigmoid", "Tanh", "ScaledTanh", "Softsign"}));
  }
  if (s.choices.chance(50)) {
    auto& alpha = OnnxBuilder::attribute(node, "activation_alpha", onnx::AttributeProto::FLOATS);
    for (int64_t i = 0; i < count; ++i) alpha.add_floats(0.5F + 0.2F * static_cast<float>(i));
  }
}

void recurrent(GradientSample& s, const Layer& layer) {
  const bool ends = s.choices.chance(60);
  const int64_t time = ends ? s.random.between(2, 4) : s.random.between(2, 3),
                batch = ends ? 2 : s.random.between(1, 2), features = s.random.between(1, 2),
                hidden = s.random.between(1, 2);
  const char* direction = s.choices.pick<const char*>({"forward", "reverse", "bidirectional"});
  const int64_t directions = direction == std::string_view("bidirectional") ? 2 : 1;
  const bool batch_first = s.choices.chance(30);
  const int64_t rows = layer.gates * hidden;
  Names inputs{
      s.variable(batch_first ? Extents{batch, time, features} : Extents{time, batch, features})};
  inputs.push_back(s.variable({directions, rows, features}, -1, 1));
  inputs.push_back(s.variable({directions, rows, hidden}, -1, 1));
  const auto maybe = [&](const Extents& extents) {
    inputs.push_back(s.choices.chance(50) ? s.variable(extents, -1, 1) : "");
  };
  maybe({directions, 2 * rows});
  inputs.emplace_back();
  if (ends) {
    // The first sequence ends early; another has several steps.
    std::vector<int32_t> lengths;
    for (int64_t i = 0; i < batch; ++i) {
      lengths.push_back(
          static_cast<int32_t>(i == 0 ? s.random.between(0, time - 1) : s.random.between(2, time)));
    }
    s.model.initializer("lengths", DataType::kInt32, {batch}, lengths.data(), 4 * lengths.size());
    inputs.back() = "lengths";
  }
  const Extents state =
      batch_first ? Extents{batch, directions, hidden} : Extents{directions, batch, hidden};
  maybe(state);
  if (layer.cell) {
    maybe(state);
    maybe({directions, 3 * hidden});
  }
  auto& node = s.node(inputs, s.choices.chance(25) ? 1 : layer.cell ? 3 : 2);
  OnnxBuilder::set(node, "hidden_size", hidden);
  OnnxBuilder::set(node, "direction", direction);
  OnnxBuilder::set(node, "layout", int64_t{batch_first});
  if (s.choices.chance(40)) set_activations(s, node, layer.functions * directions);
  // Far from where it clips, at each of both sides.
  if (s.choices.chance(20)) OnnxBuilder::set(node, "clip", 20.0F);
  // The last state alone.
  if (s.results.size() > 1 && s.choices.chance(30)) {
    node.set_output(0, "");
    s.results.erase(s.results.begin());
  }
}

void rnn(GradientSample& s) {
  recurrent(s, {1, 1, false});
}
void gru(GradientSample& s) {
  recurrent(s, {3, 2, false});
  OnnxBuilder::set(*s.model.graph().mutable_node(0), "linear_before_reset", s.choices.flag());
}
void lstm(GradientSample& s) {
  recurrent(s, {4, 3, true});
  OnnxBuilder::set(*s.model.graph().mutable_node(0), "input_forget", s.choices.flag());
}

// -- Sub-graphs
// -------------------------------------------------------------------------------

onnx::GraphProto& graph_of(onnx::NodeProto& node, const char* attribute) {
  auto& graph = *OnnxBuilder::attribute(node, attribute, onnx::AttributeProto::GRAPH).mutable_g();
  graph.set_name(attribute);
  return graph;
}

/// What a trip makes of two states, of a slice, and of a matrix outside: states and a result. Where
/// it `drops`, each trip drops other elements of a state, twice.
void add_trip(GradientSample& s, onnx::GraphProto& body, const std::string& slice,
              bool drops = false) {
  auto& nodes = *body.mutable_node();
  OnnxBuilder::add_node(nodes, "MatMul", {"h", "w"}, {"hw"});
  OnnxBuilder::add_node(nodes, "Add", {"hw", slice}, {"sum"});
  OnnxBuilder::add_node(nodes, s.choices.pick<const char*>({"Tanh", "Sigmoid"}), {"sum"},
                        {drops ? "whole" : "h2"});
  if (drops) {
    const char yes = 1;
    s.model.initializer("yes", DataType::kBool, {}, &yes, 1);
    s.model.floats("ratio", {}, {0.25F});
    OnnxBuilder::add_node(nodes, "Dropout", {"whole", "ratio", "yes"}, {"part"});
    OnnxBuilder::add_node(nodes, "Dropout", {"part", "ratio", "yes"}, {"h2"});
  }
  OnnxBuilder::add_node(nodes, "Mul", {"c", "h2"}, {"cell"});
  OnnxBuilder::add_node(nodes, "Sin", {"cell"}, {"next"});
  OnnxBuilder::add_node(nodes, "Mul", {"h", "next"}, {"each"});
}

constexpr int64_t kRows = 2, kColumns = 2;

void loop(GradientSample& s) {
  const int64_t trips = s.random.between(0, 3);
  const std::string w = s.variable({kColumns, kColumns}), x = s.variable({4, kRows, kColumns}),
                    h = s.variable({kRows, kColumns}), c = s.variable({kRows, kColumns});
  const bool stops = s.choices.chance(50);
  // With a condition and without, of fewer trips than x has slices.
  auto& node = s.node({s.indices({}, {stops ? 4 : trips}), "", h, c}, 3);
  auto& body = graph_of(node, "body");
  for (const char* name : {"trip", "go", "h", "c"}) body.add_input()->set_name(name);
  auto& nodes = *body.mutable_node();
  OnnxBuilder::add_node(nodes, "Identity", {w}, {"w"});
  OnnxBuilder::add_node(nodes, "Gather", {x, "trip"}, {"slice"});
  add_trip(s, body, "slice", s.choices.chance(50));
  if (stops) {
    OnnxBuilder::add_node(nodes, "Less", {"trip", s.indices({}, {trips - 1})}, {"goes"});
  } else {
    OnnxBuilder::add_node(nodes, "Identity", {"go"}, {"goes"});
  }
  for (const char* name : {"goes", "h2", "next", "each"}) body.add_output()->set_name(name);
}

void scan(GradientSample& s) {
  const int64_t steps = s.random.between(1, 3), axis = s.random.below(3);
  Extents whole{kRows, kColumns};
  whole.insert(whole.begin() + axis, steps);
  const std::string w = s.variable({kColumns, kColumns}), h = s.variable({kRows, kColumns}),
                    c = s.variable({kRows, kColumns}), x = s.variable(whole);
  auto& node = s.node({h, c, x}, 3);
  OnnxBuilder::set(node, "num_scan_inputs", int64_t{1});
  OnnxBuilder::set(node, "scan_input_axes", Extents{axis});
  OnnxBuilder::set(node, "scan_input_directions", Extents{s.choices.flag()});
  OnnxBuilder::set(node, "scan_output_axes", Extents{s.random.below(3)});
  OnnxBuilder::set(node, "scan_output_directions", Extents{s.choices.flag()});
  auto& body = graph_of(node, "body");
  for (const char* name : {"h", "c", "slice"}) body.add_input()->set_name(name);
  OnnxBuilder::add_node(*body.mutable_node(), "Identity", {w}, {"w"});
  add_trip(s, body, "slice", s.choices.chance(50));
  for (const char* name : {"h2", "next", "each"}) body.add_output()->set_name(name);
}

/// The condition depends on an input, so that it is not decided beforehand.
void branch(GradientSample& s) {
  const std::string w = s.variable({kColumns, kColumns}), h = s.variable({kRows, kColumns}),
                    c = s.variable({kRows, kColumns}), slice = s.variable({kRows, kColumns});
  s.model.node("ReduceMax", {c}, {"largest"});
  OnnxBuilder::set(*s.model.graph().mutable_node(0), "keepdims", int64_t{0});
  const double limit = s.choices.chance(50) ? 100 : -100;
  s.model.initializer("limit", DataType::kDouble, {}, &limit, sizeof(limit));
  s.model.node("Less", {"largest", "limit"}, {"condition"});
  auto& node = s.node({"condition"}, 2);
  auto& first = graph_of(node, "then_branch");
  for (const auto& [from, to] : {std::pair(w, "w"), std::pair(h, "h"), std::pair(c, "c")}) {
    OnnxBuilder::add_node(*first.mutable_node(), "Identity", {from}, {to});
  }
  add_trip(s, first, slice);
  for (const char* name : {"h2", "each"}) first.add_output()->set_name(name);
  // One that reads less, and hands on what is outside.
  auto& second = graph_of(node, "else_branch");
  OnnxBuilder::add_node(*second.mutable_node(), "Exp", {h}, {"e"});
  OnnxBuilder::add_node(*second.mutable_node(), "Identity", {c}, {"d"});
  for (const char* name : {"e", "d"}) second.add_output()->set_name(name);
}

/// Its kernels are of single precision.
void linear_attention(GradientSample& s) {
  const bool decays = s.choices.chance(50), corrects = s.choices.chance(50);
  const char* rules[] = {"linear", "delta", "gated", "gated_delta"};
  const int64_t states = s.random.between(1, 2), members = s.random.between(1, 2),
                batch = s.random.between(1, 2), time = s.random.between(1, 3),
                key = s.random.between(1, 3), value = s.random.between(1, 3);
  const auto maybe = [&](bool present, const Extents& extents, double low, double high) {
    return present ? s.single(s.variable(extents, low, high)) : std::string();
  };
  const auto packed = [&](int64_t width) { return Extents{batch, time, width}; };
  const Names inputs{
      maybe(true, packed(states * members * key), -1, 1),
      maybe(true, packed(states * key), -1, 1),
      maybe(true, packed(states * value), -1, 1),
      maybe(s.choices.chance(50), {batch, states, key, value}, -1, 1),
      maybe(decays, packed(s.choices.chance(50) ? states : states * key), -1, 0),
      maybe(corrects, packed(s.choices.chance(50) ? states : 1), 0, 1),
  };
  auto& node = s.node(inputs, 2);
  OnnxBuilder::set(node, "update_rule", rules[(decays ? 2 : 0) + (corrects ? 1 : 0)]);
  OnnxBuilder::set(node, "q_num_heads", states * members);
  OnnxBuilder::set(node, "kv_num_heads", states);
  if (s.choices.chance(50)) OnnxBuilder::set(node, "scale", 0.7F);
  s.widen_results();
}

}  // namespace

GradientCase control_gradient_case(std::string_view name) {
  static const std::map<std::string_view, GradientCase> kCases = {
      {"GRU", gru},   {"If", branch}, {"LSTM", lstm}, {"LinearAttention", linear_attention},
      {"Loop", loop}, {"RNN", rnn},   {"Scan", scan},
  };
  const auto found = kCases.find(name);
  return found == kCases.end() ? nullptr : found->second;
}

}  // namespace intarsia::test
