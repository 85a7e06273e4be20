// SPDX-License-Identifier: Apache-2.0
#include "converter/passes/fuse.h"

#include <optional>

#include "converter/passes/affine.h"
#include "converter/passes/products.h"
#include "converter/passes/recognize.h"
#include "converter/passes/rewrite.h"
#include "converter/passes/simplify.h"
#include "core/operators/common/activation_spec.h"

namespace intarsia::converter {
namespace {

/// Types whose kernels have fused activations.
bool has_activations(DataType type) {
  return type == DataType::kFloat || type == DataType::kFloat16 || type == DataType::kBfloat16;
}

/// Whether a node gives its input's elements other extents, or none but the same.
bool is_view(const Node& node) {
  return node.op != nullptr && node.op->view && node.outputs[0] != nullptr &&
         node.inputs[0] != nullptr && node.outputs[0]->type == node.inputs[0]->type;
}

bool attach_activation(Node& node) {
  const definitions::Epilogue* epilogue = epilogue_of(node);
  if (epilogue == nullptr || !is_open(node, *epilogue)) return false;
  if (!has_activations(node.outputs[0]->type)) return false;
  // Other extents in between make no difference to an activation.
  Node* last = &node;
  Node* next = only_reader(node.outputs[0]);
  while (next != nullptr && is_view(*next) && next->input(0) == last->outputs[0]) {
    last = next;
    next = only_reader(last->outputs[0]);
  }
  if (next == nullptr || next->input(0) != last->outputs[0]) return false;
  if (next->op == nullptr || next->op->facts.activation == nullptr) return false;
  const std::optional<ActivationSpec> spec =
      next->op->facts.activation(next->attribute_bytes.data(), symbolic_inputs(*next));
  if (!spec) return false;
  take_epilogue(node, *epilogue);
  epilogue->set(node.attribute_bytes.data(), *spec);
  absorb(*last, *next);
  return true;
}

/// Y = product + other, with `other` of the same extents, becomes the product's residual.
bool attach_residual(Node& node) {
  const definitions::Epilogue* epilogue = epilogue_of(node);
  if (epilogue == nullptr || !is_open(node, *epilogue)) return false;
  if (node.input(epilogue->residual) != nullptr) return false;
  Value* result = node.outputs[0];
  Node* sum = only_reader(result);
  if (sum == nullptr || (!sum->fuses_as("Add") && !sum->fuses_as("Sum")) || sum->inputs.size() != 2)
    return false;
  Value* other = sum->inputs[0] == result ? sum->inputs[1] : sum->inputs[0];
  if (other == result || other->constant || other->type != result->type) return false;
  if (!same_extents(*other, *result)) return false;
  take_epilogue(node, *epilogue);
  node.set_input(epilogue->residual, other);
  absorb(node, *sum);
  return true;
}

}  // namespace

void fuse(Graph& graph, Inference& inference) {
  apply_rule(graph, [&](Node& node) { return recognize(node, inference); });
  remove_dead_nodes(graph);  // what was recognised has no other readers but them
  apply_rule(graph, [&](Node& node) { return fold_into_product(node, inference); });
  remove_dead_nodes(graph);
  fold_affine(graph);
  apply_rule(graph, attach_residual);
  apply_rule(graph, attach_activation);
}

}  // namespace intarsia::converter
