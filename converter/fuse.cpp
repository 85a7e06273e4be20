// SPDX-License-Identifier: Apache-2.0
#include "converter/fuse.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/activation.h"
#include "core/operators/conv.h"
#include "core/operators/matmul.h"
#include "core/operators/normalization.h"
#include "core/operators/pointwise.h"

namespace intarsia::converter {
namespace {

/// Types whose kernels have fused activations.
bool has_activations(DataType type) {
  return type == DataType::kFloat || type == DataType::kFloat16 || type == DataType::kBfloat16;
}

/// The only node that reads `value`, if it stands in the same graph.
Node* only_reader(const Value* value) {
  if (value == nullptr || value->uses.size() != 1 || value->uses[0].node == nullptr) return nullptr;
  Node* reader = value->uses[0].node;
  return reader->graph == value->graph ? reader : nullptr;
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
  if (node.is("BatchNormalization") && node.inputs.size() == 5 && node.inputs[0] == product) {
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
  const bool add = node.is("Add"), mul = node.is("Mul");
  if ((!add && !mul) || node.inputs.size() != 2 || !product->shape) return std::nullopt;
  const Value* other = node.inputs[0] == product ? node.inputs[1] : node.inputs[0];
  const auto values = per_channel(other, product->shape->rank, channels);
  if (!values) return std::nullopt;
  (add ? result.shift : result.scale) = *values;
  return result;
}

/// Folds a following scale and shift into a convolution with constant weights.
bool fold_affine(Node& conv) {
  if (!conv.is("Conv") || conv.input(3) != nullptr) return false;
  if (conv.typed<ConvAttributes>().activation != 0) return false;
  Node* next = only_reader(conv.outputs[0]);
  const Value* weights = conv.input(1);
  const Value* bias = conv.input(2);
  if (next == nullptr || !weights->constant || (bias != nullptr && !bias->constant)) return false;
  const Constant& w = *weights->constant;
  if (!w.is_real()) return false;
  const int64_t channels = w.extents[0];
  const std::optional<Affine> affine = affine_of(*next, conv.outputs[0], channels);
  if (!affine || channels == 0) return false;
  if (next->outputs.size() > 1 && next->output(1) != nullptr) return false;

  std::vector<double> scaled = w.reals();
  const size_t per_filter = scaled.size() / static_cast<size_t>(channels);
  std::vector<double> shift = bias != nullptr ? bias->constant->reals()
                                              : std::vector<double>(static_cast<size_t>(channels));
  bool shifted = bias != nullptr;
  for (size_t c = 0; c < static_cast<size_t>(channels); ++c) {
    for (size_t i = 0; i < per_filter; ++i) scaled[c * per_filter + i] *= affine->scale[c];
    shift[c] = shift[c] * affine->scale[c] + affine->shift[c];
    shifted = shifted || affine->shift[c] != 0;
  }
  Graph& graph = *conv.graph;
  conv.set_input(1, add_constant(graph, weights->name, real_constant(w.type, w.extents, scaled)));
  if (shifted) {
    conv.set_input(
        2, add_constant(graph, conv.name + "_bias", real_constant(w.type, {channels}, shift)));
  }
  absorb(conv, *next);
  return true;
}

/// MatMul followed by a constant or computed vector: its bias.
bool fold_bias(Node& product) {
  if (!product.is("MatMul") || product.input(2) != nullptr || product.input(3) != nullptr)
    return false;
  if (product.typed<MatMulAttributes>().activation != 0) return false;
  const Value* result = product.outputs[0];
  Node* next = only_reader(result);
  if (next == nullptr || !next->is("Add") || !result->shape || result->shape->rank < 1)
    return false;
  // A vector operand of MatMul takes an axis away: then the last axis is not the columns.
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
  product.set_input(2, add_constant(*product.graph, other->name, vector));
  absorb(product, *next);
  return true;
}

// -- Epilogues
// -------------------------------------------------------------------------------------

/// The epilogue fields of a node that has them.
struct Epilogue {
  int32_t* activation;
  float* alpha;
  float* beta;
};
std::optional<Epilogue> epilogue_of(Node& node) {
  const auto fields = [](auto& attributes) {
    return Epilogue{&attributes.activation, &attributes.activation_alpha,
                    &attributes.activation_beta};
  };
  if (node.is("Conv")) return fields(node.typed<ConvAttributes>());
  if (node.is("Gemm")) return fields(node.typed<GemmAttributes>());
  if (node.is("MatMul")) return fields(node.typed<MatMulAttributes>());
  return std::nullopt;
}

std::optional<double> scalar(const Value* value) {
  if (value == nullptr || !value->constant || value->constant->count() != 1) return std::nullopt;
  if (!value->constant->is_real()) return std::nullopt;
  return value->constant->real(0);
}

/// `node` as a fused activation of its input 0.
std::optional<ActivationSpec> activation_of_node(const Node& node) {
  if (!node.domain.empty()) return std::nullopt;
  const auto alpha = [&node](float fallback) { return node.real("alpha", fallback); };
  if (node.type == "Relu") return ActivationSpec{Activation::kRelu, 0, 0};
  if (node.type == "Sigmoid") return ActivationSpec{Activation::kSigmoid, 0, 0};
  if (node.type == "Tanh") return ActivationSpec{Activation::kTanh, 0, 0};
  if (node.type == "HardSwish") return ActivationSpec{Activation::kHardSwish, 0, 0};
  if (node.type == "Softplus") return ActivationSpec{Activation::kSoftplus, 0, 0};
  if (node.type == "LeakyRelu") return ActivationSpec{Activation::kLeakyRelu, alpha(0.01f), 0};
  if (node.type == "Elu") return ActivationSpec{Activation::kElu, alpha(1.0f), 0};
  if (node.type == "HardSigmoid") {
    return ActivationSpec{Activation::kHardSigmoid, alpha(0.2f), node.real("beta", 0.5f)};
  }
  if (node.type == "Swish" && alpha(1.0f) == 1.0f) return ActivationSpec{Activation::kSilu, 0, 0};
  if (node.type == "Gelu") {
    const bool tanh = node.text("approximate", "none") == "tanh";
    return ActivationSpec{tanh ? Activation::kGeluTanh : Activation::kGelu, 0, 0};
  }
  if (node.type == "Clip") {
    constexpr double kInfinity = std::numeric_limits<double>::infinity();
    const auto low = node.input(1) == nullptr ? -kInfinity : scalar(node.input(1));
    const auto high = node.input(2) == nullptr ? kInfinity : scalar(node.input(2));
    if (!low || !high || *low > *high) return std::nullopt;
    return ActivationSpec{Activation::kClip, static_cast<float>(*low), static_cast<float>(*high)};
  }
  return std::nullopt;
}

bool attach_activation(Node& node) {
  const std::optional<Epilogue> epilogue = epilogue_of(node);
  if (!epilogue || *epilogue->activation != 0 || !has_activations(node.outputs[0]->type))
    return false;
  Node* next = only_reader(node.outputs[0]);
  if (next == nullptr || next->input(0) != node.outputs[0]) return false;
  const std::optional<ActivationSpec> spec = activation_of_node(*next);
  if (!spec) return false;
  *epilogue->activation = static_cast<int32_t>(spec->kind);
  *epilogue->alpha = spec->alpha;
  *epilogue->beta = spec->beta;
  absorb(node, *next);
  return true;
}

bool same_extents(const Value& a, const Value& b) {
  if (!a.shape || !b.shape || a.shape->rank != b.shape->rank) return false;
  for (int axis = 0; axis < a.shape->rank; ++axis) {
    if (!((*a.shape)[axis] == (*b.shape)[axis])) return false;
  }
  return true;
}

/// Y = product + other, with `other` of the same extents, becomes the product's residual.
bool attach_residual(Node& node) {
  const std::optional<Epilogue> epilogue = epilogue_of(node);
  if (!epilogue || *epilogue->activation != 0 || node.input(3) != nullptr) return false;
  Value* result = node.outputs[0];
  Node* sum = only_reader(result);
  if (sum == nullptr || (!sum->is("Add") && !sum->is("Sum")) || sum->inputs.size() != 2)
    return false;
  Value* other = sum->inputs[0] == result ? sum->inputs[1] : sum->inputs[0];
  if (other == result || other->constant || other->type != result->type) return false;
  if (!same_extents(*other, *result)) return false;
  node.set_input(3, other);
  absorb(node, *sum);
  return true;
}

// -- Operators spelled out
// -------------------------------------------------------------------------

/// Replaces `last` by a unary operator over `input`.
void replace_by(Node& last, std::string_view type, Value* input, Inference& inference) {
  Value* const inputs[] = {input};
  Node* node = last.graph->add_node("", type, last.name, inputs, 1, &last, &last);
  node->resolve_as(*definitions::OperatorRegistry::builtin().find("", type));
  inference.infer_outputs(*node);
  node->outputs[0]->name = last.outputs[0]->name;
  Graph::replace_uses(last.outputs[0], node->outputs[0]);
}

/// The operand of a binary node that is not `one`; null if `one` is no operand.
Value* other_operand(const Node& node, const Value* one) {
  if (node.inputs.size() != 2) return nullptr;
  if (node.inputs[0] == one) return node.inputs[1];
  return node.inputs[1] == one ? node.inputs[0] : nullptr;
}

/// x * Sigmoid(x) -> Swish(x).
bool recognize_swish(Node& mul, Inference& inference) {
  if (!mul.is("Mul") || mul.inputs.size() != 2) return false;
  for (int i : {0, 1}) {
    const Node* sigmoid = mul.inputs[static_cast<size_t>(i)]->producer;
    Value* x = mul.inputs[static_cast<size_t>(1 - i)];
    if (sigmoid == nullptr || !sigmoid->is("Sigmoid") || sigmoid->inputs[0] != x) continue;
    replace_by(mul, "Swish", x, inference);
    return true;
  }
  return false;
}

/// x * HardSigmoid(x) with alpha 1/6 and beta 1/2 -> HardSwish(x).
bool recognize_hard_swish(Node& mul, Inference& inference) {
  if (!mul.is("Mul") || mul.inputs.size() != 2) return false;
  for (size_t i : {size_t{0}, size_t{1}}) {
    const Node* gate = mul.inputs[i]->producer;
    Value* x = mul.inputs[1 - i];
    if (gate == nullptr || !gate->is("HardSigmoid") || gate->inputs[0] != x) continue;
    const bool standard =
        std::fabs(gate->real("alpha", 0.2f) - 1.0f / 6) < 1e-6f && gate->real("beta", 0.5f) == 0.5f;
    if (!standard) continue;
    replace_by(mul, "HardSwish", x, inference);
    return true;
  }
  return false;
}

/// x * (1 + Erf(x / sqrt(2))) * 1/2, in any order of the two products -> Gelu(x).
bool recognize_gelu(Node& last, Inference& inference) {
  if (!last.is("Mul") || last.inputs.size() != 2) return false;
  // Split the product tree into its factors; two or three are expected.
  std::vector<Value*> factors;
  for (Value* input : last.inputs) {
    Node* producer = input->producer;
    if (producer != nullptr && producer->is("Mul") && factors.size() < 3) {
      factors.insert(factors.end(), producer->inputs.begin(), producer->inputs.end());
    } else {
      factors.push_back(input);
    }
  }
  if (factors.size() != 3) return false;
  for (Value* factor : factors) {
    const Node* sum = factor->producer;
    if (sum == nullptr || !sum->is("Add") || sum->inputs.size() != 2) continue;
    for (Value* erf_value : sum->inputs) {
      const Node* erf = erf_value->producer;
      const auto one = scalar(other_operand(*sum, erf_value));
      if (erf == nullptr || !erf->is("Erf") || one != 1.0) continue;
      const Node* scaled = erf->inputs[0]->producer;
      if (scaled == nullptr || scaled->inputs.size() != 2) continue;
      const auto divisor = scalar(scaled->inputs[1]);
      const double root = std::sqrt(2.0);
      const bool matches =
          divisor && ((scaled->is("Div") && std::fabs(*divisor - root) < 1e-5) ||
                      (scaled->is("Mul") && std::fabs(*divisor * root - 1) < 1e-5));
      if (!matches) continue;
      Value* x = scaled->inputs[0];
      bool has_x = false, has_half = false;
      for (Value* f : factors) {
        has_x = has_x || f == x;
        has_half = has_half || scalar(f) == 0.5;
      }
      if (!has_x || !has_half) continue;
      replace_by(last, "Gelu", x, inference);
      return true;
    }
  }
  return false;
}

/// Calls `rule` on every node of `graph` and of nested graphs until it applies nowhere.
template <class Rule>
void apply(Graph& graph, const Rule& rule) {
  for (const auto& node : graph.nodes()) {
    for (const SubGraph& sub : node->graphs) apply(*sub.graph, rule);
  }
  bool changed = true;
  while (changed) {
    changed = false;
    for (const auto& node : graph.nodes()) {
      if (node->op == nullptr || !node->graphs.empty() || node->output(0) == nullptr) continue;
      if (node->output(0)->uses.empty() || !rule(*node)) continue;
      changed = true;
      break;  // the list has changed
    }
  }
}

}  // namespace

void fuse(Graph& graph, Inference& inference) {
  apply(graph, [&](Node& node) {
    return recognize_swish(node, inference) || recognize_hard_swish(node, inference) ||
           recognize_gelu(node, inference);
  });
  apply(graph, [](Node& node) { return fold_affine(node) || fold_bias(node); });
  apply(graph, attach_residual);
  apply(graph, attach_activation);
}

}  // namespace intarsia::converter
