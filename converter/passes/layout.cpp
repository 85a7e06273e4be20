// SPDX-License-Identifier: Apache-2.0
#include "converter/passes/layout.h"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "converter/passes/axis_change.h"

namespace intarsia::converter {
namespace {

using definitions::AxisForm;

// Ranks of images that the fast kernels serve.
constexpr int kLeastImageRank = 3, kMostImageRank = 5;

definitions::Dim extent_of(const Value& value, int axis) {
  if (value.constant) return value.constant->extents[static_cast<size_t>(axis)];
  return (*value.shape)[axis];
}

/// True if the elements stand in the same order before and after.
bool keeps_order(const Value& value, const AxisOrder& order) {
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

/// What it costs to reorder a value: its planned number of elements, or nothing.
double reorder_cost(const Value& value) {
  const int rank = rank_of(value);
  if (rank < 3 || keeps_order(value, channels_last_order(rank))) return 0;
  double count = 1;
  for (int axis = 0; axis < rank; ++axis) {
    const auto upper = static_cast<double>(extent_of(value, axis).upper());
    count *= std::clamp(upper, 1.0, 1e9);
  }
  return count;
}

/// The extents of a value, the largest where some vary; of what has no bound, many.
std::vector<int64_t> largest_extents(const Value& value) {
  constexpr int64_t kMany = 1 << 20;
  std::vector<int64_t> extents;
  for (int axis = 0; axis < rank_of(value); ++axis) {
    extents.push_back(std::clamp<int64_t>(extent_of(value, axis).upper(), 0, kMany));
  }
  return extents;
}

/// What a node's kernels gain with the channels last, in elements moved; infinite if that is never
/// too dear.
double gain(const Node& node) {
  if (node.op == nullptr) return 0;
  const auto& facts = node.op->facts;
  const Value* x = node.input(0);
  const Value* weights = node.input(1);
  if (x == nullptr || !definitions::contains(facts.fast_channels_last, x->type) ||
      rank_of(*x) < kLeastImageRank || rank_of(*x) > kMostImageRank) {
    return 0;
  }
  if (facts.channels_last_gain == nullptr || weights == nullptr) {
    return std::numeric_limits<double>::infinity();
  }
  const std::vector<int64_t> of_data = largest_extents(*x), of_weights = largest_extents(*weights),
                             of_result = largest_extents(*node.outputs[0]);
  return facts.channels_last_gain({.attributes = node.attribute_bytes.data(),
                                   .data = of_data,
                                   .weights = of_weights,
                                   .result = of_result,
                                   .computed_weights = !weights->constant});
}

/// Nodes that get the channels last whatever it takes.
bool is_seed(const Node& node) {
  return gain(node) == std::numeric_limits<double>::infinity();
}

bool is_permutation(const Node& node) {
  return node.op != nullptr && node.op->facts.axes.form == AxisForm::kPermutation;
}

AxisOrder permutation_of(const Node& node) {
  AxisOrder order = node.op->facts.axes.attribute.get(node.attribute_bytes.data());
  if (!order.empty()) return order;
  for (int axis = rank_of(*node.inputs[0]); axis-- > 0;) order.push_back(axis);
  return order;
}

bool is_identity(const AxisOrder& order) {
  return std::is_sorted(order.begin(), order.end());
}

/// What a whole graph gains by each choice, from its end to its begin.
///
/// The channels-last twin of a value costs a reordering for a reader that needs the ONNX order, and
/// spares one for a reader that needs the twin; operators that serve both orders hand the choice
/// on. Costs are in elements moved. Only differences are kept, so that they stay within the size of
/// the value however often paths join.
class Profit {
 public:
  explicit Profit(const Graph& graph) {
    std::vector<const Node*> nodes;
    for (const auto& node : graph.nodes()) nodes.push_back(node.get());
    for (auto it = nodes.rbegin(); it != nodes.rend(); ++it) {
      see(**it);
      for (const Value* output : (*it)->outputs) {
        if (output != nullptr && has_other_readers(*output)) plain_.insert(output);
      }
    }
  }

  /// The change of a node that can follow its inputs; null if it cannot.
  const AxisChange* change(const Node& node) const {
    const auto found = changes_.find(&node);
    return found != changes_.end() ? &found->second : nullptr;
  }

  /// Cost of having only the twin of a value, less that of having only the value.
  double of(const Value& value) const {
    const double cost = reorder_cost(value);
    // With both at hand every reader takes what it likes best.
    double both = cost, twin_only = 0, plain_only = 0;
    for (const Use& use : value.uses) {
      const auto found = use.node != nullptr && use.node->graph == value.graph
                             ? readers_.find(use.node)
                             : readers_.end();
      if (found == readers_.end()) {
        twin_only = kImpossible;
      } else if (found->second == kSeed) {
        plain_only = kImpossible;
      } else {
        twin_only += found->second;
        both += std::min(found->second, 0.0);
      }
    }
    return std::min(twin_only, both) - std::min(plain_only, both);
  }

  /// True if something that cannot take the twin reads the value.
  bool needed_in_onnx_order(const Value& value) const { return plain_.count(&value) != 0; }

 private:
  static constexpr double kImpossible = 1e300;
  static constexpr double kSeed = -1e300;

  void see(const Node& node) {
    if (is_seed(node)) {
      readers_[&node] = kSeed;
      if (auto change = channels_last_change(node)) changes_[&node] = std::move(*change);
      return;
    }
    if (is_permutation(node)) {
      readers_[&node] = 0;  // reads either
      return;
    }
    std::optional<AxisChange> change = channels_last_change(node);
    if (!change) return;
    double cost = -gain(node);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] != nullptr && change->outputs[i] != AxisChange::kKept) {
        cost += of(*node.outputs[i]);
      }
    }
    const auto moved = std::count_if(change->inputs.begin(), change->inputs.end(),
                                     [](auto operand) { return operand != AxisChange::kKept; });
    if (moved == 0) return;
    readers_[&node] = cost / static_cast<double>(moved);
    changes_[&node] = std::move(*change);
  }

