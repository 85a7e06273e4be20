// SPDX-License-Identifier: Apache-2.0
#include "converter/passes/fold.h"

#include <algorithm>

namespace intarsia::converter {

void become_constant(Node& node, size_t index, Constant constant) {
  Value* value = node.outputs[index];
  Value* replacement = node.graph->add_constant(value->name, std::move(constant));
  replacement->type = replacement->constant->type;
  Graph::replace_uses(value, replacement);
}

void fold(Graph& graph) {
  for (Node* node : graph.node_list()) {
    for (const SubGraph& sub : node->graphs) fold(*sub.graph);
    bool folded = false;
    for (size_t i = 0; i < node->outputs.size(); ++i) {
      Value* output = node->outputs[i];
      if (output == nullptr || !output->known) continue;
      become_constant(*node, i, *output->known);
      folded = true;
    }
    const bool used = std::any_of(node->outputs.begin(), node->outputs.end(),
                                  [](const Value* v) { return v != nullptr && !v->uses.empty(); });
    if (folded && !used) graph.remove(node);
  }
}

}  // namespace intarsia::converter
