// SPDX-License-Identifier: Apache-2.0
//
// The optimisers of ai.onnx.preview.training, in other operators: a step for each of the tensors
// X_i by its gradient G_i.
// Source: onnx/docs/Operators.md (Adagrad, Adam, Momentum).
#include "converter/onnx/version_conversion_steps.h"

namespace intarsia::converter::version_steps {
namespace {

/// What the optimisers have in common: R, T, then all X, all G, and all of each further kind.
class Step {
 public:
  Step(Node& node, size_t kinds) : node_(node) {
    require_input(node, 0, "R");
    require_input(node, 1, "T");
    const size_t given = node.inputs.size() - 2;
    count_ = given / kinds;
    if (given % kinds != 0 || count_ == 0) {
      throw Error(node.problem("has " + std::to_string(given) + " inputs behind R and T, which " +
                               std::to_string(kinds) + " for each tensor do not add up to"));
    }
    for (size_t i = 2; i < node.inputs.size(); ++i) {
      require_input(node, static_cast<int>(i), "a tensor to be updated, or what belongs to it");
    }
    type_ = known_type(node, 2, "X");
    rate_ = to_type(node.inputs[0]);
    steps_ = to_type(node.inputs[1]);
  }

  size_t count() const { return count_; }
  /// Tensor `index` of one kind: 0 X, 1 G, ...
  Value* input(size_t kind, size_t index) const { return node_.inputs[2 + kind * count_ + index]; }
  Value* rate() const { return rate_; }
  Value* steps() const { return steps_; }
  double attribute(const char* name, float otherwise = 0) const {
    return static_cast<double>(node_.real(name, otherwise));
  }

  Value* number(double value) const {
    return constant(node_, "number", Constant::scalar_of(type_, value));
  }
  Value* call(const char* op, std::vector<Value*> inputs) const {
    return emit(node_, op, std::move(inputs));
  }
  Value* add(Value* a, Value* b) const { return call("Add", {a, b}); }
  Value* sub(Value* a, Value* b) const { return call("Sub", {a, b}); }
  Value* mul(Value* a, Value* b) const { return call("Mul", {a, b}); }
  Value* mul(double a, Value* b) const { return mul(number(a), b); }
  Value* div(Value* a, Value* b) const { return call("Div", {a, b}); }
  /// `value` from the second step on; T counts from 0.
  Value* not_at_first(Value* value, Value* otherwise) const {
    return call("Where", {call("Greater", {steps_, number(0)}), value, otherwise});
  }

  /// The gradient with that of 0.5 norm_coefficient |X|^2.
  Value* gradient(size_t index) const {
    return add(mul(attribute("norm_coefficient"), input(0, index)), input(1, index));
  }

 private:
  Value* to_type(Value* value) const {
    return emit(node_, "Cast", {value}, {{"to", static_cast<int64_t>(type_)}});
  }

  Node& node_;
  size_t count_ = 0;
  DataType type_ = DataType::kUndefined;
  Value* rate_ = nullptr;
  Value* steps_ = nullptr;
};

/// Puts the results, one list for each kind, in the node's place.
void finish(Node& node, const std::vector<std::vector<Value*>>& kinds) {
  std::vector<Value*> all;
  for (const auto& kind : kinds) all.insert(all.end(), kind.begin(), kind.end());
  become_results(node, all);
}

}  // namespace

void adagrad(Node& node) {
  const Step s(node, 3);
  Value* decayed = s.add(s.number(1), s.mul(s.attribute("decay_factor"), s.steps()));
  Value* rate = s.div(s.rate(), decayed);
  std::vector<Value*> x, h;
  for (size_t i = 0; i < s.count(); ++i) {
    Value* g = s.gradient(i);
    h.push_back(s.add(s.input(2, i), s.mul(g, g)));
    Value* root = s.add(s.call("Sqrt", {h.back()}), s.number(s.attribute("epsilon", 1e-6F)));
    x.push_back(s.sub(s.input(0, i), s.div(s.mul(rate, g), root)));
  }
  finish(node, {x, h});
}

void adam(Node& node) {
  const Step s(node, 4);
  const double alpha = s.attribute("alpha", 0.9F), beta = s.attribute("beta", 0.999F);
  const auto rest = [&](double base) {
    return s.sub(s.number(1), s.call("Pow", {s.number(base), s.steps()}));
  };
  Value* corrected = s.div(s.mul(s.rate(), s.call("Sqrt", {rest(beta)})), rest(alpha));
  Value* rate = s.not_at_first(corrected, s.rate());
  std::vector<Value*> x, v, h;
  for (size_t i = 0; i < s.count(); ++i) {
    Value* g = s.gradient(i);
    v.push_back(s.add(s.mul(alpha, s.input(2, i)), s.mul(1 - alpha, g)));
    h.push_back(s.add(s.mul(beta, s.input(3, i)), s.mul(1 - beta, s.mul(g, g))));
    Value* root = s.add(s.call("Sqrt", {h.back()}), s.number(s.attribute("epsilon", 1e-6F)));
    Value* moved = s.sub(s.input(0, i), s.div(s.mul(rate, v.back()), root));
    x.push_back(s.mul(1 - s.attribute("norm_coefficient_post"), moved));
  }
  finish(node, {x, v, h});
}

void momentum(Node& node) {
  const Step s(node, 3);
  const std::string mode = node.text("mode", "standard");
  const bool nesterov = mode == "nesterov";
  if (!nesterov && mode != "standard") {
    throw Error(
        node.problem("attribute 'mode' is '" + mode + "'; it has to be standard or nesterov"));
  }
  const double alpha = s.attribute("alpha");
  Value* beta = s.not_at_first(s.number(s.attribute("beta")), s.number(1));
  std::vector<Value*> x, v;
  for (size_t i = 0; i < s.count(); ++i) {
    Value* g = s.gradient(i);
    v.push_back(s.add(s.mul(alpha, s.input(2, i)), s.mul(beta, g)));
    Value* direction = nesterov ? s.add(g, s.mul(alpha, v.back())) : v.back();
    x.push_back(s.sub(s.input(0, i), s.mul(s.rate(), direction)));
  }
  finish(node, {x, v});
}

}  // namespace intarsia::converter::version_steps
