// SPDX-License-Identifier: Apache-2.0
//
// Inference of SequenceMap: it is rewritten as a Loop over the elements of its sequences.
//
//     SequenceMap(sequence, more) body(element, more)
//     Loop(length of sequence, , empty sequences) body(trip, condition, sequences):
//         SequenceAt(sequence, trip), then the body's, then SequenceInsert of each result
//
// Specification: https://onnx.ai/onnx/operators/onnx__SequenceMap.html
#include <fmt/format.h>

#include "converter/graph/infer_rewriting.h"
#include "converter/onnx/declaration.h"

namespace intarsia::converter {
namespace {

class SequenceMapRewriting : Rewriting {
 public:
  using Rewriting::Rewriting;

  void run() {
    std::unique_ptr<Graph> mapped = std::move(node_.graphs[0].graph);
    node_.graphs.clear();
    if (mapped->inputs().size() != node_.inputs.size() ||
        mapped->outputs().size() < node_.outputs.size()) {
      throw Error(node_.problem(fmt::format("has {} inputs and {} outputs, its body {} and {}",
                                            node_.inputs.size(), node_.outputs.size(),
                                            mapped->inputs().size(), mapped->outputs().size())));
    }
    for (const Value* input : node_.inputs) {
      if (input == nullptr) throw Error(node_.problem("lacks one of its inputs"));
    }
    std::vector<Value*> inputs{compute("SequenceLength", {node_.inputs[0]}), nullptr};
    auto body = std::make_unique<Graph>(&graph_, mapped->name());
    Value* trip = start_body(*body);
    std::vector<Value*> so_far, arguments;
    for (const Value* output : mapped->outputs()) {
      inputs.push_back(compute("SequenceEmpty", {}));
      so_far.push_back(body->add_input(graph_.unique_name(output->name + "_so_far")));
    }
    for (Value* input : node_.inputs) {
      const bool sequence = type_of(*input) == DataType::kSequence;
      arguments.push_back(sequence ? add(*body, "SequenceAt", {input, trip}, {}, nullptr).outputs[0]
                                   : input);
    }
    std::vector<Value*> results = body->splice(std::move(mapped), arguments, nullptr);
    for (size_t i = 0; i < results.size(); ++i) {
      results[i] = add(*body, "SequenceInsert", {so_far[i], results[i]}, {}, nullptr).outputs[0];
    }
    end_body(*body, results);
    Node& loop = add_loop(inputs, std::move(body));
    const std::vector<Value*> mapped_to = loop.outputs;  // which inference may put in another order
    infer(loop);
    for (size_t i = 0; i < node_.outputs.size(); ++i) {
      if (node_.outputs[i] == nullptr) continue;
      inherit_declaration(*mapped_to[i], *node_.outputs[i]);
      Graph::replace_uses(node_.outputs[i], mapped_to[i]);
    }
    graph_.remove(&node_);
  }
};

}  // namespace

void Inference::visit_sequence_map(Node* node) {
  check_types(*node);
  SequenceMapRewriting(*this, *node).run();
}

}  // namespace intarsia::converter
