// SPDX-License-Identifier: Apache-2.0
#include "converter/graph/loop_trial.h"

#include <algorithm>

#include "converter/graph/strings.h"

namespace intarsia::converter {
namespace {

/// A trip costs at least this much of the trial's steps, so that loops of nothing end.
constexpr double kStepsOfTrip = 1000;

std::optional<Constant> collected(const std::vector<Constant>& elements) {
  const bool sequence = holds_elements(elements[0].type);
  std::vector<int64_t> extents{sequence ? 0 : static_cast<int64_t>(elements.size())};
  if (!sequence) {
    extents.insert(extents.end(), elements[0].extents.begin(), elements[0].extents.end());
  }
  std::vector<std::byte> bytes;
  std::string characters;
  for (const Constant& element : elements) {
    if (sequence) {
      extents[0] += element.extents[0];
    } else if (element.extents != elements[0].extents) {
      return std::nullopt;
    }
    const std::vector<std::byte> data = with_strings_in(element, characters);
    bytes.insert(bytes.end(), data.begin(), data.end());
  }
  return with_characters(elements[0].type, std::move(extents), std::move(bytes), characters);
}

/// A number in the form that the body declares: a scalar, or a list of one.
template <class T>
Constant number_for(const Value& value, T number) {
  const bool list = value.shape && value.shape->rank == 1;
  return Constant::of<T>(list ? std::vector<int64_t>{1} : std::vector<int64_t>(),
                         std::span<const T>(&number, 1));
}

}  // namespace

void LoopTrial::see(const Value* value) {
  const Constant* found = inference_.tried(value);
  if (found == nullptr) return;
  std::vector<int64_t>& largest = largest_[value];
  largest.resize(found->extents.size());
  for (size_t axis = 0; axis < largest.size(); ++axis) {
    largest[axis] = std::max(largest[axis], found->extents[axis]);
  }
}

bool LoopTrial::run(const Node& node) {
  for (const Value* output : node.outputs) {
    if (output != nullptr) output->trial.value.reset();
  }
  if (node.op->repeats()) return run(node, *node.graphs[0].graph);
  if (node.graphs.empty()) {
    const bool known =
        std::all_of(node.outputs.begin(), node.outputs.end(), [this](const Value* output) {
          return output == nullptr || inference_.tried(output) != nullptr;
        });
    return known || (node.op->infer != nullptr && inference_.try_node(node));
  }
  const Constant* condition = inference_.tried(node.input(0));
  if (condition == nullptr || condition->count() != 1) return false;
  if (!run(*node.graphs[condition->integer(0) != 0 ? 0 : 1].graph)) return false;
  inference_.join_trials(node);
  return true;
}

bool LoopTrial::run(const Graph& graph) {
  for (const auto& node : graph.nodes()) {
    if (!run(*node)) return false;
    for (const Value* output : node->outputs) {
      if (output != nullptr) see(output);
    }
  }
  return true;
}

bool LoopTrial::run_trip(const Graph& body, int64_t trip, const std::vector<Constant>& carried) {
  const std::vector<Value*>& inputs = body.inputs();
  inputs[0]->trial.value = number_for<int64_t>(*inputs[0], trip);
  inputs[1]->trial.value = number_for<bool>(*inputs[1], true);
  for (size_t i = 0; i < carried.size(); ++i) {
    inputs[2 + i]->trial.value = carried[i];
    see(inputs[2 + i]);
  }
  inference_.left_.steps -= kStepsOfTrip;
  return inference_.left_.steps > 0 && run(body);
}

bool LoopTrial::run(const Node& loop, const Graph& body) {
  const auto scalar = [&](int index, int64_t otherwise) -> std::optional<int64_t> {
    const Value* input = loop.input(index);
    if (input == nullptr) return otherwise;
    const Constant* found = inference_.tried(input);
    if (found == nullptr || found->count() != 1) return std::nullopt;
    return found->integer(0);
  };
  const std::optional<int64_t> trips = scalar(0, INT64_MAX), starts = scalar(1, 1);
  if (!trips || !starts) return false;
  std::vector<Constant> carried;
  for (size_t i = 2; i < loop.inputs.size(); ++i) {
    const Constant* initial = inference_.tried(loop.inputs[i]);
    if (initial == nullptr) return false;
    carried.push_back(*initial);
  }
  const size_t results = body.outputs().size() - 1;
  std::vector<std::vector<Constant>> elements(results);
  bool goes_on = *starts != 0;
  for (int64_t trip = 0; goes_on && trip < *trips; ++trip) {
    if (!run_trip(body, trip, carried)) return false;
    std::vector<const Constant*> found;
    for (const Value* result : body.outputs()) {
      found.push_back(inference_.tried(result));
      if (found.back() == nullptr) return false;
    }
    if (found[0]->count() != 1) return false;
    goes_on = found[0]->integer(0) != 0;
    for (size_t i = carried.size(); i < results; ++i) elements[i].push_back(*found[1 + i]);
    for (size_t i = 0; i < carried.size(); ++i) carried[i] = *found[1 + i];
  }
  for (size_t i = 0; i < results; ++i) {
    const Value* output = i < loop.outputs.size() ? loop.outputs[i] : nullptr;
    if (output == nullptr) continue;
    if (i < carried.size()) {
      output->trial.value = carried[i];
    } else if (!elements[i].empty()) {
      std::optional<Constant> all = collected(elements[i]);
      if (!all) return false;
      output->trial.value = std::move(*all);
    } else {
      const DataType type = type_of(*body.outputs()[1 + i]);
      const int rank = shape_of(*body.outputs()[1 + i]).rank + (holds_elements(type) ? 0 : 1);
      output->trial.value =
          Constant::own(type, std::vector<int64_t>(static_cast<size_t>(rank)), {});
    }
    see(output);
  }
  return true;
}

void LoopTrial::note(const Node& loop,
                     const std::unordered_map<const Value*, Value*>& copies) const {
  for (const Value* output : loop.outputs) {
    const auto found = largest_.find(output);
    if (found != largest_.end()) output->trial.largest = found->second;
  }
  for (const auto& [value, copy] : copies) {
    const auto found = largest_.find(copy);
    if (found != largest_.end()) value->trial.largest = found->second;
  }
}

}  // namespace intarsia::converter
