// SPDX-License-Identifier: Apache-2.0
//
// Inference of Scan: it is rewritten as a Loop, whose body takes its slices of the inputs itself.
//
//     Scan(states, x) body(states, slice)
//     Loop(length of x, , states) body(trip, condition, states): Gather(x, trip), then the body's
//
// Results are collected along axis 0, and moved or turned round behind the loop where the model
// wants that. Inputs of different lengths fail at the first slice that one of them lacks.
// Specification: https://onnx.ai/onnx/operators/onnx__Scan.html
#include <fmt/format.h>

#include <limits>

#include "converter/graph/infer_rewriting.h"
#include "converter/onnx/declaration.h"
#include "core/definitions/computed_types.h"

namespace intarsia::converter {

class ScanRewriting : Rewriting {
 public:
  using Rewriting::Rewriting;

  /// Puts a Loop in the place of the node, and infers it.
  void run() {
    scanned_ = static_cast<size_t>(node_.integer("num_scan_inputs", 0));
    const Graph& body = *node_.graphs[0].graph;
    if (scanned_ == 0 || scanned_ > node_.inputs.size() ||
        node_.inputs.size() != body.inputs().size()) {
      throw Error(node_.problem(
          fmt::format("has {} inputs of which num_scan_inputs = {} are scanned, and its body has "
                      "{} inputs",
                      node_.inputs.size(), scanned_, body.inputs().size())));
    }
    states_ = node_.inputs.size() - scanned_;
    collected_ = body.outputs().size() - states_;
    if (body.outputs().size() < states_ || node_.outputs.size() > body.outputs().size()) {
      throw Error(node_.problem(fmt::format("has {} states and {} outputs, its body {} outputs",
                                            states_, node_.outputs.size(), body.outputs().size())));
    }
    for (const Value* input : node_.inputs) {
      if (input == nullptr) throw Error(node_.problem("lacks one of its inputs"));
    }
    Node& loop = make_loop();
    const std::vector<Value*> results =
        loop.outputs;  // others may stand between these and the loop
    infer(loop);
    for (size_t i = 0; i < node_.outputs.size(); ++i) finish(i, *results[i]);
    graph_.remove(&node_);
  }

 private:
  /// An element of a list of axes or directions, which may be left out; `count` are expected.
  int64_t listed(const char* attribute, size_t index, size_t count) const {
    const std::vector<int64_t> list = node_.integers(attribute);
    if (list.empty()) return 0;
    if (list.size() != count) {
      throw Error(node_.problem(
          fmt::format("{} has {} elements, expected {}", attribute, list.size(), count)));
    }
    return list[index];
  }

  /// The number of trips: the greatest length, so that a shorter input is found out.
  Value* length() const {
    Value* zero = constant(graph_, "zero", Constant::scalar<int64_t>(0));
    std::vector<Value*> lengths;
    std::vector<definitions::Dim> seen;
    for (size_t i = 0; i < scanned_; ++i) {
      Value* input = node_.inputs[states_ + i];
      const Shape<definitions::Dim> shape = shape_of(*input);
      int64_t axis = listed("scan_input_axes", i, scanned_);
      if (axis < -shape.rank || axis >= shape.rank) {
        throw Error(
            node_.problem(fmt::format("scan_input_axes: '{}' has rank {}, which has no "
                                      "axis {}",
                                      input->name, shape.rank, axis)));
      }
      if (axis < 0) axis += shape.rank;
      const definitions::Dim& extent = shape[static_cast<int>(axis)];
      if (std::find(seen.begin(), seen.end(), extent) != seen.end()) continue;
      if (!seen.empty() && is_constant(extent) && is_constant(seen[0])) {
        throw Error(
            node_.problem(fmt::format("its scanned inputs differ in length: {} and {} ('{}')",
                                      seen[0].to_string(), extent.to_string(), input->name)));
      }
      seen.push_back(extent);
      Value* extents = compute("Shape", {input}, {{"start", axis}, {"end", axis + 1}});
      lengths.push_back(compute("Gather", {extents, zero}, {{"axis", int64_t{0}}}));
    }
    return lengths.size() == 1 ? lengths[0] : compute("Max", lengths);
  }