  bool has_other_readers(const Value& value) const {
    return std::any_of(value.uses.begin(), value.uses.end(), [&](const Use& use) {
      return use.node == nullptr || readers_.count(use.node) == 0;
    });
  }

  /// Readers that take a twin, with the difference that this makes beyond them.
  std::unordered_map<const Node*, double> readers_;
  std::unordered_map<const Node*, AxisChange> changes_;
  std::unordered_set<const Value*> plain_;
};

class LayoutPass {
 public:
  LayoutPass(Graph& graph, Inference& inference)
      : graph_(graph), inference_(inference), profit_(graph) {}

  void run() {
    for (Node* node : graph_.node_list()) {
      for (const SubGraph& sub : node->graphs) assign_layout(*sub.graph, inference_);
      if (node->op == nullptr) continue;
      if (is_permutation(*node)) {
        absorb_permutation(*node);
      } else if (const AxisChange* change = profit_.change(*node)) {
        if (is_seed(*node) || pays(*node, *change)) convert(*node, *change);
      }
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
  Value* reorder(Value* value, const AxisOrder& order, const std::string& name, Node* before) {
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

  /// What a permutation in front of `value` reads, with `order` made to say where its axes go; or
  /// the value itself.
  Value* before_permutation(Value* value, AxisOrder& order) const {
    const Node* producer = value->producer;
    if (producer == nullptr || producer->graph != &graph_ || !is_permutation(*producer)) {
      return value;
    }
    const AxisOrder first = permutation_of(*producer);
    for (int64_t& axis : order) axis = first[static_cast<size_t>(axis)];
    return producer->inputs[0];
  }

  /// The channels-last twin of a value, made by a Transpose if there is none yet.
  Value* need_twin(Value* value, Node* before) {
    if (Value* known = twin(value)) return known;
    AxisOrder order = channels_last_order(rank_of(*value));
    Value* source = before_permutation(value, order);
    Value* made =
        is_identity(order) ? source : reorder(source, order, value->name + "_nhwc", before);
    twins_[value] = made;
    made_.insert(value);
    return made;
  }

  /// Makes `node` compute channels-last: its output becomes a twin, and the value that it produced
  /// so far is made from the twin for whoever still needs it (see `restore`).
  void produce_twin(Node& node, size_t output) {
    Value* onnx = node.outputs[output];
    Value* made = graph_.add_value(graph_.unique_name(onnx->name + "_nhwc"));
    made->type = onnx->type;
    made->shape.emplace();
    for (int64_t axis : channels_last_order(rank_of(*onnx))) {
      made->shape->push((*onnx->shape)[static_cast<int>(axis)]);
    }
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
      Value* made =
          reorder(source, channels_first_order(rank_of(*source)), onnx->name + "_nchw", before);
      made->name = onnx->name;
      Graph::replace_uses(onnx, made);
    }
  }

  // -- Rules
  // ---------------------------------------------------------------------------------------

  /// True if twins spare more than those that would have to be made cost.
  bool pays(const Node& node, const AxisChange& change) const {
    bool any = false;
    double cost = -gain(node);
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const Value* input = node.inputs[i];
      if (input == nullptr || change.inputs[i] == AxisChange::kKept || input->constant) continue;
      const Value* other = twin(node.inputs[i]);
      if (other == nullptr) {
        cost += is_permuted_for(*input) ? 0 : reorder_cost(*input);
      } else {
        any = true;
        // A value that is at hand anyway costs nothing.
        const bool at_hand = made_.count(input) != 0 || profit_.needed_in_onnx_order(*input);
        if (!at_hand) cost -= reorder_cost(*input);
      }
    }
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      const Value* output = node.outputs[i];
      if (output == nullptr || change.outputs[i] == AxisChange::kKept) continue;
      cost += profit_.of(*output);
    }
    return any ? cost <= 0 : cost < 0;
  }

