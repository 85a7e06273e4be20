// SPDX-License-Identifier: Apache-2.0
#include "converter/passes/fuse.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <tuple>

#include "converter/passes/products.h"
#include "converter/passes/recognize.h"
#include "converter/passes/simplify.h"
#include "core/operators/common/activation_spec.h"
#include "core/operators/elementwise/elementwise.h"
#include "core/operators/linear_algebra/matmul.h"
#include "core/operators/nn/conv.h"
#include "core/operators/nn/normalization.h"

namespace intarsia::converter {
namespace {

/// Types whose kernels have fused activations.
bool has_activations(DataType type) {
  return type == DataType::kFloat || type == DataType::kFloat16 || type == DataType::kBfloat16;
}

Constant real_constant(DataType type, std::vector<int64_t> extents,
                       const std::vector<double>& values) {
  std::vector<std::byte> bytes;
  bytes.reserve(values.size() * static_cast<size_t>(element_bits(type)) / 8);
  for (double value : values) {
    const Constant element = Constant::scalar_of(type, value);
    bytes.insert(bytes.end(), element.bytes().begin(), element.bytes().end());
  }
  return Constant::own(type, std::move(extents), std::move(bytes));
}

Value* add_constant(Graph& graph, const std::string& name, Constant constant) {
  Value* value = graph.add_constant(graph.unique_name(name), std::move(constant));
  value->type = value->constant->type;
  return value;
}

/// Lets `node` produce what `last` produced and removes `last`.
void absorb(Node& node, Node& last) {
  Value* from = last.outputs[0];
  Value* to = node.outputs[0];
  to->name = from->name;
  to->shape = from->shape;
  Graph::replace_uses(from, to);
  node.graph->move_before(&node, &last);
  last.graph->remove(&last);
}

// -- Constant scale and shift per output channel
// ---------------------------------------------------

struct Affine {
  std::vector<double> scale, shift;  // one per channel
};

/// The other operand of a binary node as one number per channel of axis 1, if it is such a
/// constant.
std::optional<std::vector<double>> per_channel(const Value* value, int rank, int64_t channels) {
  if (value == nullptr || !value->constant || !value->constant->is_real()) return std::nullopt;
  const Constant& constant = *value->constant;
  const int64_t count = constant.count();
  if (count != 1 && count != channels) return std::nullopt;
  for (int axis = 0; axis < constant.rank(); ++axis) {
    const int aligned = rank - constant.rank() + axis;
    if (aligned < 0) return std::nullopt;
    if (constant.extents[static_cast<size_t>(axis)] != 1 && aligned != 1) return std::nullopt;
  }
  std::vector<double> values = constant.reals();
  if (count == 1) values.assign(static_cast<size_t>(channels), values[0]);
  return values;
}

std::optional<Affine> affine_of(const Node& node, const Value* product, int64_t channels) {
  Affine result{std::vector<double>(static_cast<size_t>(channels), 1.0),
                std::vector<double>(static_cast<size_t>(channels), 0.0)};
  if (node.fuses_as("BatchNormalization") && node.inputs.size() == 5 && node.inputs[0] == product) {
    const auto& attributes = node.typed<BatchNormalizationAttributes>();
    if (attributes.training_mode != 0) return std::nullopt;
    std::vector<double> parameters[4];
    for (size_t i = 0; i < 4; ++i) {
      const Value* value = node.inputs[i + 1];
      if (!value->constant || value->constant->count() != channels) return std::nullopt;
      parameters[i] = value->constant->reals();
    }
    for (size_t c = 0; c < static_cast<size_t>(channels); ++c) {
      result.scale[c] = parameters[0][c] / std::sqrt(parameters[3][c] + attributes.epsilon);
      result.shift[c] = parameters[1][c] - parameters[2][c] * result.scale[c];
    }
    return result;
  }
  const bool add = node.fuses_as("Add"), mul = node.fuses_as("Mul");
  if ((!add && !mul) || node.inputs.size() != 2 || !product->shape) return std::nullopt;
  const Value* other = node.inputs[0] == product ? node.inputs[1] : node.inputs[0];
  const auto values = per_channel(other, product->shape->rank, channels);
  if (!values) return std::nullopt;
  (add ? result.shift : result.scale) = *values;
  return result;
}

/// Whether a node is the model's convolution: by its epilogue, whatever it is called.
bool is_convolution(const Node& node) {
  return node.domain != definitions::kInternalDomain && node.op->facts.epilogue.op == "Conv";
}

/// Folds a following scale and shift into convolutions with constant weights.
///
/// Nodes that share weights may be followed by the same scale and shift: they share the products,
/// too. Where these differ, each node gets its own; such copies may together take as many bytes as
/// all constants had. What is beyond stays a node, or a small model would become a large plan.
class AffineFolding {
 public:
  explicit AffineFolding(Graph& graph) {
    std::set<const std::byte*> counted;  // values share constants
    for_each_value(graph, [&](const Value& value) {
      if (!value.constant || !counted.insert(value.constant->data.get()).second) return;
      bytes_left_ += value.constant->size;
    });
  }