  Node& make_loop() {
    Value* trips = length();
    bool reversed = false;
    for (size_t i = 0; i < scanned_; ++i) {
      reversed = reversed || listed("scan_input_directions", i, scanned_) != 0;
    }
    Value* last = nullptr;
    if (reversed) {
      last = compute("Sub", {trips, constant(graph_, "one", Constant::scalar<int64_t>(1))});
    }
    auto body = std::make_unique<Graph>(&graph_, node_.graphs[0].graph->name());
    Value* trip = start_body(*body);
    std::vector<Value*> inputs{trips, nullptr}, arguments;
    for (size_t i = 0; i < states_; ++i) {
      inputs.push_back(node_.inputs[i]);
      arguments.push_back(body->add_input(node_.graphs[0].graph->inputs()[i]->name));
    }
    for (size_t i = 0; i < scanned_; ++i) {
      Value* index = trip;
      if (listed("scan_input_directions", i, scanned_) != 0) {
        index = add(*body, "Sub", {last, trip}, {}, nullptr).outputs[0];
      }
      arguments.push_back(
          slice(*body, node_.inputs[states_ + i], index, listed("scan_input_axes", i, scanned_)));
    }
    const std::vector<Value*> results =
        body->splice(std::move(node_.graphs[0].graph), arguments, nullptr);
    node_.graphs.clear();
    end_body(*body, results);
    return add_loop(inputs, std::move(body));
  }

  /// What a trip is given of `input`. Elements of less than a byte become whole ones before the
  /// loop.
  Value* slice(Graph& body, Value* input, Value* index, int64_t axis) const {
    const auto to = [](DataType type) {
      return definitions::AttributeMap{{"to", static_cast<int64_t>(type)}};
    };
    const DataType type = type_of(*input), bytes = definitions::whole_bytes(type);
    if (bytes != type) input = compute("Cast", {input}, to(bytes));
    Value* part =
        add(body, "Gather", {input, index}, {{"axis", axis}}, nullptr, definitions::kInternalDomain)
            .outputs[0];
    return bytes == type ? part : add(body, "Cast", {part}, to(type), nullptr).outputs[0];
  }

  /// Gives those who use an output of the node what the loop has for it.
  void finish(size_t i, Value& made) {
    Value* output = node_.outputs[i];
    if (output == nullptr) return;
    Value* result = &made;
    if (i >= states_) {
      if (listed("scan_output_directions", i - states_, collected_) != 0) {
        const auto list = [&](const char* what, int64_t value) {
          return constant(graph_, what, Constant::ints({value}));
        };
        result =
            compute("Slice",
                    {result, list("starts", -1), list("ends", std::numeric_limits<int64_t>::min()),
                     list("axes", 0), list("steps", -1)},
                    {}, definitions::kInternalDomain);
      }
      result = moved(result, listed("scan_output_axes", i - states_, collected_));
    }
    inherit_declaration(*result, *output);
    Graph::replace_uses(output, result);
  }

  /// `value` with axis 0 put at `axis`.
  Value* moved(Value* value, int64_t axis) const {
    const int64_t rank = value->shape->rank;
    if (axis < -rank || axis >= rank) {
      throw Error(node_.problem(
          fmt::format("scan_output_axes: a result of rank {} has no axis {}", rank, axis)));
    }
    if (axis < 0) axis += rank;
    if (axis == 0) return value;
    std::vector<int64_t> order;
    for (int64_t i = 1; i < rank; ++i) order.push_back(i);
    order.insert(order.begin() + axis, 0);
    return compute("Transpose", {value}, {{"perm", order}});
  }

  size_t scanned_ = 0;
  size_t states_ = 0;
  size_t collected_ = 0;
};

void Inference::visit_scan(Node* node) {
  ScanRewriting(*this, *node).run();
}

}  // namespace intarsia::converter
