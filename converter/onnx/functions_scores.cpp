// SPDX-License-Identifier: Apache-2.0
#include "converter/onnx/score_steps.h"
#include "core/definitions/registry.h"

namespace intarsia::converter::version_steps {
namespace {

/// Arithmetic on tensors of one type in front of a node.
class Terms {
 public:
  Terms(Node& node, DataType type) : node_(node), type_(type) {}

  Value* operator()(std::string_view op, std::vector<Value*> inputs,
                    definitions::AttributeMap attributes = {}) const {
    return emit(node_, op, std::move(inputs), std::move(attributes));
  }
  Value* number(double value) const {
    return constant(node_, "number", Constant::scalar_of(type_, value));
  }
  /// Over the columns, which stay as one.
  Value* reduced(std::string_view op, Value* of) const {
    Value* axes = constant(node_, "axes", Constant::ints({-1}));
    return emit(node_, op, {of, axes}, {{"keepdims", int64_t{1}}});
  }

 private:
  Node& node_;
  DataType type_;
};

/// Softmax over the scores that are not 0; the others stay about 0. Where all are 0 the result is
/// 0.5, as in ONNX's reference; ONNX Runtime divides 0 by 0.
Value* softmax_zero(const Terms& make, Value* scores) {
  constexpr double kZero = 1e-7F;
  Value* largest = make.reduced("ReduceMax", scores);
  Value* small = make("LessOrEqual", {make("Abs", {scores}), make.number(kZero)});
  Value* powers = make("Exp", {make("Sub", {scores, largest})});
  Value* others = make("Mul", {scores, make("Exp", {make("Neg", {largest})})});
  Value* sum = make.reduced("ReduceSum", make("Where", {small, make.number(0), powers}));
  Value* none = make("Equal", {sum, make.number(0)});
  Value* divisor = make("Where", {none, make.number(1), sum});
  Value* parts = make("Div", {make("Where", {small, others, powers}), divisor});
  return make("Where", {none, make.number(0.5), parts});
}

/// sqrt(2) * erfinv(2 * score - 1), with Winitzki's approximation of erfinv, which is the one that
/// ONNX's reference and ONNX Runtime have. In double: near 0.5 most digits cancel out.
Value* probit(Node& node, Value* scores, DataType type) {
  const Terms make(node, DataType::kDouble);
  constexpr double kA = 0.147, kPi = 3.14159265358979323846, kSqrt2 = 1.41421356237309504880;
  Value* one = make.number(1);
  Value* x =
      make("Sub", {make("Mul", {as_type(node, scores, DataType::kDouble), make.number(2)}), one});
  Value* product = make("Mul", {make("Sub", {one, x}), make("Add", {one, x})});
  Value* logarithm = make("Log", {product});
  Value* v = make("Add", {make("Mul", {logarithm, make.number(0.5)}), make.number(2 / (kPi * kA))});
  Value* square = make("Sub", {make("Mul", {v, v}), make("Div", {logarithm, make.number(kA)})});
  Value* root = make("Sqrt", {make("Sub", {make("Sqrt", {square}), v})});
  Value* result = make("Mul", {make("Sign", {x}), make("Mul", {root, make.number(kSqrt2)})});
  return as_type(node, result, type);
}

}  // namespace

Value* emit_own(Node& node, std::string_view type, std::vector<Value*> inputs,
                definitions::AttributeMap attributes) {
  constexpr std::string_view kDomain = definitions::kInternalDomain;
  Node* fresh =
      node.graph->add_node(kDomain, type, node.name + "_" + std::string(type), inputs, 1, &node);
  fresh->version = 1;
  fresh->op = definitions::OperatorRegistry::builtin().find(kDomain, type);
  fresh->attributes = std::move(attributes);
  return fresh->outputs[0];
}

Value* as_type(Node& node, Value* value, DataType type) {
  if (value->type == type) return value;
  return emit(node, "Cast", {value}, {{"to", static_cast<int64_t>(type)}});
}

Value* floats(Node& node, std::string_view name, const std::vector<float>& values,
              std::vector<int64_t> extents) {
  return constant(node, name, Constant::of<float>(std::move(extents), values));
}

Value* reals(Node& node, std::string_view name, DataType type, const std::vector<double>& values,
             std::vector<int64_t> extents) {
  if (type == DataType::kDouble) {
    return constant(node, name, Constant::of<double>(std::move(extents), values));
  }
  return floats(node, name, std::vector<float>(values.begin(), values.end()), std::move(extents));
}

Value* beside(Node& node, Value* first, Value* second) {
  return emit(node, "Concat", {first, second}, {{"axis", int64_t{-1}}});
}

Constant class_labels(const Node& node, const char* strings, const char* integers) {
  const std::vector<int64_t> numbers = node.integers(integers);
  if (!numbers.empty()) return Constant::ints(numbers);
  const auto* texts = node.attribute(strings);
  const auto* list = texts == nullptr ? nullptr : std::get_if<std::vector<std::string>>(texts);
  if (list == nullptr || list->empty()) {
    throw Error(node.problem(
        "has neither '" + std::string(strings) + "' nor '" + std::string(integers) + "'",
        "the specification asks for one of these lists of labels"));
  }
  return Constant::strings({static_cast<int64_t>(list->size())}, *list);
}

Constant yes_and_no(DataType type) {
  if (type != DataType::kString) return Constant::ints({0, 1});
  return Constant::strings({2}, {"0", "1"});
}

Value* labels_at(Node& node, Constant labels, Value* positions) {
  return emit(node, "Gather", {constant(node, "labels", std::move(labels)), positions});
}

Value* best_column(Node& node, Value* scores) {
  return emit(node, "ArgMax", {scores}, {{"axis", int64_t{-1}}, {"keepdims", int64_t{0}}});
}

Value* above(Node& node, Value* column, DataType type, double limit) {
  Value* flat = emit(node, "Reshape", {column, constant(node, "flat", Constant::ints({-1}))});
  Value* bound = constant(node, "limit", Constant::scalar_of(type, limit));
  return as_type(node, emit(node, "Greater", {flat, bound}), DataType::kInt64);
}

std::string post_transform(const Node& node) {
  const std::string transform = node.text("post_transform", "NONE");
  for (const char* each : {"NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT"}) {
    if (transform == each) return transform;
  }
  throw Error(node.problem("attribute 'post_transform' is '" + transform + "'",
                           "it has to be NONE, SOFTMAX, LOGISTIC, SOFTMAX_ZERO or PROBIT"));
}

Value* transformed(Node& node, Value* scores, DataType type, int64_t columns,
                   const std::string& transform) {
  if (transform == "PROBIT") return probit(node, scores, type);
  if (transform == "NONE" || columns == 1) return scores;
  if (transform == "LOGISTIC") return emit(node, "Sigmoid", {scores});
  if (transform == "SOFTMAX") return emit(node, "Softmax", {scores}, {{"axis", int64_t{-1}}});
  return softmax_zero(Terms(node, type), scores);
}

}  // namespace intarsia::converter::version_steps
