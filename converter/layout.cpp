// SPDX-License-Identifier: Apache-2.0
#include "converter/layout.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "core/operators/attributes.h"
#include "core/operators/conv.h"
#include "core/operators/normalization.h"
#include "core/operators/pool.h"

namespace intarsia::converter {
namespace {

int rank_of(const Value& value) {
  return value.constant ? value.constant->rank() : (value.shape ? value.shape->rank : -1);
}

definitions::Dim extent_of(const Value& value, int axis) {
  if (value.constant) return value.constant->extents[static_cast<size_t>(axis)];
  return (*value.shape)[axis];
}

/// Axis order that turns N,C,spatial into N,spatial,C; and back.
std::vector<int64_t> to_last(int rank) {
  std::vector<int64_t> order{0};
  for (int axis = 2; axis < rank; ++axis) order.push_back(axis);
  order.push_back(1);
  return order;
}
std::vector<int64_t> to_first(int rank) {
  std::vector<int64_t> order{0, rank - 1};
  for (int axis = 1; axis < rank - 1; ++axis) order.push_back(axis);
  return order;
}

/// Where axis `axis` of the ONNX layout stands in the channels-last one.
int last_axis(int axis, int rank) {
  if (axis == 0) return 0;
  return axis == 1 ? rank - 1 : axis - 1;
}

class LayoutPass {
 public:
  LayoutPass(Graph& graph, Inference& inference) : graph_(graph), inference_(inference) {}

  void run() {
    for (Node* node : graph_.node_list()) {
      for (const SubGraph& sub : node->graphs) assign_layout(*sub.graph, inference_);
      if (node->op == nullptr || !node->graphs.empty() || !node->domain.empty()) continue;
      convert(*node);
    }
    restore();
  }

 private:
  // -- Twins
  // ---------------------------------------------------------------------------------------

  Value* twin(Value* value) const {
    const auto found = twins_.find(value);
    return found != twins_.end() ? found->second : nullptr;
  }

  /// A node that reorders axes: a Reshape where the elements keep their order.
  Value* reorder(Value* value, const std::vector<int64_t>& order, const std::string& name,
                 Node* before) {
    std::vector<definitions::Dim> moved;
    for (int64_t axis : order) moved.push_back(extent_of(*value, static_cast<int>(axis)));
    if (keeps_order(*value, order)) {
      std::vector<int64_t> extents;
      for (const auto& extent : moved) extents.push_back(constant_value(extent));
      Value* const inputs[] = {value, graph_.add_constant(graph_.unique_name(name + "_extents"),
                                                          Constant::ints(extents))};
      inputs[1]->type = DataType::kInt64;
      return add("Reshape", name, inputs, before, {{"allowzero", int64_t{1}}})->outputs[0];
    }
    Value* const inputs[] = {value};
    return add("Transpose", name, inputs, before, {{"perm", order}})->outputs[0];
  }

  static bool keeps_order(const Value& value, const std::vector<int64_t>& order) {
    int64_t last = -1;
    for (int axis = 0; axis < rank_of(value); ++axis) {
      if (!is_constant(extent_of(value, axis))) return false;
    }
    for (int64_t axis : order) {
      if (constant_value(extent_of(value, static_cast<int>(axis))) == 1) continue;
      if (axis < last) return false;
      last = axis;
    }
    return true;
  }

  Node* add(std::string_view type, const std::string& name, std::span<Value* const> inputs,
            Node* before, definitions::AttributeMap attributes) {
    Node* node = graph_.add_node("", type, graph_.unique_name(name), inputs, 1, before);
    node->attributes = std::move(attributes);
    const std::string error =
        node->resolve_as(*definitions::OperatorRegistry::builtin().find("", type));
    if (!error.empty()) throw Error(node->problem(error));
    inference_.infer_outputs(*node);
    return node;
  }

