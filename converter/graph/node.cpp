// SPDX-License-Identifier: Apache-2.0
//
// Values and nodes: uses kept in step, operands, attributes.
#include <utility>

#include "converter/graph/graph.h"

namespace intarsia::converter {
namespace {

template <class T>
const T& attribute_as(const Node& node, std::string_view name, const char* kind,
                      const definitions::AttributeValue& value) {
  const T* found = std::get_if<T>(&value);
  if (found == nullptr) {
    throw Error(node.problem("attribute '" + std::string(name) + "' is not " + kind,
                             "the model is invalid; export it again"));
  }
  return *found;
}

}  // namespace

size_t& use_place(const Use& use) {
  auto& places = use.node != nullptr ? use.node->use_places : use.graph->use_places_;
  const auto index = static_cast<size_t>(use.index);
  if (index >= places.size()) places.resize(index + 1);
  return places[index];
}

void Value::add_use(const Use& use) {
  use_place(use) = uses.size();
  uses.push_back(use);
}

void Value::remove_use(const Use& use) {
  const size_t place = use_place(use);
  uses[place] = uses.back();
  use_place(uses[place]) = place;
  uses.pop_back();
}

void Node::set_input(int index, Value* value) {
  const auto place = static_cast<size_t>(index);
  if (place >= inputs.size()) inputs.resize(place + 1, nullptr);
  if (inputs[place] != nullptr) inputs[place]->remove_use({this, nullptr, index});
  inputs[place] = value;
  if (value != nullptr) value->add_use({this, nullptr, index});
}

void Node::truncate_inputs(int count) {
  for (int index = static_cast<int>(inputs.size()) - 1; index >= count; --index) {
    set_input(index, nullptr);
    inputs.pop_back();
  }
}

void Node::complete_output(int index) {
  const auto place = static_cast<size_t>(index);
  if (place >= outputs.size()) outputs.resize(place + 1, nullptr);
  if (outputs[place] != nullptr) return;
  outputs[place] = graph->add_value(graph->unique_name(name + "_unused"));
  outputs[place]->producer = this;
  outputs[place]->output = index;
}

void Node::trim() {
  while (!inputs.empty() && inputs.back() == nullptr) inputs.pop_back();
  while (!outputs.empty() && outputs.back() == nullptr) outputs.pop_back();
}

std::string Node::resolve_as(const definitions::OperatorDefinition& definition) {
  op = &definition;
  attribute_bytes.clear();
  definitions::AttributeMap all = attributes;
  for (const auto& [attribute_name, tensor] : tensors) {
    all[attribute_name] = definitions::TensorValue{tensor.type, tensor.extents, tensor.data,
                                                   tensor.size, tensor.characters};
  }
  return definition.attributes.read(all, attribute_bytes);
}

Problem Node::problem(std::string message, std::string hint) const {
  return {name, qualified_type(), std::move(message), std::move(hint)};
}

const definitions::AttributeValue* Node::attribute(std::string_view attribute_name) const {
  const auto found = attributes.find(attribute_name);
  return found == attributes.end() ? nullptr : &found->second;
}

int64_t Node::integer(std::string_view attribute_name, int64_t fallback) const {
  const auto* value = attribute(attribute_name);
  return value == nullptr ? fallback
                          : attribute_as<int64_t>(*this, attribute_name, "an integer", *value);
}

float Node::real(std::string_view attribute_name, float fallback) const {
  const auto* value = attribute(attribute_name);
  return value == nullptr ? fallback
                          : attribute_as<float>(*this, attribute_name, "a float", *value);
}

std::string Node::text(std::string_view attribute_name, std::string_view fallback) const {
  const auto* value = attribute(attribute_name);
  return value == nullptr ? std::string(fallback)
                          : attribute_as<std::string>(*this, attribute_name, "a string", *value);
}

std::vector<int64_t> Node::integers(std::string_view attribute_name) const {
  const auto* value = attribute(attribute_name);
  if (value == nullptr) return {};
  return attribute_as<std::vector<int64_t>>(*this, attribute_name, "a list of integers", *value);
}

std::vector<float> Node::reals(std::string_view attribute_name) const {
  const auto* value = attribute(attribute_name);
  if (value == nullptr) return {};
  return attribute_as<std::vector<float>>(*this, attribute_name, "a list of floats", *value);
}

}  // namespace intarsia::converter
