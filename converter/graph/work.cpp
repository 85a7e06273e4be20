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

const std::vector<int64_t>* list_attribute(const Node& node, std::string_view name) {
  const definitions::AttributeValue* value = node.attribute(name);
  return value != nullptr ? std::get_if<std::vector<int64_t>>(value) : nullptr;
}

double number_attribute(const Node& node, std::string_view name, double fallback) {
  const definitions::AttributeValue* value = node.attribute(name);
  const int64_t* number = value != nullptr ? std::get_if<int64_t>(value) : nullptr;
  return number != nullptr ? static_cast<double>(std::max<int64_t>(*number, 1)) : fallback;
}

/// True if the operator has such an attribute, be it given or not.
bool has_field(const Node& node, std::string_view name) {
  const auto print = node.op->attributes.print;
  if (print == nullptr || node.attribute_bytes.empty()) return false;
  const auto fields = print(node.attribute_bytes.data());
  return std::any_of(fields.begin(), fields.end(),
                     [name](const auto& field) { return field.first == name; });
}

/// Steps for each element of the result of a node that moves a window: 1 if it moves none. Weights
/// are operands of the data's rank, (channels out, channels in, window).
double window_steps(const Node& node, const std::vector<const Constant*>& inputs) {
  double steps = number_attribute(node, "size", 1);
  if (const auto* window = list_attribute(node, "kernel_shape")) steps *= product(*window);
  if (inputs.empty() || inputs[0] == nullptr || !has_field(node, "kernel_shape")) return steps;
  for (size_t i = 1; i < inputs.size(); ++i) {
    if (inputs[i] == nullptr || inputs[i]->rank() != inputs[0]->rank()) continue;
    const std::span<const int64_t> extents = inputs[i]->extents;
    steps = std::max(steps, product(extents.subspan(1)));
  }
  return steps;
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
  const double hidden = number_attribute(node, "hidden_size", 0);
  if (hidden > 0) work = std::max(work, written * (read - first) / hidden);
  if (by_values || !node.domain.empty()) work = std::max(work, std::pow(read + written, 1.5));
  return work;
}

}  // namespace intarsia::converter