  /// The channels-last twin of a value, made by a Transpose if there is none yet.
  Value* need_twin(Value* value, Node* before) {
    if (Value* known = twin(value)) return known;
    Value* made = reorder(value, to_last(rank_of(*value)), value->name + "_nhwc", before);
    twins_[value] = made;
    return made;
  }

  /// Makes `node` compute channels-last: its output becomes a twin, and the value that it produced
  /// so far is made from the twin for whoever still needs it (see `restore`).
  void produce_twin(Node& node, size_t output = 0) {
    Value* onnx = node.outputs[output];
    Value* made = graph_.add_value(graph_.unique_name(onnx->name + "_nhwc"));
    made->type = onnx->type;
    made->producer = &node;
    made->output = static_cast<int>(output);
    node.outputs[output] = made;
    onnx->producer = nullptr;
    twins_[onnx] = made;
    order_.push_back(onnx);
  }

  /// Gives values that lost their producer a Transpose from their twin, right behind it.
  void restore() {
    for (Value* onnx : order_) {
      if (onnx->uses.empty()) continue;
      Value* source = twins_.at(onnx);
      Node* producer = source->producer;
      const auto next = std::next(producer->self);
      Node* before = next == graph_.nodes().end() ? nullptr : next->get();
      Value* made = reorder(source, to_first(rank_of(*source)), onnx->name + "_nchw", before);
      made->name = onnx->name;
      Graph::replace_uses(onnx, made);
    }
  }

  // -- Rules
  // ---------------------------------------------------------------------------------------

  void convert(Node& node) {
    Value* x = node.input(0);
    if (x == nullptr || node.output(0) == nullptr) return;
    if (node.type == "Conv") return convert_conv(node);
    if (node.type == "MaxPool") {
      // Indices count in the ONNX layout.
      if (node.output(1) != nullptr) return;
      return convert_window(node, node.typed<MaxPoolAttributes>().pool.channels_last);
    }
    if (node.type == "AveragePool") {
      return convert_window(node, node.typed<AveragePoolAttributes>().pool.channels_last);
    }
    if (node.type == "GlobalAveragePool" || node.type == "GlobalMaxPool") {
      return convert_window(node, node.typed<GlobalPoolAttributes>().channels_last);
    }
    if (node.type == "BatchNormalization" && node.outputs.size() == 1) {
      return convert_window(node, node.typed<BatchNormalizationAttributes>().channels_last);
    }
    if (node.type == "Concat") return convert_concat(node);
    if (node.type == "Transpose") {
      // A channels-last value in disguise, such as an input of `--layout INPUT=nhwc`.
      const int rank = rank_of(*x);
      if (rank >= 3 && node.integers("perm") == to_first(rank)) twins_[node.outputs[0]] = x;
      return;
    }
    if (is_pointwise(node)) convert_pointwise(node);
  }

  static bool is_image(const Value& value) { return rank_of(value) >= 3 && rank_of(value) <= 4; }

  void convert_conv(Node& node) {
    Value* x = node.inputs[0];
    if (!is_image(*x) || x->type != DataType::kFloat || x->constant) return;
    if (node.input(1) == nullptr || !node.input(1)->constant) return;
    node.set_input(0, need_twin(x, &node));
    if (Value* residual = node.input(3)) node.set_input(3, need_twin(residual, &node));
    node.typed<ConvAttributes>().channels_last = 1;
    produce_twin(node);
    inference_.infer_outputs(node);
  }

  /// Operators over one image that serve both layouts; they follow their input.
  void convert_window(Node& node, int32_t& channels_last) {
    Value* x = node.inputs[0];
    if (twin(x) == nullptr) return;
    node.set_input(0, twin(x));
    channels_last = 1;
    produce_twin(node);
    inference_.infer_outputs(node);
  }

