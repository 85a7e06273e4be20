// SPDX-License-Identifier: Apache-2.0
//
// Old forms of normalisations and Dropout.
#include <algorithm>

#include "converter/onnx/version_conversion_steps.h"

namespace intarsia::converter::version_steps {
namespace {

// Statistics for each element of an item: no operator has them now.
void normalize_elements(Node& node) {
  static constexpr const char* kNames[] = {"X", "scale", "B", "mean", "var"};
  for (int input = 0; input < 5; ++input) require_input(node, input, kNames[input]);
  const auto epsilon = static_cast<double>(node.real("epsilon", 1e-5F));
  Value* least = constant(node, "epsilon", Constant::scalar_of(known_type(node, 0, "X"), epsilon));
  const auto add = [&node](const char* type, Value* a, Value* b) {
    return emit(node, type, {a, b});
  };
  Value* deviation = emit(node, "Sqrt", {add("Add", node.inputs[4], least)});
  Value* normal = add("Div", add("Sub", node.inputs[0], node.inputs[3]), deviation);
  become_results(node, {add("Add", add("Mul", normal, node.inputs[1]), node.inputs[2])});
}

// The statistics of the batch itself are running ones that keep nothing of the past.
void batch_statistics(Node& node) {
  Node* batch =
      node.graph->add_node("", "BatchNormalization", node.name + "_batch", node.inputs, 3, &node);
  batch->attributes = node.attributes;
  batch->attributes["momentum"] = 0.0F;
  for (size_t i = 3; i < node.outputs.size(); ++i) {
    if (node.outputs[i] == nullptr) continue;
    node.outputs[i]->producer = nullptr;
    node.graph->add_node_for("", "Identity", node.name + "_" + std::to_string(i),
                             std::span<Value* const>(&batch->outputs[i - 2], 1),
                             std::span<Value* const>(&node.outputs[i], 1), &node);
  }
  node.outputs.resize(3);
}

}  // namespace

// The old operators normalise over all axes from `axis` on, as if these were one.
void softmax(Node& node) {
  const int64_t axis = node.integer("axis", 1);
  node.attributes["axis"] = int64_t{-1};
  if (axis == -1) return;
  Value* input = node.input(0);
  if (input == nullptr) return;
  Value* extents = emit(node, "Shape", {input});
  node.set_input(0, emit(node, "Flatten", {input}, {{"axis", axis}}));
  append(node, 0, "Reshape", {extents})->attributes["allowzero"] = int64_t{1};
}

// That more outputs were used said that the node is one of training.
void batch_normalization(Node& node) {
  const bool per_element = node.integer("spatial", 1) == 0;
  const bool tests = node.integer("is_test", 0) != 0;
  node.attributes.erase("spatial");
  node.attributes.erase("is_test");
  const auto used = std::find_if(node.outputs.begin() + 1, node.outputs.end(), [](Value* output) {
    return output != nullptr && !output->uses.empty();
  });
  if (used == node.outputs.end()) {
    for (size_t i = 1; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != nullptr) node.outputs[i]->producer = nullptr;
    }
    node.outputs.resize(1);
    if (per_element) normalize_elements(node);
    return;
  }
  if (tests || per_element || node.outputs.size() > 5) {
    refuse(node, "output '" + (*used)->name + "' is computed in training only");
  }
  node.attributes["training_mode"] = int64_t{1};
  if (node.outputs.size() > 3) batch_statistics(node);
}

// Training was what an attribute did not deny.
void dropout_6(Node& node) {
  if (node.integer("is_test", 0) != 0) return;
  const float ratio = node.real("ratio", 0.5F);
  node.set_input(1, constant(node, "ratio", Constant::of<float>({}, std::span(&ratio, 1))));
  node.set_input(2, constant(node, "training_mode", Constant::scalar<bool>(true)));
}

// The ratio matters in training only, which these forms are not used for.
void dropout(Node& node) {
  node.attributes.erase("ratio");
  node.attributes.erase("is_test");
}

// The mask had the type of the data.
void dropout_mask(Node& node) {
  Value* mask = node.output(1);
  if (mask == nullptr || mask->uses.empty()) return;
  if (node.input(0) == nullptr || node.input(0)->type == DataType::kUndefined) {
    refuse(node, "the mask of this form has a type that is not known");
  }
  const auto type = static_cast<int64_t>(node.input(0)->type);
  append(node, 1, "Cast")->attributes["to"] = type;
}

// Scale and bias were per group: with a group's channels as one, this is InstanceNormalization.
void group_normalization(Node& node) {
  Value* input = node.input(0);
  require_input(node, 0, "X");
  const int64_t groups = node.integer("num_groups", 0);
  node.attributes.erase("num_groups");
  node.type = "InstanceNormalization";
  Value* extents = emit(node, "Shape", {input});
  Value* grouped = constant(node, "groups", Constant::ints({0, groups, -1}));
  node.set_input(0, emit(node, "Reshape", {input, grouped}));
  append(node, 0, "Reshape", {extents})->attributes["allowzero"] = int64_t{1};
}

}  // namespace intarsia::converter::version_steps
