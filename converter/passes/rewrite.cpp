// SPDX-License-Identifier: Apache-2.0
#include "converter/passes/rewrite.h"

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

void absorb(Node& node, Node& last) {
  Value* from = last.outputs[0];
  Value* to = node.outputs[0];
  to->name = from->name;
  to->shape = from->shape;
  Graph::replace_uses(from, to);
  node.graph->move_before(&node, &last);
  last.graph->remove(&last);
}

Value* add_reals(Graph& graph, const std::string& name, DataType type, std::vector<int64_t> extents,
                 const std::vector<double>& values) {
  std::vector<std::byte> bytes;
  bytes.reserve(values.size() * static_cast<size_t>(element_bits(type)) / 8);
  for (double value : values) {
    const Constant element = Constant::scalar_of(type, value);
    bytes.insert(bytes.end(), element.bytes().begin(), element.bytes().end());
  }
  Value* added = graph.add_constant(graph.unique_name(name),
                                    Constant::own(type, std::move(extents), std::move(bytes)));
  added->type = type;
  return added;
}

bool has_epilogue(const Node& node, std::string_view name) {
  return node.domain != definitions::kInternalDomain && node.op->facts.epilogue.op == name;
}

const definitions::Epilogue* epilogue_of(const Node& node) {
  const definitions::Epilogue& epilogue = node.op->facts.epilogue;
  return epilogue ? &epilogue : nullptr;
}

bool is_open(const Node& node, const definitions::Epilogue& epilogue) {
  return epilogue.get(node.attribute_bytes.data()).kind == Activation::kNone;
}

void take_epilogue(Node& node, const definitions::Epilogue& epilogue) {
  if (node.domain == definitions::kInternalDomain) return;
  node.domain = definitions::kInternalDomain;
  node.type = epilogue.op;
  node.op = definitions::OperatorRegistry::builtin().find(node.domain, node.type);
}

}  // namespace intarsia::converter
