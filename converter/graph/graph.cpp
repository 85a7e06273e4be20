// SPDX-License-Identifier: Apache-2.0
#include "converter/graph/graph.h"

#include <algorithm>
#include <utility>

namespace intarsia::converter {
Node* only_reader(const Value* value) {
  if (value == nullptr || value->uses.size() != 1 || value->uses[0].node == nullptr) return nullptr;
  Node* reader = value->uses[0].node;
  return reader->graph == value->graph ? reader : nullptr;
}

void for_each_needed(const Node& node, const std::function<void(const Value*)>& visit) {
  for (const Value* value : node.inputs) {
    if (value != nullptr) visit(value);
  }
  for (const SubGraph& sub : node.graphs) {
    for (const auto& inner : sub.graph->nodes()) for_each_needed(*inner, visit);
    for (const Value* value : sub.graph->outputs()) visit(value);
  }
}

Graph::Graph(Graph* parent, std::string name) : name_(std::move(name)), parent_(parent) {}

Graph::~Graph() {
  // Only what other graphs own must learn that the uses end; own values go away with the graph.
  for (auto node = nodes_.rbegin(); node != nodes_.rend(); ++node) {
    (*node)->graphs.clear();
    for (size_t i = (*node)->inputs.size(); i-- > 0;) {
      Value* value = (*node)->inputs[i];
      if (value != nullptr && value->graph != this) {
        value->remove_use({node->get(), nullptr, static_cast<int>(i)});
      }
    }
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i] != nullptr && outputs_[i]->graph != this) {
      outputs_[i]->remove_use({nullptr, this, static_cast<int>(i)});
    }
  }
}

Graph& Graph::root() {
  Graph* graph = this;
  while (graph->parent_ != nullptr) graph = graph->parent_;
  return *graph;
}

std::vector<Node*> Graph::node_list() const {
  std::vector<Node*> list;
  list.reserve(nodes_.size());
  for (const auto& node : nodes_) list.push_back(node.get());
  return list;
}

std::string Graph::unique_name(std::string_view wanted) {
  auto& taken = root().taken_names_;
  std::string name(wanted);
  int* counter = &taken[name];
  if (*counter == 0) {
    *counter = 1;
    return name;
  }
  do {
    name = std::string(wanted) + "_" + std::to_string((*counter)++);
  } while (taken.contains(name));
  taken[name] = 1;
  return name;
}

Value* Graph::add_value(std::string value_name) {
  root().taken_names_.try_emplace(value_name, 1);
  const auto self = values_.insert(values_.end(), std::make_unique<Value>());
  Value* value = self->get();
  value->self = self;
  value->name = std::move(value_name);
  value->graph = this;
  return value;
}

Value* Graph::add_constant(std::string value_name, Constant constant) {
  Value* value = add_value(std::move(value_name));
  value->type = constant.type;
  value->constant = std::move(constant);
  return value;
}

Value* Graph::add_input(std::string value_name) {
  Value* value = add_value(std::move(value_name));
  value->is_input = true;
  inputs_.push_back(value);
  return value;
}

void Graph::remove_input(Value* value) {
  std::erase(inputs_, value);
  value->is_input = false;
}

void Graph::add_output(Value* value) {
  outputs_.push_back(value);
  value->add_use({nullptr, this, static_cast<int>(outputs_.size()) - 1});
}

void Graph::set_output(int index, Value* value) {
  Value*& place = outputs_[static_cast<size_t>(index)];
  place->remove_use({nullptr, this, index});
  place = value;
  value->add_use({nullptr, this, index});
}

Node* Graph::add_node_for(std::string_view domain, std::string_view type, std::string node_name,
                          std::span<Value* const> inputs, std::span<Value* const> outputs,
                          Node* before, const Node* like) {
  const auto place = before == nullptr ? nodes_.end() : before->self;
  const auto self = nodes_.insert(place, std::make_unique<Node>());
  Node* node = self->get();
  node->self = self;
  node->graph = this;
  node->domain = domain;
  node->type = type;
  node->name = unique_name(node_name);
  node->version = like == nullptr ? kNewestOpset : like->version;
  for (size_t i = 0; i < inputs.size(); ++i) node->set_input(static_cast<int>(i), inputs[i]);
  node->outputs.assign(outputs.begin(), outputs.end());
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i] == nullptr) continue;
    outputs[i]->producer = node;
    outputs[i]->output = static_cast<int>(i);
  }
  return node;
}

Node* Graph::add_node(std::string_view domain, std::string_view type, std::string node_name,
                      std::span<Value* const> inputs, int output_count, Node* before,
                      const Node* like) {
  std::vector<Value*> outputs;
  for (int i = 0; i < output_count; ++i) {
    outputs.push_back(add_value(unique_name(node_name + "_out")));
  }
  return add_node_for(domain, type, std::move(node_name), inputs, outputs, before, like);
}