  bool apply(Node& conv) {
    if (!is_convolution(conv)) return false;
    Node* next = only_reader(conv.outputs[0]);
    const Value* weights = conv.input(1);
    const Value* bias = conv.input(2);
    if (next == nullptr || !weights->constant || (bias != nullptr && !bias->constant)) return false;
    if (!weights->constant->is_real()) return false;
    const int64_t channels = weights->constant->extents[0];
    const std::optional<Affine> affine = affine_of(*next, conv.outputs[0], channels);
    if (!affine || channels == 0) return false;
    if (next->outputs.size() > 1 && next->output(1) != nullptr) return false;

    const bool shared = weights->uses.size() > 1;
    const Key key{conv.graph, weights, bias, affine->scale, affine->shift};
    const auto known = shared ? known_.find(key) : known_.end();
    if (known != known_.end()) {
      conv.set_input(1, known->second.weights);
      conv.set_input(2, known->second.bias);
      absorb(conv, *next);
      return true;
    }
    if (shared && !afford(*weights, *next)) return false;
    multiply(conv, *affine);
    if (shared) known_[key] = {conv.input(1), conv.input(2)};
    absorb(conv, *next);
    return true;
  }

 private:
  // Nothing is removed from the values of a graph while its nodes are folded, so that an address
  // names one value.
  using Key = std::tuple<const Graph*, const Value*, const Value*, std::vector<double>,
                         std::vector<double>>;
  struct Operands {
    Value* weights;
    Value* bias;
  };

  /// True if there is room for a copy of `weights` and for a bias; takes it.
  bool afford(const Value& weights, const Node& affine) {
    size_t bytes = weights.constant->size;
    for (const Value* operand : affine.inputs) {
      if (operand->constant) bytes += operand->constant->size;
    }
    if (bytes > bytes_left_) return false;
    bytes_left_ -= bytes;
    return true;
  }

  static void multiply(Node& conv, const Affine& affine) {
    const Value* weights = conv.input(1);
    const Constant& w = *weights->constant;
    const size_t channels = affine.scale.size();
    std::vector<double> scaled = w.reals();
    const size_t per_filter = scaled.size() / channels;
    const Value* bias = conv.input(2);
    std::vector<double> shift =
        bias != nullptr ? bias->constant->reals() : std::vector<double>(channels);
    bool shifted = bias != nullptr;
    for (size_t c = 0; c < channels; ++c) {
      for (size_t i = 0; i < per_filter; ++i) scaled[c * per_filter + i] *= affine.scale[c];
      shift[c] = shift[c] * affine.scale[c] + affine.shift[c];
      shifted = shifted || affine.shift[c] != 0;
    }
    Graph& graph = *conv.graph;
    const DataType type = w.type;
    conv.set_input(1, add_constant(graph, weights->name, real_constant(type, w.extents, scaled)));
    if (!shifted) return;
    conv.set_input(2, add_constant(graph, conv.name + "_bias",
                                   real_constant(type, {static_cast<int64_t>(channels)}, shift)));
  }

