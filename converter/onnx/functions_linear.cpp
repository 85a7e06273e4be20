// SPDX-License-Identifier: Apache-2.0
//
// The operators of ai.onnx.ml that are arithmetic on rows of features: scaling, normalising,
// filling in, choosing and joining columns, linear models. Source: onnx/docs/Operators-ml.md.
#include <cmath>

#include "converter/onnx/score_steps.h"

namespace intarsia::converter::version_steps {
namespace {

Value* as_float(Node& node, Value* value) {
  return as_type(node, value, DataType::kFloat);
}

int64_t size_of(const std::vector<float>& values) {
  return static_cast<int64_t>(values.size());
}

/// A list with an element for each of `count` rows of coefficients, or nothing.
Value* added(Node& node, Value* sums, const char* name, int64_t count) {
  const std::vector<float> list = node.reals(name);
  if (list.empty()) return sums;
  if (size_of(list) != count) {
    throw Error(node.problem("attribute '" + std::string(name) + "' has " +
                             std::to_string(list.size()) + " elements, expected " +
                             std::to_string(count)));
  }
  return emit(node, "Add", {sums, floats(node, name, list, {count})});
}

/// X times the transposed coefficients, of which there are `rows` rows, and the intercepts.
Value* linear(Node& node, int64_t rows) {
  require_input(node, 0, "X");
  const std::vector<float> coefficients = node.reals("coefficients");
  if (rows < 1 || coefficients.empty() || size_of(coefficients) % rows != 0) {
    throw Error(node.problem("attribute 'coefficients' has " + std::to_string(coefficients.size()) +
                             " elements, expected a positive multiple of the " +
                             std::to_string(rows) + " rows"));
  }
  const int64_t columns = size_of(coefficients) / rows;
  Value* weights = floats(node, "coefficients", coefficients, {rows, columns});
  Value* turned = emit(node, "Transpose", {weights}, {{"perm", std::vector<int64_t>{1, 0}}});
  Value* sums = emit(node, "MatMul", {as_float(node, node.input(0)), turned});
  return added(node, sums, "intercepts", rows);
}

}  // namespace

void scaler(Node& node) {
  require_input(node, 0, "X");
  Value* x = as_float(node, node.input(0));
  const auto list = [&](const char* name, const char* op) {
    const std::vector<float> values = node.reals(name);
    if (!values.empty()) x = emit(node, op, {x, floats(node, name, values, {size_of(values)})});
  };
  list("offset", "Sub");
  list("scale", "Mul");
  become_results(node, {x});
}

/// A row whose norm is 0 stays.
void normalizer(Node& node) {
  require_input(node, 0, "X");
  Value* x = as_float(node, node.input(0));
  const std::string kind = node.text("norm", "MAX");
  const char* op = kind == "MAX" ? "ReduceMax" : kind == "L1" ? "ReduceL1" : "ReduceL2";
  if (kind != "MAX" && kind != "L1" && kind != "L2") {
    refuse(node, "attribute 'norm' is '" + kind + "'; it has to be MAX, L1 or L2");
  }
  Value* axes = constant(node, "axes", Constant::ints({-1}));
  Value* norm = emit(node, op, {x, axes}, {{"keepdims", int64_t{1}}});
  Value* zero = constant(node, "zero", Constant::scalar<float>(0));
  Value* one = constant(node, "one", Constant::scalar<float>(1));
  Value* divisor = emit(node, "Where", {emit(node, "Equal", {norm, zero}), one, norm});
  become_results(node, {emit(node, "Div", {x, divisor})});
}

void imputer(Node& node) {
  require_input(node, 0, "X");
  Value* x = node.input(0);
  const std::vector<float> reals = node.reals("imputed_value_floats");
  const std::vector<int64_t> integers = node.integers("imputed_value_int64s");
  if (reals.empty() == integers.empty()) {
    refuse(node, "needs one of the attributes 'imputed_value_floats' and 'imputed_value_int64s'");
  }
  Value* missing = nullptr;
  Value* filling = nullptr;
  if (reals.empty()) {
    Value* replaced = constant(node, "replaced",
                               Constant::scalar<int64_t>(node.integer("replaced_value_int64", 0)));
    missing = emit(node, "Equal", {x, replaced});
    filling = constant(node, "filling", Constant::ints(integers));
  } else {
    const float value = node.real("replaced_value_float", 0);
    missing = std::isnan(value)
                  ? emit(node, "IsNaN", {x})
                  : emit(node, "Equal", {x, constant(node, "replaced", Constant::scalar(value))});
    filling = floats(node, "filling", reals, {size_of(reals)});
  }
  become_results(node, {emit(node, "Where", {missing, filling, x})});
}

void feature_vectorizer(Node& node) {
  require_input(node, 0, "X");
  std::vector<Value*> parts;
  for (Value* input : node.inputs) {
    if (input != nullptr) parts.push_back(as_float(node, input));
  }
  become_results(node, {emit(node, "Concat", parts, {{"axis", int64_t{-1}}})});
}

void array_feature_extractor(Node& node) {
  require_input(node, 0, "X");
  require_input(node, 1, "Y");
  Value* flat = constant(node, "flat", Constant::ints({-1}));
  Value* columns = emit(node, "Reshape", {node.input(1), flat});
  // A list is one row.
  Value* extents = emit(node, "Shape", {node.input(0)});
  Value* two = constant(node, "two", Constant::ints({2}));
  Value* zero = constant(node, "zero", Constant::ints({0}));
  Value* missing =
      emit(node, "Max", {emit(node, "Sub", {two, emit(node, "Shape", {extents})}), zero});
  Value* ones = emit(node, "ConstantOfShape", {missing});
  ones->producer->tensors["value"] = Constant::ints({1});
  Value* form = emit(node, "Concat", {ones, extents}, {{"axis", int64_t{0}}});
  Value* rows = emit(node, "Reshape", {node.input(0), form}, {{"allowzero", int64_t{1}}});
  become_results(node, {emit(node, "Gather", {rows, columns}, {{"axis", int64_t{-1}}})});
}

void linear_regressor(Node& node) {
  const int64_t targets = node.integer("targets", 1);
  Value* scores = linear(node, targets);
  become_results(node,
                 {transformed(node, scores, DataType::kFloat, targets, post_transform(node))});
}

/// The label of the largest score, and the scores. One score alone decides by its sign: it is that
/// of the second of two labels, and the first one has what is missing to 1, whatever the transform
/// (LOGISTIC, and PROBIT, of which ONNX Runtime gives one of two columns); of one label, the label
/// is 0 or 1, as in ONNX Runtime.
void linear_classifier(Node& node) {
  const std::vector<float> intercepts = node.reals("intercepts");
  Constant labels = class_labels(node, "classlabels_strings", "classlabels_ints");
  const int64_t classes = labels.count();
  const int64_t rows = intercepts.empty() ? classes : size_of(intercepts);
  if (rows != classes && (rows != 1 || classes != 2)) {
    refuse(node, "has " + std::to_string(classes) + " labels and " + std::to_string(rows) +
                     " rows of coefficients");
  }
  const std::string transform = post_transform(node);
  Value* scores = linear(node, rows);
  if (rows > 1) {
    Value* label = labels_at(node, std::move(labels), best_column(node, scores));
    become_results(node, {label, transformed(node, scores, DataType::kFloat, rows, transform)});
    return;
  }
  if (classes == 1) labels = yes_and_no(labels.type);
  Value* label = labels_at(node, std::move(labels), above(node, scores, DataType::kFloat, 0));
  if (classes == 1) {
    become_results(node, {label, transformed(node, scores, DataType::kFloat, 1, transform)});
    return;
  }
  Value* one = constant(node, "one", Constant::scalar<float>(1));
  Value* second = transform == "LOGISTIC" ? emit(node, "Sigmoid", {scores}) : scores;
  Value* both = beside(node, emit(node, "Sub", {one, second}), second);
  if (transform == "PROBIT") both = transformed(node, both, DataType::kFloat, 2, transform);
  become_results(node, {label, both});
}

}  // namespace intarsia::converter::version_steps
