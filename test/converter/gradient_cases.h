// SPDX-License-Identifier: Apache-2.0
//
// Models of one node each, for every operator whose definition has a gradient rule: extents,
// attributes and elements are drawn. Element-wise operators follow from their definitions; the
// others have a function in gradient_cases*.cpp, by name.
#pragma once

#include <string>
#include <vector>

#include "core/definitions/registry.h"
#include "test/converter/gradient_choices.h"
#include "test/converter/gradient_node.h"
#include "test/converter/onnx_builder.h"

namespace intarsia::test {

/// A node "op" of double operands, and what its variables may be.
class GradientSample {
 public:
  struct Variable {
    std::string name;
    int64_t count = 1;
    double low = -2, high = 2;
    bool either_sign = false;
  };

  GradientSample(const definitions::OperatorDefinition& op, Choices& made)
      : definition(op), choices(made), random(made.random) {
    choices.begin();
  }

  /// An input of the model, with a gradient.
  std::string variable(const std::vector<int64_t>& extents, double low = -2, double high = 2,
                       bool either_sign = false) {
    Variable made{"x" + std::to_string(variables.size()), 1, low, high, either_sign};
    for (int64_t extent : extents) made.count *= extent;
    model.input(made.name, extents, DataType::kDouble);
    variables.push_back(made);
    return made.name;
  }
  /// A constant vector.
  std::string integers(const std::vector<int64_t>& values) {
    return indices({static_cast<int64_t>(values.size())}, values);
  }
  std::string indices(const std::vector<int64_t>& extents, const std::vector<int64_t>& values) {
    const std::string name = "c" + std::to_string(constants_++);
    model.initializer(name, DataType::kInt64, extents, values.data(), values.size() * 8);
    return name;
  }
  std::string flags(const std::vector<int64_t>& extents) {
    std::vector<char> values(static_cast<size_t>(count_of(extents)));
    for (char& value : values) value = static_cast<char>(random.below(2));
    const std::string name = "c" + std::to_string(constants_++);
    model.initializer(name, DataType::kBool, extents, values.data(), values.size());
    return name;
  }
  /// The node itself; its outputs are called y0, y1, ...
  onnx::NodeProto& node(const Names& inputs, int outputs = 1) {
    for (int i = 0; i < outputs; ++i) results.push_back("y" + std::to_string(i));
    auto& made = model.node(std::string(definition.name), inputs, results);
    made.set_name("op");
    if (!definition.domain.empty()) {
      model.import_opset(std::string(definition.domain), 1);
      made.set_domain(std::string(definition.domain));
    }
    return made;
  }

  /// For an operator without kernels of double: an operand in single precision, and its results in
  /// double again. Differences are then of a wider step.
  std::string single(const std::string& name) {
    step = 0.04;
    tolerance = 5e-4;
    return cast(name, DataType::kFloat);
  }
  void widen_results() {
    for (std::string& result : results) result = cast(result, DataType::kDouble);
  }

  /// Elements for one of the variables.
  static std::vector<double> values_of(const Variable& variable, Random& drawn) {
    std::vector<double> values;
    for (int64_t i = 0; i < variable.count; ++i) {
      const double share = static_cast<double>(drawn.below(1'000'000)) / 1e6;
      const double value = variable.low + share * (variable.high - variable.low);
      values.push_back(variable.either_sign && drawn.chance(50) ? -value : value);
    }
    return values;
  }

  /// Without axes of one element in the first sample: along these nothing moves, and many a sum
  /// is of one term.
  std::vector<int64_t> extents(int rank, int64_t largest = 4) {
    std::vector<int64_t> drawn;
    for (int i = 0; i < rank; ++i)
      drawn.push_back(random.between(choices.first() ? 2 : 1, largest));
    return drawn;
  }
  /// Not 0 in the first sample.
  int rank(int largest) {
    return static_cast<int>(random.between(choices.first() ? 1 : 0, largest));
  }
  /// Extents that broadcast to `whole`.
  std::vector<int64_t> part_of(const std::vector<int64_t>& whole) {
    const auto lacking = static_cast<ptrdiff_t>(
        random.chance(60) ? 0 : random.below(static_cast<int64_t>(whole.size()) + 1));
    std::vector<int64_t> part(whole.begin() + lacking, whole.end());
    for (int64_t& extent : part) extent = random.chance(25) ? 1 : extent;
    return part;
  }
  std::vector<int64_t> below(const std::vector<int64_t>& extents, int64_t limit) {
    std::vector<int64_t> drawn(static_cast<size_t>(count_of(extents)));
    for (int64_t& value : drawn) value = random.between(-limit, limit - 1);
    return drawn;
  }
  static int64_t count_of(const std::vector<int64_t>& extents) {
    int64_t count = 1;
    for (int64_t extent : extents) count *= extent;
    return count;
  }

  const definitions::OperatorDefinition& definition;
  Choices& choices;
  Random& random;
  converter::OnnxBuilder model{converter::kNewestOpset};
  std::vector<Variable> variables;
  Names results;
  /// Between the points of a difference; what it may be off by, of 1 and of the gradient.
  double step = 1e-4, tolerance = 1e-6;

 private:
  std::string cast(const std::string& name, DataType type) {
    const std::string made = name + "_cast";
    auto& node = model.node("Cast", {name}, {made});
    converter::OnnxBuilder::set(node, "to", static_cast<int64_t>(type));
    return made;
  }
  int constants_ = 0;
};

using GradientCase = void (*)(GradientSample& s);

/// How to draw a model of `op`; null if nobody has said how.
GradientCase gradient_case(const definitions::OperatorDefinition& op);

/// The operators of models that have a gradient.
std::vector<const definitions::OperatorDefinition*> differentiable();
/// The parts of gradient_cases_images.cpp and gradient_cases_control.cpp.
GradientCase image_gradient_case(std::string_view name);
GradientCase control_gradient_case(std::string_view name);

/// Operators without a rule of their own, whose gradients are those of what they become.
struct ExpandedCase {
  std::string_view name, domain;
  GradientCase draw;
};
std::vector<ExpandedCase> expanded_gradient_cases();

}  // namespace intarsia::test