Graph* Graph::adopt(Node* node, std::string attribute, std::unique_ptr<Graph> graph) {
  graph->parent_ = this;
  graph->owner_ = node;
  node->graphs.push_back({std::move(attribute), std::move(graph)});
  return node->graphs.back().graph.get();
}

void Graph::remove(Node* node) {
  node->truncate_inputs(0);
  node->graphs.clear();
  for (Value* value : node->outputs) {
    if (value == nullptr) continue;
    value->producer = nullptr;
    if (value->uses.empty() && !value->is_input) values_.erase(value->self);
  }
  nodes_.erase(node->self);
}

void Graph::move_before(Node* node, Node* before) {
  nodes_.splice(before == nullptr ? nodes_.end() : before->self, nodes_, node->self);
}

Value* Graph::add_copy(Value* value) {
  Value* const inputs[] = {value};
  Node* copy = add_node("", "Identity", unique_name(value->name + "_copy"), inputs, 1);
  copy->op = definitions::OperatorRegistry::builtin().find("", "Identity");
  Value* result = copy->outputs[0];
  result->type = type_of(*value);
  result->shape = shape_of(*value);
  return result;
}

void Graph::replace_uses_if(Value* value, Value* replacement,
                            const std::function<bool(const Use&)>& filter) {
  if (value == replacement) return;
  const std::vector<Use> uses = std::move(value->uses);
  value->uses.clear();
  for (const Use& use : uses) {
    Value* target = filter(use) ? replacement : value;
    target->add_use(use);
    auto& list = use.node != nullptr ? use.node->inputs : use.graph->outputs_;
    list[static_cast<size_t>(use.index)] = target;
  }
}

void Graph::replace_uses(Value* value, Value* replacement) {
  replace_uses_if(value, replacement, [](const Use&) { return true; });
}

void Graph::sort() {
  enum class Mark : uint8_t { kNew, kOpen, kDone };
  struct Frame {
    Node* node;
    std::vector<Node*> needed;
  };
  std::unordered_map<const Node*, Mark> marks;
  const auto needed_by = [this](const Node& node) {
    std::vector<Node*> needed;
    for_each_needed(node, [&](const Value* value) {
      if (value->graph == this && value->producer != nullptr) needed.push_back(value->producer);
    });
    std::reverse(needed.begin(), needed.end());  // taken from the back
    return needed;
  };
  std::vector<Node*> order;
  std::vector<Frame> stack;  // explicit: a chain of a million nodes must not exhaust the call stack
  for (const auto& first : nodes_) {
    if (marks[first.get()] != Mark::kNew) continue;
    marks[first.get()] = Mark::kOpen;
    stack.push_back({first.get(), needed_by(*first)});
    while (!stack.empty()) {
      Frame& frame = stack.back();
      if (frame.needed.empty()) {
        marks[frame.node] = Mark::kDone;
        order.push_back(frame.node);
        stack.pop_back();
        continue;
      }
      Node* next = frame.needed.back();
      frame.needed.pop_back();
      Mark& mark = marks[next];
      if (mark == Mark::kOpen) {
        throw Error(next->problem("depends on its own output: the graph has a cycle",
                                  "the model is invalid; export it again"));
      }
      if (mark == Mark::kDone) continue;
      mark = Mark::kOpen;
      stack.push_back({next, needed_by(*next)});
    }
  }
  for (Node* node : order) {
    nodes_.splice(nodes_.end(), nodes_, node->self);
    for (const SubGraph& sub : node->graphs) sub.graph->sort();
  }
}

std::vector<Value*> Graph::splice(std::unique_ptr<Graph> graph, std::span<Value* const> arguments,
                                  Node* before) {
  for (size_t i = 0; i < graph->inputs_.size(); ++i) {
    graph->inputs_[i]->is_input = false;
    if (i < arguments.size() && arguments[i] != nullptr) {
      replace_uses(graph->inputs_[i], arguments[i]);
    }
  }
  graph->inputs_.clear();
  std::vector<Value*> results = std::move(graph->outputs_);
  graph->outputs_.clear();
  for (size_t i = 0; i < results.size(); ++i) {
    results[i]->remove_use({nullptr, graph.get(), static_cast<int>(i)});
  }
  for (const auto& node : graph->nodes_) {
    node->graph = this;
    for (const SubGraph& sub : node->graphs) sub.graph->parent_ = this;
  }
  nodes_.splice(before == nullptr ? nodes_.end() : before->self, graph->nodes_);
  for (const auto& value : graph->values_) value->graph = this;
  values_.splice(values_.end(), graph->values_);
  return results;
}

