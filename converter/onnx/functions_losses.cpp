// SPDX-License-Identifier: Apache-2.0
//
// The losses of classifiers, in other operators: the negative log-probability of each target,
// weighted by the target's class, not counted where the target is `ignore_index`.
// Source: onnx/docs/Operators.md (NegativeLogLikelihoodLoss, SoftmaxCrossEntropyLoss).
#include "converter/onnx/version_conversion_steps.h"

namespace intarsia::converter::version_steps {
namespace {

Value* sum(Node& node, Value* of) {
  return emit(node, "ReduceSum", {of}, {{"keepdims", int64_t{0}}});
}

/// `log_probabilities` has the classes along axis 1.
Value* loss_of(Node& node, Value* log_probabilities) {
  const DataType type = known_type(node, 0, "input"), target_type = known_type(node, 1, "target");
  const auto scalar = [&node](const char* name, DataType of, double value) {
    return constant(node, name, Constant::scalar_of(of, value));
  };
  Value* target = node.input(1);
  Value* ignored = nullptr;
  if (node.attribute("ignore_index") != nullptr) {
    const auto index = static_cast<double>(node.integer("ignore_index", 0));
    ignored = emit(node, "Equal", {target, scalar("ignore_index", target_type, index)});
    target = emit(node, "Where", {ignored, scalar("first_class", target_type, 0), target});
  }
  Value* axis = constant(node, "axis", Constant::ints({1}));
  Value* taken =
      emit(node, "GatherElements", {log_probabilities, emit(node, "Unsqueeze", {target, axis})},
           {{"axis", int64_t{1}}});
  Value* loss = emit(node, "Neg", {emit(node, "Squeeze", {taken, axis})});
  Value* weights = node.input(2) != nullptr ? emit(node, "Gather", {node.input(2), target})
                   : ignored != nullptr     ? scalar("one", type, 1)
                                            : nullptr;
  if (ignored != nullptr) {
    weights = emit(node, "Where", {ignored, scalar("nothing", type, 0), weights});
  }
  if (weights != nullptr) loss = emit(node, "Mul", {loss, weights});
  const std::string reduction = node.text("reduction", "mean");
  if (reduction == "sum" || (reduction == "mean" && weights != nullptr)) loss = sum(node, loss);
  if (reduction == "mean") {
    loss = weights != nullptr ? emit(node, "Div", {loss, sum(node, weights)})
                              : emit(node, "ReduceMean", {loss}, {{"keepdims", int64_t{0}}});
  } else if (reduction != "sum" && reduction != "none") {
    throw Error(node.problem("attribute 'reduction' is '" + reduction +
                             "'; it has to be none, sum or mean"));
  }
  return loss;
}

}  // namespace

void negative_log_likelihood(Node& node) {
  require_input(node, 0, "input");
  become_results(node, {loss_of(node, node.input(0))});
}

void softmax_cross_entropy(Node& node) {
  require_input(node, 0, "scores");
  Value* logarithms = emit(node, "LogSoftmax", {node.input(0)}, {{"axis", int64_t{1}}});
  become_results(node, {loss_of(node, logarithms), logarithms});
}

}  // namespace intarsia::converter::version_steps
