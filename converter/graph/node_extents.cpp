// SPDX-License-Identifier: Apache-2.0
#include "converter/graph/node_extents.h"

#include <algorithm>
#include <map>
#include <random>
#include <vector>

namespace intarsia::converter {
namespace {

using definitions::Dim;
using definitions::DimVariable;
using definitions::kInfinite;

constexpr int64_t kMostAssignments = 32;

/// What extents of the node vary with. What has no bound of its own has those of the extents that
/// depend on it.
struct Variable {
  DimVariable variable;
  int64_t lower = 0, count = 1;
};

std::vector<Variable> variables_of(const Node& node, OperandViews& planned) {
  std::map<DimVariable, int64_t> highest;
  int operand = 0;
  const auto add = [&](const Value* value) {
    const int index = operand++;
    if (value == nullptr || value->constant) return;
    const Shape<Dim> shape = shape_of(*value);
    for (int axis = 0; axis < shape.rank; ++axis) {
      for (const DimVariable& variable : shape[axis].variables()) {
        int64_t& most = highest[variable];
        most = std::max<int64_t>(most, planned.view(index).dims()[static_cast<size_t>(axis)]);
      }
    }
  };
  for (const Value* input : node.inputs) add(input);
  for (const Value* output : node.outputs) add(output);
  std::vector<Variable> variables;
  for (const auto& [variable, most] : highest) {
    const int64_t lower = variable.lower == -kInfinite ? 0 : variable.lower;
    const int64_t upper = variable.upper < INT32_MAX ? variable.upper : most;
    variables.push_back({variable, lower, std::max<int64_t>(upper - lower, 0) + 1});
  }
  return variables;
}

/// The product of all counts, but no more than one above `most`.
int64_t number_of(const std::vector<Variable>& variables, int64_t most) {
  int64_t number = 1;
  for (const Variable& variable : variables) {
    if (variable.count > most / number) return most + 1;
    number *= variable.count;
  }
  return number;
}

/// What has none needs no workspace, and kernels of others may divide by an extent.
bool has_elements(const KernelContext& context) {
  for (int i = 0; i < context.input_count(); ++i) {
    if (context.input(i).present() && context.input(i).count() == 0) return false;
  }
  for (int i = 0; i < context.output_count(); ++i) {
    if (context.output(i).present() && context.output(i).count() == 0) return false;
  }
  return true;
}

}  // namespace

NodeExtents::NodeExtents(const Node& node, int threads) : node_(node), threads_(threads) {
  show_planned(node, planned_);
  planned_.set_threads(threads);
}

std::deque<OperandViews>& NodeExtents::others() {
  if (known_) return others_;
  known_ = true;
  const std::vector<Variable> variables = variables_of(node_, planned_);
  if (variables.empty()) return others_;
  const int64_t number = number_of(variables, kMostAssignments);
  std::minstd_rand draw;  // the same for every node, so that a model has one plan
  for (int64_t i = 0; i < std::min(number, kMostAssignments); ++i) {
    int64_t left = i;
    Assignment assignment;
    for (const Variable& variable : variables) {
      if (number > kMostAssignments) left = static_cast<int64_t>(draw());
      assignment[variable.variable] = variable.lower + left % variable.count;
      left /= variable.count;
    }
    OperandViews& views = others_.emplace_back();
    show_assigned(node_, assignment, planned_, views);
    views.set_threads(threads_);
    if (!has_elements(views.context())) others_.pop_back();
  }
  return others_;
}

}  // namespace intarsia::converter
