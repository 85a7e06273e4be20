// SPDX-License-Identifier: Apache-2.0
#include "converter/passes/replace.h"

namespace intarsia::converter {

Node& insert_before(Node& last, std::string_view domain, std::string_view type,
                    std::span<Value* const> inputs, definitions::AttributeMap attributes,
                    Inference& inference) {
  Node* node = last.graph->add_node(std::string(domain), std::string(type), last.name, inputs, 1,
                                    &last, &last);
  node->attributes = std::move(attributes);
  const std::string error =
      node->resolve_as(*definitions::OperatorRegistry::builtin().find(domain, type));
  if (!error.empty()) throw Error(node->problem(error));
  inference.infer_outputs(*node);
  return *node;
}

void replace_by(Node& last, std::string_view domain, std::string_view type,
                std::span<Value* const> inputs, definitions::AttributeMap attributes,
                Inference& inference) {
  const Node& node = insert_before(last, domain, type, inputs, std::move(attributes), inference);
  node.outputs[0]->name = last.outputs[0]->name;
  Graph::replace_uses(last.outputs[0], node.outputs[0]);
}

}  // namespace intarsia::converter