  size_t bytes_left_ = 0;
  std::map<Key, Operands> known_;
};

/// Folds a scale and a shift of the input's channels into the weights and the bias of the only
/// reader, a convolution; a shift only where there is no padding, which it would have to reach.
/// What computed them is left behind without a reader.
bool fold_into_reader(Node& conv) {
  if (!is_convolution(conv)) return false;
  const Value* from = conv.input(0);
  const Node* node = from->producer;
  const Value *weights = conv.input(1), *bias = conv.input(2);
  if (node == nullptr || only_reader(from) != &conv || node->outputs.size() > 1) return false;
  if (!weights->constant || weights->uses.size() > 1 || !weights->constant->is_real()) return false;
  if (bias != nullptr && (!bias->constant || bias->uses.size() > 1)) return false;
  const auto& attributes = conv.typed<ConvAttributes>();
  const Constant& w = *weights->constant;
  const int64_t filters = w.extents[0], depth = w.extents[1];
  const auto varies =
      std::ranges::find_if(node->inputs, [](const Value* v) { return !v->constant; });
  if (w.count() == 0 || varies == node->inputs.end()) return false;
  Value* x = *varies;
  const std::optional<Affine> affine = affine_of(*node, x, attributes.group * depth);
  if (!affine || !same_extents(*x, *from)) return false;
  const auto nothing = [](auto number) { return number == 0; };
  const bool shifts = !std::ranges::all_of(affine->shift, nothing);
  const bool pads =
      attributes.window.same() || !std::ranges::all_of(attributes.window.pads.view(), nothing);
  if (shifts && pads) return false;

  std::vector<double> scaled = w.reals();
  std::vector<double> sums =
      bias != nullptr ? bias->constant->reals() : std::vector<double>(static_cast<size_t>(filters));
  const int64_t taps = w.count() / filters / depth;
  for (int64_t f = 0, at = 0; f < filters; ++f) {
    const int64_t first = f / (filters / attributes.group) * depth;
    for (int64_t i = 0; i < depth * taps; ++i, ++at) {
      const auto channel = static_cast<size_t>(first + i / taps);
      sums[static_cast<size_t>(f)] += scaled[static_cast<size_t>(at)] * affine->shift[channel];
      scaled[static_cast<size_t>(at)] *= affine->scale[channel];
    }
  }
  Graph& graph = *conv.graph;
  conv.set_input(0, x);
  conv.set_input(1, add_constant(graph, weights->name, real_constant(w.type, w.extents, scaled)));
  if (!shifts) return true;
  conv.set_input(2,
                 add_constant(graph, conv.name + "_bias", real_constant(w.type, {filters}, sums)));
  return true;
}

// -- Epilogues
// -------------------------------------------------------------------------------------

const definitions::Epilogue* epilogue_of(const Node& node) {
  const definitions::Epilogue& epilogue = node.op->facts.epilogue;
  return epilogue ? &epilogue : nullptr;
}

/// Whether nothing comes behind the sums of the epilogue yet.
bool is_open(const Node& node, const definitions::Epilogue& epilogue) {
  return epilogue.get(node.attribute_bytes.data()).kind == Activation::kNone;
}

/// Turns a node into the converter's own operator that has operands for the epilogue.
void take_epilogue(Node& node, const definitions::Epilogue& epilogue) {
  if (node.domain == definitions::kInternalDomain) return;
  node.domain = definitions::kInternalDomain;
  node.type = epilogue.op;
  node.op = definitions::OperatorRegistry::builtin().find(node.domain, node.type);
}

/// A product followed by a constant vector along its columns: its bias.
bool fold_bias(Node& product) {
  const definitions::Epilogue* epilogue = epilogue_of(product);
  if (epilogue == nullptr || epilogue->bias < 0 || !is_open(product, *epilogue)) return false;
  if (product.input(epilogue->bias) != nullptr || product.input(epilogue->residual) != nullptr) {
    return false;
  }
  const Value* result = product.outputs[0];
  Node* next = only_reader(result);
  if (next == nullptr || !next->fuses_as("Add") || !result->shape || result->shape->rank < 1)
    return false;
  // A vector operand of the product takes an axis away: then the last axis is not the columns.
  const Value* b = product.input(1);
  const int b_rank = b->constant ? b->constant->rank() : (b->shape ? b->shape->rank : 0);
  if (b_rank < 2) return false;
  Value* other = next->inputs[0] == result ? next->inputs[1] : next->inputs[0];
  if (!other->constant || other->constant->rank() < 1) return false;
  const Constant& constant = *other->constant;
  const int64_t columns = constant.extents.back();
  const auto& last = (*result->shape)[result->shape->rank - 1];
  if (constant.count() != columns || !is_constant(last) || constant_value(last) != columns)
    return false;
  if (constant.rank() > result->shape->rank || constant.type != result->type) return false;
  Constant vector = constant;
  vector.extents = {columns};
  take_epilogue(product, *epilogue);
  product.set_input(epilogue->bias, add_constant(*product.graph, other->name, vector));
  absorb(product, *next);
  return true;
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

/// Calls `rule` on every node of `graph` and of nested graphs, in execution order, until it applies
/// nowhere. A rule changes the node and what comes behind it: the node may move there, or another
/// may take its place. So the pass goes on behind the node in front, and never has to begin again.
template <class Rule>
void apply(Graph& graph, const Rule& rule) {
  const Graph::NodeList& nodes = graph.nodes();
  for (const auto& node : nodes) {
    for (const SubGraph& sub : node->graphs) apply(*sub.graph, rule);
  }
  for (auto at = nodes.begin(); at != nodes.end();) {
    Node& node = **at;
    const bool first = at == nodes.begin();
    const auto front = first ? at : std::prev(at);
    const bool live = node.op != nullptr && node.graphs.empty() && node.output(0) != nullptr &&
                      !node.output(0)->uses.empty();
    if (!live || !rule(node)) {
      ++at;
    } else {
      at = first ? nodes.begin() : std::next(front);
    }
  }
}

}  // namespace

void fuse(Graph& graph, Inference& inference) {
  apply(graph, [&](Node& node) { return recognize(node, inference); });
  remove_dead_nodes(graph);  // what was recognised has no other readers but them
  apply(graph, [&](Node& node) { return fold_into_product(node, inference); });
  remove_dead_nodes(graph);
  AffineFolding affine(graph);
  apply(graph, [&](Node& node) { return affine.apply(node) || fold_bias(node); });
  for (bool folds = true; folds; remove_dead_nodes(graph)) {
    folds = false;
    apply(graph, [&](Node& node) { return fold_into_reader(node) && (folds = true); });
  }
  apply(graph, attach_residual);
  apply(graph, attach_activation);
}

}  // namespace intarsia::converter