  /// True if a permutation makes the value for one reader: it can make the twin as well.
  bool is_permuted_for(const Value& value) const {
    return value.producer != nullptr && is_permutation(*value.producer) && value.uses.size() == 1;
  }

  void convert(Node& node, const AxisChange& change) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      Value* input = node.inputs[i];
      if (input == nullptr || change.inputs[i] == AxisChange::kKept) continue;
      node.set_input(static_cast<int>(i), input->constant ? reordered_constant(node, *input, change)
                                                          : need_twin(input, &node));
    }
    name_axes(node, change);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] == nullptr || change.outputs[i] == AxisChange::kKept) continue;
      produce_twin(node, i);
    }
  }

  /// A permutation reads the twin of its input if there is one, or what an earlier permutation
  /// reads, which may leave nothing to do. One that only puts the channels first has its input as a
  /// twin.
  void absorb_permutation(Node& node) {
    Value* x = node.inputs[0];
    AxisOrder permutation = permutation_of(node);
    Value* source = twin(x);
    if (source != nullptr) {
      const AxisOrder order = channels_last_order(rank_of(*x));
      for (int64_t& axis : permutation) {
        axis = std::find(order.begin(), order.end(), axis) - order.begin();
      }
    } else {
      source = before_permutation(x, permutation);
    }
    if (source != x) {
      node.set_input(0, source);
      node.op->facts.axes.attribute.set(node.attribute_bytes.data(), permutation);
    }
    if (is_identity(permutation)) {
      Graph::replace_uses(node.outputs[0], source);
    } else if (rank_of(*x) >= 3 && permutation == channels_first_order(rank_of(*x))) {
      twins_[node.outputs[0]] = source;
    }
  }

  Value* reordered_constant(const Node& node, const Value& value, const AxisChange& change) {
    const bool full = node.op->facts.element_wise;
    Constant constant = reordered(*value.constant, channels_last_order(change.rank),
                                  full ? change.rank : value.constant->rank());
    Value* made =
        graph_.add_constant(graph_.unique_name(value.name + "_nhwc"), std::move(constant));
    made->type = made->constant->type;
    return made;
  }

  Graph& graph_;
  Inference& inference_;
  const Profit profit_;
  std::unordered_map<Value*, Value*> twins_;
  /// Values whose twin was made from them.
  std::unordered_set<const Value*> made_;
  std::vector<Value*> order_;
};

}  // namespace

void assign_layout(Graph& graph, Inference& inference) {
  LayoutPass(graph, inference).run();
}

}  // namespace intarsia::converter
