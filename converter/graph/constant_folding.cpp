// SPDX-License-Identifier: Apache-2.0
//
// Constant folding: nodes whose inputs are all known are executed, within limits.
#include <algorithm>

#include "converter/graph/infer.h"
#include "converter/graph/kernel_selection.h"
#include "converter/graph/random_streams.h"
#include "converter/graph/work.h"
#include "converter/passes/fold.h"

namespace intarsia::converter {

namespace {

/// True of whole bytes that are made of constant codes of less than a byte, where these are many:
/// made anew in each run they leave the plan as small as the model.
bool stays_codes(const std::vector<const Constant*>& inputs,
                 const std::vector<OutputPlan>& outputs) {
  constexpr int64_t kMany = 1 << 16;
  if (inputs.empty() || inputs[0] == nullptr || outputs.empty()) return false;
  return element_bits(inputs[0]->type) < 8 && element_bits(outputs[0].type) >= 8 &&
         checked_byte_size(outputs[0].type, outputs[0].extents) >= kMany;
}

}  // namespace

/// True if executing a node stays within the limits; takes its cost off them.
bool Inference::afford(const Node& node, const std::vector<const Constant*>& inputs,
                       const std::vector<OutputPlan>& outputs, bool by_values) {
  int64_t bytes = 0;
  for (const OutputPlan& output : outputs) {
    const int64_t size = output.present ? checked_byte_size(output.type, output.extents) : 0;
    if (size < 0 || size > left_.bytes - bytes) return false;
    bytes += size;
  }
  const double steps = work_of(node, inputs, outputs, by_values);
  if (steps > left_.steps) return false;
  left_.bytes -= bytes;
  left_.steps -= steps;
  return true;
}

/// Finds the elements of results that depend on constants or extents alone.
void Inference::execute_if_constant(Node& node) {
  if (node.op->impure || draws(node) || node.op->infer == nullptr) return;
  std::vector<const Constant*> inputs;
  for (const Value* input : node.inputs) {
    inputs.push_back(input != nullptr ? known_constant(*input) : nullptr);
    if (input == nullptr || inputs.back() != nullptr) continue;
    for (Value* output : node.outputs) {
      if (output != nullptr) output->known = propagated_constant(*output);
    }
    return;
  }
  std::vector<OutputPlan> outputs;
  bool by_values = false;
  for (const Value* output : node.outputs) {
    OutputPlan plan;
    if (output != nullptr) {
      plan.present = true;
      plan.type = output->type;
      for (int axis = 0; axis < output->shape->rank; ++axis) {
        const int64_t upper = (*output->shape)[axis].upper();
        if (upper == definitions::kInfinite) return;
        by_values = by_values || !is_constant((*output->shape)[axis]);
        plan.extents.push_back(std::max<int64_t>(0, upper));
      }
      // Strings and other types without kernels stay nodes and are reported as such.
      if (element_bits(plan.type) == 0) return;
    }
    outputs.push_back(std::move(plan));
  }
  // The operators that a device alone executes.
  if (!has_kernel(node, rows_, KernelDevice::kHost) &&
      has_kernel(node, rows_, KernelDevice::kCuda)) {
    return;
  }
  if (stays_codes(inputs, outputs)) return;
  if (!afford(node, inputs, outputs, by_values)) return;
  std::vector<Constant> results;
  try {
    results = evaluate(node, inputs, outputs, rows_, options_.services);
  } catch (const Error& error) {
    throw ContradictionError(error.problems());
  }
  for (size_t i = 0; i < results.size(); ++i) {
    Value* output = node.outputs[i];
    if (output == nullptr) continue;
    // Extents that depend on values are those of the constant; the node does not know them.
    const bool exact = !varies(*output);
    output->known = results[i];
    if (!exact) become_constant(node, i, std::move(results[i]));
  }
}

}  // namespace intarsia::converter
