// SPDX-License-Identifier: Apache-2.0
#include "converter/lower/workspace.h"

#include <algorithm>
#include <random>
#include <set>
#include <vector>

namespace intarsia::converter {
namespace {

constexpr int64_t kMostAssignments = 32;

/// Numbers of the symbols that extents of the node depend on.
std::set<int> symbols_of(const Node& node) {
  std::set<int> found;
  const auto add = [&](const Value* value) {
    if (value == nullptr || value->constant) return;
    const Shape<definitions::Dim> shape = shape_of(*value);
    for (int axis = 0; axis < shape.rank; ++axis) {
      for (const int symbol : shape[axis].symbols()) found.insert(symbol);
    }
  };
  for (const Value* input : node.inputs) add(input);
  for (const Value* output : node.outputs) add(output);
  return found;
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

int64_t most_workspace(const Node& node, const KernelContext& planned,
                       const definitions::KernelRow& kernel,
                       const definitions::SymbolTable& symbols) {
  if (kernel.workspace == nullptr) return 0;
  int64_t most = kernel.workspace(planned);

  const std::set<int> varying = symbols_of(node);
  std::vector<int64_t> assignment;
  for (int i = 0; i < symbols.size(); ++i) assignment.push_back(symbols[i].max);
  const auto values_of = [&](int symbol) {  // no extent has more
    return std::min<int64_t>(symbols[symbol].max, INT32_MAX) - symbols[symbol].min + 1;
  };
  int64_t number = varying.empty() ? 0 : 1;
  for (const int symbol : varying) {
    const int64_t values = values_of(symbol);
    number = values > kMostAssignments / number ? kMostAssignments + 1 : number * values;
    if (number > kMostAssignments) break;
  }
  std::minstd_rand draw;  // the same for every node, so that a model has one plan
  for (int64_t i = 0; i < std::min(number, kMostAssignments); ++i) {
    int64_t left = i;
    for (const int symbol : varying) {
      if (number > kMostAssignments) left = static_cast<int64_t>(draw());
      assignment[static_cast<size_t>(symbol)] = symbols[symbol].min + left % values_of(symbol);
      left /= values_of(symbol);
    }
    OperandViews views;
    show_assigned(node, assignment, views);
    views.set_threads(planned.threads());
    const KernelContext& context = views.context();
    if (!has_elements(context)) continue;
    most = std::max(most, kernel.workspace(context));
  }
  return most;
}

}  // namespace intarsia::converter