std::unique_ptr<Graph> Graph::cut(std::span<Node* const> nodes, size_t input_count,
                                  size_t output_count) {
  auto rest = std::make_unique<Graph>(nullptr, name_);
  rest->taken_names_ = taken_names_;
  const auto take = [&](Value* value) {
    value->graph = rest.get();
    rest->values_.splice(rest->values_.end(), values_, value->self);
  };
  for (Node* node : nodes) {
    node->graph = rest.get();
    for (const SubGraph& sub : node->graphs) sub.graph->parent_ = rest.get();
    rest->nodes_.splice(rest->nodes_.end(), nodes_, node->self);
    for (Value* output : node->outputs) {
      if (output != nullptr) take(output);
    }
  }
  for (size_t i = input_count; i < inputs_.size(); ++i) {
    take(inputs_[i]);
    rest->inputs_.push_back(inputs_[i]);
  }
  inputs_.resize(input_count);
  const std::vector<Value*> outputs(outputs_.begin() + static_cast<ptrdiff_t>(output_count),
                                    outputs_.end());
  while (outputs_.size() > output_count) {
    outputs_.back()->remove_use({nullptr, this, static_cast<int>(outputs_.size()) - 1});
    outputs_.pop_back();
    use_places_.pop_back();
  }
  for (Value* output : outputs) rest->add_output(output);
  return rest;
}

std::unique_ptr<Graph> Graph::clone(Graph* parent,
                                    std::unordered_map<const Value*, Value*>& map) const {
  auto copy = std::make_unique<Graph>(parent, name_);
  copy->owner_ = owner_;
  for (const auto& value : values_) {
    Value* fresh = copy->add_value(value->name);
    fresh->type = value->type;
    fresh->shape = value->shape;
    fresh->sequence = value->sequence;
    fresh->constant = value->constant;
    fresh->elements = value->elements;
    fresh->known = value->known;
    fresh->declared = value->declared;
    map[value.get()] = fresh;
  }
  const auto mapped = [&map](Value* value) {
    const auto found = map.find(value);
    return found == map.end() ? value : found->second;
  };
  for (const Value* input : inputs_) {
    Value* fresh = map[input];
    fresh->is_input = true;
    copy->inputs_.push_back(fresh);
  }
  for (const auto& node : nodes_) {
    std::vector<Value*> inputs;
    std::vector<Value*> outputs;
    for (Value* value : node->inputs) inputs.push_back(mapped(value));
    for (Value* value : node->outputs) outputs.push_back(mapped(value));
    Node* fresh = copy->add_node_for(node->domain, node->type, node->name, inputs, outputs, nullptr,
                                     node.get());
    fresh->op = node->op;
    fresh->name = node->name;
    fresh->attributes = node->attributes;
    fresh->tensors = node->tensors;
    fresh->attribute_bytes = node->attribute_bytes;
    for (const SubGraph& sub : node->graphs) {
      copy->adopt(fresh, sub.attribute, sub.graph->clone(copy.get(), map));
    }
  }
  for (Value* output : outputs_) copy->add_output(mapped(output));
  return copy;
}

void Graph::sweep() {
  for (const auto& node : nodes_) {
    for (const SubGraph& sub : node->graphs) sub.graph->sweep();
  }
  std::erase_if(values_, [](const std::unique_ptr<Value>& value) {
    return value->producer == nullptr && value->uses.empty() && !value->is_input;
  });
}

void Graph::walk(const std::function<void(Node&)>& visit) {
  for (const auto& node : nodes_) {
    visit(*node);
    for (const SubGraph& sub : node->graphs) sub.graph->walk(visit);
  }
}

void Graph::walk(const std::function<void(const Node&)>& visit) const {
  for (const auto& node : nodes_) {
    visit(*node);
    for (const SubGraph& sub : node->graphs) std::as_const(*sub.graph).walk(visit);
  }
}

void for_each_value(Graph& graph, const std::function<void(Value&)>& visit) {
  for (const auto& value : graph.values()) visit(*value);
  for (const auto& node : graph.nodes()) {
    for (const SubGraph& sub : node->graphs) for_each_value(*sub.graph, visit);
  }
}

std::string shape_text(const Shape<definitions::Dim>& shape) {
  std::string text = "[";
  for (int axis = 0; axis < shape.rank; ++axis) {
    text += (axis == 0 ? "" : ",") + shape[axis].to_string();
  }
  return text + "]";
}

Shape<definitions::Dim> shape_of(const Value& value) {
  if (!value.constant) return *value.shape;
  Shape<definitions::Dim> shape;
  for (int64_t extent : value.constant->extents) shape.push(extent);
  return shape;
}

DataType type_of(const Value& value) {
  return value.constant ? value.constant->type : value.type;
}

std::string names_of(std::span<Value* const> values) {
  std::string text;
  for (const Value* value : values) text += (text.empty() ? "" : ", ") + value->name;
  return text;
}

bool varies(const Value& value) {
  if (value.constant) return false;
  for (int axis = 0; axis < value.shape->rank; ++axis) {
    if (!is_constant((*value.shape)[axis])) return true;
  }
  return false;
}

}  // namespace intarsia::converter
