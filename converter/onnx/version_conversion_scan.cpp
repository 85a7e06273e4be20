// SPDX-License-Identifier: Apache-2.0
//
// Scan of operator set 8.
#include <memory>

#include "converter/onnx/version_conversion_steps.h"

namespace intarsia::converter::version_steps {
namespace {

/// Lets a body of Scan keep its states, and give zeros, from trip `length` on. Its last input
/// becomes the number of the trip.
void stop_at(Graph& body, Value* length, int64_t states) {
  Value* trip = body.add_input(body.unique_name("trip"));
  Value* zero = body.add_constant(body.unique_name("zero"), Constant::scalar<float>(0));
  const auto add = [&body](const char* type, std::initializer_list<Value*> inputs) {
    const std::vector<Value*> operands = inputs;
    return body.add_node("", type, body.unique_name(type), operands, 1)->outputs[0];
  };
  Value* goes_on = add("Less", {trip, length});
  const std::vector<Value*> results = body.outputs();
  for (size_t i = 0; i < results.size(); ++i) {
    const bool state = static_cast<int64_t>(i) < states;
    Value* otherwise = state ? body.inputs()[i] : add("CastLike", {zero, results[i]});
    body.set_output(static_cast<int>(i), add("Where", {goes_on, results[i], otherwise}));
  }
}

/// Items that end early are scanned in reverse from their own end: what is scanned is reversed
/// before.
void turn_round(Node& node, Value* lengths, int64_t states) {
  const std::vector<int64_t> directions = node.integers("directions");
  node.attributes.erase("directions");
  for (size_t i = 0; i < directions.size(); ++i) {
    const size_t place = static_cast<size_t>(1 + states) + i;
    if (directions[i] == 0 || place >= node.inputs.size()) continue;
    Value* reversed = emit(node, "ReverseSequence", {node.inputs[place], lengths},
                           {{"batch_axis", int64_t{0}}, {"time_axis", int64_t{1}}});
    node.set_input(static_cast<int>(place), reversed);
  }
}

}  // namespace

/// Operator set 8 scanned each item of a batch: a Loop over the batch, with today's form in it.
void scan_8(Node& node) {
  Value* lengths = node.input(0);
  if (node.graphs.size() != 1 || node.inputs.size() < 2 || node.input(1) == nullptr) {
    refuse(node, "lacks its body or its inputs");
  }
  const int64_t scanned = node.integer("num_scan_inputs", 0);
  const int64_t states = static_cast<int64_t>(node.inputs.size()) - 1 - scanned;
  if (scanned < 1 || states < 0) refuse(node, "has no input to scan");
  if (lengths != nullptr) turn_round(node, lengths, states);
  Graph& graph = *node.graph;
  Value* zero = constant(node, "zero", Constant::scalar<int64_t>(0));
  Value* extents = emit(node, "Shape", {node.inputs[1]});
  Value* batch = emit(node, "Gather", {extents, zero});
  auto body = std::make_unique<Graph>(&graph, node.name);
  Value* item = body->add_input(graph.unique_name(node.name + "_item"));
  body->add_input(graph.unique_name(node.name + "_condition"));
  std::vector<Value*> slices;
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    Value* const operands[] = {node.inputs[i], item};
    slices.push_back(body->add_node("", "Gather", node.name + "_slice", operands, 1)->outputs[0]);
  }
  Value* goes_on =
      body->add_constant(graph.unique_name(node.name + "_goes_on"), Constant::scalar<bool>(true));
  body->add_output(goes_on);
  if (lengths != nullptr) {
    const auto add = [&](const char* type, std::initializer_list<Value*> inputs) {
      const std::vector<Value*> operands = inputs;
      return body->add_node("", type, node.name + "_" + type, operands, 1)->outputs[0];
    };
    Value* one = constant(node, "one", Constant::scalar<int64_t>(1));
    stop_at(*node.graphs[0].graph, add("Gather", {lengths, item}), states);
    Value* longest = add("Gather", {add("Shape", {slices.back()}), zero});
    slices.push_back(add("Range", {zero, longest, one}));
    node.attributes["num_scan_inputs"] = scanned + 1;
  }
  Node* scan = body->add_node("", "Scan", node.name + "_item", slices,
                              static_cast<int>(node.outputs.size()));
  for (const char* name : {"num_scan_inputs", "directions"}) {
    const auto found = node.attributes.find(name);
    if (found == node.attributes.end()) continue;
    const bool directions = std::string_view(name) == "directions";
    scan->attributes[directions ? "scan_input_directions" : name] = found->second;
  }
  for (Value* result : scan->outputs) body->add_output(result);
  body->adopt(scan, "body", std::move(node.graphs[0].graph));
  node.graphs.clear();
  node.attributes.clear();
  node.type = "Loop";
  node.truncate_inputs(0);
  node.set_input(0, batch);
  graph.adopt(&node, "body", std::move(body));
}

}  // namespace intarsia::converter::version_steps
