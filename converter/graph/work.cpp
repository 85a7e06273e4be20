// SPDX-License-Identifier: Apache-2.0
#include "converter/graph/work.h"

#include <algorithm>
#include <cmath>

namespace intarsia::converter {
namespace {

double product(std::span<const int64_t> extents) {
  double count = 1;
  for (int64_t extent : extents) count *= static_cast<double>(std::max<int64_t>(extent, 0));
  return count;
}

/// Steps for each element of the result of a node that moves a window: 1 if it moves none. Weights
/// are operands of the data's rank, (channels out, channels in, window).
double window_steps(const Node& node, const std::vector<const Constant*>& inputs) {
  const definitions::IntegerAttribute& window = node.op->facts.window;
  if (!window) return 1;
  double steps = product(window.get(node.attribute_bytes.data()));
  for (size_t i = 1; i < inputs.size() && inputs[0] != nullptr; ++i) {
    if (inputs[i] == nullptr || inputs[i]->rank() != inputs[0]->rank()) continue;
    const std::span<const int64_t> extents = inputs[i]->extents;
    steps = std::max(steps, product(extents.subspan(1)));
  }
  return steps;
}

/// Elements of the state of a recurrence; 0 if the node is none.
double state_of(const Node& node) {
  const definitions::IntegerAttribute& state = node.op->facts.state;
  return state ? product(state.get(node.attribute_bytes.data())) : 0;
}

}  // namespace

double work_of(const Node& node, const std::vector<const Constant*>& inputs,
               const std::vector<OutputPlan>& outputs, bool by_values) {
  double largest = 1, second = 1, read = 0, written = 0;
  for (const Constant* input : inputs) {
    const double count = input != nullptr ? product(input->extents) : 0;
    second = std::max(second, std::min(largest, count));
    largest = std::max(largest, count);
    read += count;
  }
  for (const OutputPlan& output : outputs) {
    if (output.present) written += product(output.extents);
  }
  const double first = inputs.empty() || inputs[0] == nullptr ? 0 : product(inputs[0]->extents);
  double work = std::max(read + written, std::sqrt(largest * second * written));
  // A transposed convolution spreads its input over the windows of its result.
  const double window = window_steps(node, inputs);
  if (window > 1) work = std::max(work, std::max(written, first) * window);
  const double state = state_of(node);
  if (state > 0) work = std::max(work, written * (read - first) / state);
  if (by_values || !node.domain.empty()) work = std::max(work, std::pow(read + written, 1.5));
  return work;
}

}  // namespace intarsia::converter