  void convert_concat(Node& node) {
    const int rank = rank_of(*node.outputs[0]);
    if (std::none_of(node.inputs.begin(), node.inputs.end(), [&](Value* v) { return twin(v); }))
      return;
    auto& attributes = node.typed<AxisAttributes>();
    const int axis = attributes.axis < 0 ? attributes.axis + rank : attributes.axis;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      node.set_input(static_cast<int>(i), need_twin(node.inputs[i], &node));
    }
    attributes.axis = last_axis(axis, rank);
    produce_twin(node);
    inference_.infer_outputs(node);
  }

  /// Broadcasting operators of one output, element by element.
  static bool is_pointwise(const Node& node) {
    const std::string_view rule = node.op->shape_cpp;
    return node.outputs.size() == 1 &&
           (rule == "intarsia::ops::SameShape" || rule == "intarsia::ops::Broadcast" ||
            rule == "intarsia::ops::WhereShape");
  }

  void convert_pointwise(Node& node) {
    const int rank = rank_of(*node.outputs[0]);
    if (rank < 3) return;
    // Operands of full rank follow; scalars fit any layout; other constants are reordered offline.
    size_t twins = 0, images = 0;
    for (Value* input : node.inputs) {
      if (input == nullptr || is_scalar(*input)) continue;
      if (input->constant) continue;
      if (rank_of(*input) != rank) return;
      ++images;
      if (twin(input) != nullptr) ++twins;
    }
    if (twins == 0 || 2 * twins < images) return;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      Value* input = node.inputs[i];
      if (input == nullptr || is_scalar(*input)) continue;
      node.set_input(static_cast<int>(i),
                     input->constant ? reordered_constant(*input, rank) : need_twin(input, &node));
    }
    produce_twin(node);
    inference_.infer_outputs(node);
  }

  static bool is_scalar(const Value& value) {
    return value.constant ? value.constant->count() == 1 : rank_of(value) == 0;
  }

  /// A constant that broadcasts to `rank` axes, in the channels-last order.
  Value* reordered_constant(const Value& value, int rank) {
    const Constant& constant = *value.constant;
    std::vector<int64_t> extents(static_cast<size_t>(rank - constant.rank()), 1);
    extents.insert(extents.end(), constant.extents.begin(), constant.extents.end());
    const std::vector<int64_t> order = to_last(rank);
    std::vector<int64_t> strides(static_cast<size_t>(rank), 1);
    for (int axis = rank - 2; axis >= 0; --axis) {
      const auto at = static_cast<size_t>(axis);
      strides[at] = strides[at + 1] * extents[at + 1];
    }
    Constant result;
    result.type = constant.type;
    for (int64_t axis : order) result.extents.push_back(extents[static_cast<size_t>(axis)]);
    const auto element = static_cast<size_t>(element_bits(constant.type) / 8);
    std::vector<std::byte> bytes(constant.size);
    std::vector<int64_t> index(static_cast<size_t>(rank), 0);
    for (size_t at = 0; at + element <= bytes.size(); at += element) {
      int64_t source = 0;
      for (size_t axis = 0; axis < index.size(); ++axis) {
        source += index[axis] * strides[static_cast<size_t>(order[axis])];
      }
      std::copy_n(constant.data.get() + static_cast<size_t>(source) * element, element,
                  bytes.begin() + static_cast<std::ptrdiff_t>(at));
      for (size_t axis = index.size(); axis-- > 0;) {
        if (++index[axis] < result.extents[axis]) break;
        index[axis] = 0;
      }
    }
    Value* made = graph_.add_constant(
        graph_.unique_name(value.name + "_nhwc"),
        Constant::own(result.type, std::move(result.extents), std::move(bytes)));
    made->type = made->constant->type;
    return made;
  }

  Graph& graph_;
  Inference& inference_;
  std::unordered_map<Value*, Value*> twins_;
  std::vector<Value*> order_;
};

}  // namespace

void assign_layout(Graph& graph, Inference& inference) {
  LayoutPass(graph, inference).run();
}

}  // namespace intarsia::converter
