// SPDX-License-Identifier: Apache-2.0
#include "converter/passes/recognize.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "converter/passes/rewrite.h"
#include "core/operators/reduction/reduction.h"

namespace intarsia::converter {
namespace {

using definitions::AttributeMap;

std::optional<double> scalar(const Value* value) {
  if (value == nullptr || !value->constant || value->constant->count() != 1) return std::nullopt;
  if (!value->constant->is_real() && !value->constant->is_integer()) return std::nullopt;
  return value->constant->real(0);
}

/// Whether a constant is `expected`: exactly if that is a short fraction, else as well as its type
/// holds it.
bool is_number(const Value* value, double expected) {
  const std::optional<double> number = scalar(value);
  if (!number) return false;
  const bool short_fraction = expected * 2 == std::trunc(expected * 2);
  const bool narrow =
      value->constant->type == DataType::kFloat16 || value->constant->type == DataType::kBfloat16;
  const double tolerance = short_fraction ? 0 : narrow ? 4e-3 : 1e-5;
  return std::fabs(*number - expected) <= tolerance * std::fabs(expected);
}

/// The node of that type that makes `value`, or null.
const Node* made_by(const Value* value, std::string_view type) {
  const Node* node = value != nullptr ? value->producer : nullptr;
  return node != nullptr && node->fuses_as(type) ? node : nullptr;
}

/// The operand of a binary node that is not `one`; null if `one` is no operand.
Value* other_operand(const Node& node, const Value* one) {
  if (node.inputs.size() != 2) return nullptr;
  if (node.inputs[0] == one) return node.inputs[1];
  return node.inputs[1] == one ? node.inputs[0] : nullptr;
}

/// The operand beside a constant operand of that value; null if there is none.
Value* beside_number(const Node* node, double expected) {
  if (node == nullptr || node->inputs.size() != 2) return nullptr;
  for (size_t i : {size_t{0}, size_t{1}}) {
    if (is_number(node->inputs[i], expected)) return node->inputs[1 - i];
  }
  return nullptr;
}

/// Replaces `last` by a function of the elements of x, whose extents it must have: constants may
/// have given it axes in front.
bool replace_by_function(Node& last, std::string_view type, Value* x, AttributeMap attributes,
                         Inference& inference) {
  if (!same_extents(*x, *last.outputs[0])) return false;
  replace_by(last, "", type, {{x}}, std::move(attributes), inference);
  return true;
}

/// x * Sigmoid(x) -> Swish(x).
bool recognize_swish(Node& mul, Inference& inference) {
  for (Value* x : mul.inputs) {
    const Node* sigmoid = made_by(other_operand(mul, x), "Sigmoid");
    if (sigmoid == nullptr || sigmoid->inputs[0] != x) continue;
    return replace_by_function(mul, "Swish", x, {}, inference);
  }
  return false;
}

/// What a clamp of `value` to [0, most] reads, as Clip or as Relu and Min; null if it is none.
const Value* inside_clamp(const Value* value, double& most) {
  const Node* clip = made_by(value, "Clip");
  const Node* least = made_by(value, "Min");
  if (clip != nullptr && is_number(clip->input(1), 0) && scalar(clip->input(2))) {
    most = *scalar(clip->input(2));
    return clip->inputs[0];
  }
  if (least == nullptr || least->inputs.size() != 2) return nullptr;
  for (const Value* input : least->inputs) {
    const Node* relu = made_by(input, "Relu");
    const std::optional<double> limit = scalar(other_operand(*least, input));
    if (relu == nullptr || !limit) continue;
    most = *limit;
    return relu->inputs[0];
  }
  return nullptr;
}

/// x if `value` is a clamp of x + shift to [0, most], else null.
Value* inside_gate(const Value* value, double& shift, double& most) {
  const Node* sum = made_by(inside_clamp(value, most), "Add");
  if (sum == nullptr || sum->inputs.size() != 2 || !(most > 0) || !std::isfinite(most)) {
    return nullptr;
  }
  for (Value* x : sum->inputs) {
    const Value* addend = other_operand(*sum, x);
    const std::optional<double> number = scalar(addend);
    if (!number || !addend->constant->is_real()) continue;
    shift = *number;
    return x;
  }
  return nullptr;
}

/// The operand of which `last` is the `part`-th part, by division or by a product with 1 / part;
/// null if it is not.
Value* divided_by(const Node& last, double part) {
  if (last.fuses_as("Mul")) return beside_number(&last, 1 / part);
  return last.fuses_as("Div") && is_number(last.inputs[1], part) ? last.inputs[0] : nullptr;
}

/// Clip(x + b, 0, c) / c -> HardSigmoid(x).
bool recognize_hard_sigmoid(Node& last, Inference& inference) {
  for (const Value* input : last.inputs) {
    double shift = 0, most = 0;
    Value* x = inside_gate(input, shift, most);
    if (x == nullptr || divided_by(last, most) != input) continue;
    const auto alpha = definitions::float_attribute(1 / most, x->type);
    const auto beta = definitions::float_attribute(shift / most, x->type);
    if (!alpha || !beta) continue;
    return replace_by_function(last, "HardSigmoid", x, {{"alpha", *alpha}, {"beta", *beta}},
                               inference);
  }
  return false;
}

/// x * HardSigmoid(x) with alpha 1/6 and beta 1/2, or x * Clip(x + 3, 0, 6) / 6 -> HardSwish(x).
bool recognize_hard_swish(Node& last, Inference& inference) {
  const Node* product = &last;
  if (const Value* whole = divided_by(last, 6)) product = made_by(whole, "Mul");
  if (product == nullptr || product->inputs.size() != 2 || !product->fuses_as("Mul")) return false;
  for (Value* x : product->inputs) {
    const Value* gate = other_operand(*product, x);
    double shift = 0, most = 0;
    bool standard = inside_gate(gate, shift, most) == x && shift == 3 && most == 6;
    if (product == &last) {
      const Node* sigmoid = made_by(gate, "HardSigmoid");
      standard = sigmoid != nullptr && sigmoid->inputs[0] == x &&
                 std::fabs(sigmoid->real("alpha", 0.2f) - 1.0f / 6) < 1e-6f &&
                 sigmoid->real("beta", 0.5f) == 0.5f;
    }
    if (standard) return replace_by_function(last, "HardSwish", x, {}, inference);
  }
  return false;
}

// -- Gelu
// -------------------------------------------------------------------------------------------

/// x if `value` is Erf(x / sqrt(2)), else null.
Value* inside_erf(const Value* value) {
  const Node* erf = made_by(value, "Erf");
  if (erf == nullptr) return nullptr;
  const double root = std::sqrt(2.0);
  if (Value* x = beside_number(made_by(erf->inputs[0], "Mul"), 1 / root)) return x;
  const Node* quotient = made_by(erf->inputs[0], "Div");
  return quotient != nullptr && is_number(quotient->inputs[1], root) ? quotient->inputs[0]
                                                                     : nullptr;
}

/// True if `value` is x^3, as a power or as products.
bool is_cube(const Value* value, const Value* x) {
  if (const Node* power = made_by(value, "Pow")) {
    return power->inputs[0] == x && is_number(power->inputs[1], 3);
  }
  const Node* outer = made_by(value, "Mul");
  const Node* inner = outer != nullptr ? made_by(other_operand(*outer, x), "Mul") : nullptr;
  return inner != nullptr && inner->inputs[0] == x && inner->inputs[1] == x;
}

/// x if `value` is Tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)), else null.
Value* inside_tanh(const Value* value) {
  const Node* tanh = made_by(value, "Tanh");
  if (tanh == nullptr) return nullptr;
  const Value* argument = beside_number(made_by(tanh->inputs[0], "Mul"), 0.7978845608);
  const Node* sum = made_by(argument, "Add");
  if (sum == nullptr) return nullptr;
  for (Value* x : sum->inputs) {
    const Value* cube = beside_number(made_by(other_operand(*sum, x), "Mul"), 0.044715);
    if (cube != nullptr && is_cube(cube, x)) return x;
  }
  return nullptr;
}

/// The factors of a product of up to three, the product's own operands first split up.
std::vector<Value*> factors_of(const Node& product) {
  std::vector<Value*> factors;
  for (Value* input : product.inputs) {
    const Node* inner = made_by(input, "Mul");
    if (inner != nullptr && factors.size() < 3) {
      factors.insert(factors.end(), inner->inputs.begin(), inner->inputs.end());
    } else {
      factors.push_back(input);
    }
  }
  return factors;
}

/// x * (1 + Erf(x / sqrt(2))) * 1/2, in any order of the products, or with Tanh -> Gelu(x).
bool recognize_gelu(Node& last, Inference& inference) {
  const std::vector<Value*> factors = factors_of(last);
  if (factors.size() != 3) return false;
  for (Value* factor : factors) {
    const Value* gate = beside_number(made_by(factor, "Add"), 1);
    if (gate == nullptr) continue;
    Value* in_erf = inside_erf(gate);
    Value* x = in_erf != nullptr ? in_erf : inside_tanh(gate);
    if (x == nullptr || std::find(factors.begin(), factors.end(), x) == factors.end()) continue;
    const bool has_half = std::any_of(factors.begin(), factors.end(),
                                      [](const Value* each) { return is_number(each, 0.5); });
    if (!has_half) continue;
    const std::string form = in_erf != nullptr ? "none" : "tanh";
    return replace_by_function(last, "Gelu", x, {{"approximate", form}}, inference);
  }
  return false;
}

// -- LayerNormalization
// -------------------------------------------------------------------------------------------

/// The axis from which on a mean that keeps its axes is taken; -1 if there is no such axis.
int suffix_of_mean(const Node& mean) {
  const Value* x = mean.inputs[0];
  const Value* axes = mean.input(1);
  if (!x->shape || axes == nullptr || !axes->constant) return -1;
  if (mean.typed<ReduceAttributes>().keepdims == 0) return -1;
  const int rank = x->shape->rank;
  std::vector<int64_t> listed = axes->constant->integers();
  for (int64_t& axis : listed) axis += axis < 0 ? rank : 0;
  std::sort(listed.begin(), listed.end());
  for (size_t i = 0; i < listed.size(); ++i) {
    if (listed[i] != rank - static_cast<int64_t>(listed.size() - i)) return -1;
  }
  return listed.empty() ? -1 : static_cast<int>(listed.front());
}

/// A value divided by the root of its mean square, its mean having been taken off.
struct Normalized {
  Value* x = nullptr;
  int axis = 0;
  float epsilon = 0;
};

std::optional<Normalized> normalized_by(const Node& quotient) {
  const Node* difference = made_by(quotient.inputs[0], "Sub");
  const Node* root = made_by(quotient.input(1), "Sqrt");
  const Node* shifted = root != nullptr ? made_by(root->inputs[0], "Add") : nullptr;
  if (difference == nullptr || shifted == nullptr) return std::nullopt;
  Normalized result;
  result.x = difference->inputs[0];
  const Node* mean = made_by(difference->input(1), "ReduceMean");
  if (mean == nullptr || mean->inputs[0] != result.x) return std::nullopt;
  result.axis = suffix_of_mean(*mean);
  for (const Value* term : shifted->inputs) {
    const Node* variance = made_by(term, "ReduceMean");
    const std::optional<double> epsilon = scalar(other_operand(*shifted, term));
    if (variance == nullptr || !epsilon || result.axis < 0) continue;
    if (suffix_of_mean(*variance) != result.axis) continue;
    const Value* deviation = difference->outputs[0];
    const Node* power = made_by(variance->inputs[0], "Pow");
    const Node* square = made_by(variance->inputs[0], "Mul");
    const bool squared =
        (power != nullptr && power->inputs[0] == deviation && is_number(power->inputs[1], 2)) ||
        (square != nullptr && square->inputs[0] == deviation && square->inputs[1] == deviation);
    if (!squared) continue;
    const auto attribute = definitions::float_attribute(*epsilon, result.x->type);
    if (!attribute) continue;
    result.epsilon = *attribute;
    return result;
  }
  return std::nullopt;
}

/// True if a factor or an addend has the extents of the normalised axes.
bool fits_suffix(const Value* value, const Normalized& normalized) {
  if (value == nullptr || (!value->constant && !value->shape)) return false;
  if (type_of(*value) != normalized.x->type) return false;
  const Shape<definitions::Dim> shape = shape_of(*value);
  const Shape<definitions::Dim>& x = *normalized.x->shape;
  if (shape.rank > x.rank || shape.rank < x.rank - normalized.axis) return false;
  for (int axis = 0; axis < shape.rank; ++axis) {
    const int aligned = x.rank - shape.rank + axis;
    const definitions::Dim expected = aligned >= normalized.axis ? x[aligned] : definitions::Dim(1);
    if (!(shape[axis] == expected)) return false;
  }
  return true;
}

/// (x - mean) / Sqrt(variance + epsilon) * scale [+ bias] -> LayerNormalization.
bool recognize_layer_normalization(Node& last, Inference& inference) {
  const auto scaled = [](const Node& product, Value*& scale) -> std::optional<Normalized> {
    for (Value* input : product.inputs) {
      const Node* quotient = made_by(input, "Div");
      if (quotient == nullptr || product.inputs.size() != 2) continue;
      const std::optional<Normalized> found = normalized_by(*quotient);
      scale = other_operand(product, input);
      if (found && found->x->shape && fits_suffix(scale, *found)) return found;
    }
    return std::nullopt;
  };
  const auto replace = [&](const Normalized& found, std::vector<Value*> inputs) {
    replace_by(last, "", "LayerNormalization", inputs,
               {{"axis", static_cast<int64_t>(found.axis)}, {"epsilon", found.epsilon}}, inference);
    return true;
  };
  Value* scale = nullptr;
  if (last.fuses_as("Mul")) {
    // Its only reader may be the sum with the bias.
    const std::vector<Use>& uses = last.outputs[0]->uses;
    if (uses.size() == 1 && uses[0].node != nullptr && uses[0].node->fuses_as("Add")) {
      const Value* bias = other_operand(*uses[0].node, last.outputs[0]);
      const std::optional<Normalized> found = scaled(last, scale);
      if (found && fits_suffix(bias, *found)) return false;
    }
    const std::optional<Normalized> found = scaled(last, scale);
    return found && replace(*found, {found->x, scale});
  }
  if (!last.fuses_as("Add") || last.inputs.size() != 2) return false;
  for (Value* term : last.inputs) {
    const Node* product = made_by(term, "Mul");
    if (product == nullptr) continue;
    const std::optional<Normalized> found = scaled(*product, scale);
    Value* bias = other_operand(last, term);
    if (found && fits_suffix(bias, *found)) return replace(*found, {found->x, scale, bias});
  }
  return false;
}

}  // namespace

bool recognize(Node& last, Inference& inference) {
  if (last.inputs.size() != 2) return false;
  if (recognize_layer_normalization(last, inference)) return true;
  if (!last.fuses_as("Mul") && !last.fuses_as("Div")) return false;
  if (recognize_hard_swish(last, inference) || recognize_hard_sigmoid(last, inference)) return true;
  return last.fuses_as("Mul") &&
         (recognize_swish(last, inference) || recognize_gelu(last, inference));
}

}  // namespace intarsia::converter
