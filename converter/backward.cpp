// SPDX-License-Identifier: Apache-2.0
#include "converter/backward.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "converter/graph/gradient_path.h"
#include "converter/graph/infer_rewriting.h"
#include "converter/passes/simplify.h"
#include "core/definitions/gradient.h"

namespace intarsia::converter {
namespace {

std::string text_of(const ConvertOptions::GradientRequest& request) {
  return fmt::format("--gradient {}={}", request.output, fmt::join(request.inputs, ","));
}

void require_real(const Value& value, const std::string& name, const std::string& option) {
  if (is_real(value)) return;
  throw Error(fmt::format("{}: '{}' has type {}, but only floating-point numbers have gradients",
                          option, name, data_type_name(type_of(value))));
}

/// A value of the main graph that has a gradient.
Value* find_real(const Graph& graph, const std::string& name, const std::string& option) {
  for (const auto& value : graph.values()) {
    if (value->name != name) continue;
    if (value->is_constant()) {
      throw Error(fmt::format("{}: '{}' is a constant", option, name),
                  fmt::format("let it be a state with --trainable {}", name));
    }
    require_real(*value, name, option);
    return value.get();
  }
  throw Error(fmt::format("{}: the model has no tensor '{}'", option, name),
              fmt::format("its inputs are {}", names_of(graph.inputs())));
}

size_t find_output(const std::vector<std::string>& names, const std::string& name,
                   const std::string& option) {
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<size_t>(found - names.begin());
  throw Error(fmt::format("{}: the model has no output '{}'", option, name),
              fmt::format("its outputs are {}", fmt::join(names, ", ")));
}

bool is_single(const Value& value) {
  const Shape<definitions::Dim> shape = shape_of(value);
  return std::all_of(shape.extents, shape.extents + shape.rank,
                     [](const definitions::Dim& extent) { return extent == definitions::Dim(1); });
}

/// Writes the nodes of one entry point.
class Requests {
 public:
  Requests(EntryModel& entry, Inference& inference, std::vector<std::string>& names)
      : entry_(entry), graph_(*entry.model.graph), inference_(inference), names_(names) {}

  void run() {
    // Inputs by which the same outputs are differentiated take one walk through the graph.
    std::map<Value*, std::vector<size_t>> outputs_of;
    std::vector<Value*> order;
    const auto ask = [&](Value* x, size_t output) {
      std::vector<size_t>& outputs = outputs_of[x];
      if (outputs.empty()) order.push_back(x);
      if (std::find(outputs.begin(), outputs.end(), output) == outputs.end()) {
        outputs.push_back(output);
      }
    };
    for (const auto& request : entry_.options.gradients) {
      const std::string option = text_of(request);
      const size_t output = find_output(names_, request.output, option);
      require_real(*graph_.outputs()[output], request.output, option);
      for (const std::string& name : request.inputs) ask(find_real(graph_, name, option), output);
      for (Value* trainable : entry_.trainable) ask(trainable, output);
      if (!request.inputs.empty() || !entry_.trainable.empty()) continue;
      throw Error(option + ": there is nothing to differentiate by",
                  "name inputs behind '=', or initialisers with --trainable");
    }
    std::map<std::vector<size_t>, std::vector<Value*>> groups;
    for (Value* x : order) groups[outputs_of[x]].push_back(x);
    std::map<const Value*, Value*> gradients;
    for (const auto& [outputs, xs] : groups) differentiate(outputs, xs, gradients);
    for (Value* x : order) {
      Value* gradient = gradients.at(x);
      graph_.add_output(gradient);
      names_.push_back(x->name + kGradientSuffix);
    }
  }

 private:
  /// The sum of the elements of an output, each weighted by what the caller gives for it.
  Value* weighted(size_t output, const Rewriting& rewriting) {
    Value* y = graph_.outputs()[output];
    if (!is_single(*y)) {
      Value*& weight = weights_[output];
      if (weight == nullptr) {
        weight = graph_.add_input(names_[output] + kGradientSuffix);
        weight->type = type_of(*y);
        weight->shape = shape_of(*y);
        entry_.backward->seeds.push_back({output, weight});
      }
      y = rewriting.compute("Mul", {y, weight});
    }
    return rewriting.compute("ReduceSum", {y}, {{"keepdims", int64_t{0}}});
  }

  void differentiate(const std::vector<size_t>& outputs, const std::vector<Value*>& xs,
                     std::map<const Value*, Value*>& gradients) {
    Node* node = graph_.add_node(definitions::kTrainingDomain, "Gradient",
                                 graph_.unique_name("gradient"), {}, static_cast<int>(xs.size()));
    const Rewriting rewriting(inference_, *node);
    Value* y = nullptr;
    for (const size_t output : outputs) {
      Value* part = weighted(output, rewriting);
      if (y != nullptr && type_of(*y) != type_of(*part)) {
        part = rewriting.compute("Cast", {part}, {{"to", static_cast<int64_t>(type_of(*y))}});
      }
      y = y == nullptr ? part : rewriting.compute("Add", {y, part});
    }
    std::vector<std::string> names;
    int index = 0;
    for (int copies = 0; copies < 2; ++copies) {  // where it is taken, and by what
      for (Value* x : xs) node->set_input(index++, x);
    }
    for (const Value* x : xs) names.push_back(x->name);
    node->set_input(index, y);
    node->attributes = {{"xs", names}, {"y", y->name}};
    const std::string error =
        node->resolve_as(*definitions::OperatorRegistry::builtin().find(node->domain, node->type));
    if (!error.empty()) throw Error(node->problem(error));
    rewriting.infer(*node);
    for (size_t i = 0; i < xs.size(); ++i) gradients[xs[i]] = node->outputs[i];
  }

  EntryModel& entry_;
  Graph& graph_;
  Inference& inference_;
  std::vector<std::string>& names_;  // of the outputs
  std::map<size_t, Value*> weights_;
};

/// The nodes that only the outputs from `count` on need, in their order.
std::vector<Node*> nodes_behind(const Graph& graph, size_t count) {
  const auto needed_by = [&graph](size_t first, size_t last) {
    std::set<const Node*> needed;
    std::vector<const Value*> pending(graph.outputs().begin() + static_cast<std::ptrdiff_t>(first),
                                      graph.outputs().begin() + static_cast<std::ptrdiff_t>(last));
    while (!pending.empty()) {
      const Value* value = pending.back();
      pending.pop_back();
      if (value->graph != &graph || value->producer == nullptr) continue;
      if (!needed.insert(value->producer).second) continue;
      for_each_needed(*value->producer, [&](const Value* each) { pending.push_back(each); });
    }
    return needed;
  };
  const std::set<const Node*> before = needed_by(0, count);
  const std::set<const Node*> behind = needed_by(count, graph.outputs().size());
  std::vector<Node*> nodes;
  for (Node* node : graph.node_list()) {
    if (behind.contains(node) && !before.contains(node)) nodes.push_back(node);
  }
  return nodes;
}

EntryModel cut(EntryModel& entry, std::string name) {
  Graph& graph = *entry.model.graph;
  const Backward& backward = *entry.backward;
  EntryModel rest{std::move(name), {}, entry.options};
  rest.model.symbols = entry.model.symbols;
  rest.model.continued = entry.model.graph;
  rest.model.operators = entry.model.operators;
  rest.model.graph =
      graph.cut(nodes_behind(graph, backward.outputs), backward.inputs, backward.outputs);
  materialize_outputs(*rest.model.graph);
  return rest;
}

}  // namespace

void release_trainable(std::vector<EntryModel>& entries, const ConvertOptions& options) {
  for (const std::string& text : options.trainable) {
    const std::string option = "--trainable " + text;
    std::string name = text;
    const EntryModel* only = take_entry(entries, name);
    const bool all = name.ends_with('*');
    const std::string_view begin(name.data(), name.size() - (all ? 1 : 0));
    bool found = false;
    for (EntryModel& entry : entries) {
      if (only != nullptr && only != &entry) continue;
      std::vector<Value*> chosen;
      const auto is_named = [&](const Value& value) {
        return all ? value.name.starts_with(begin) && is_real(value) : value.name == name;
      };
      for (const auto& value : entry.model.graph->values()) {
        if (value->is_constant() && is_named(*value)) chosen.push_back(value.get());
      }
      // Named twice, as by "fc*" and "fc.weight".
      found = found || std::any_of(entry.trainable.begin(), entry.trainable.end(),
                                   [&](const Value* known) { return is_named(*known); });
      for (Value* constant : chosen) {
        if (!is_real(*constant)) {
          throw Error(
              fmt::format("{}: the initialiser has type {}, but only floating-point numbers have "
                          "gradients",
                          option, data_type_name(type_of(*constant))));
        }
        entry.trainable.push_back(release(entry, constant));
        found = true;
      }
    }
    if (found) continue;
    throw Error(fmt::format("{}: the model has no such initialiser", option),
                all ? "the '*' stands for the end of a name, of floating-point initialisers only"
                    : "a name is that of an initialiser, or of a Constant node's output");
  }
}

void add_gradients(EntryModel& entry, Inference& inference,
                   std::vector<std::string>& output_names) {
  if (entry.options.gradients.empty()) return;
  const Graph& graph = *entry.model.graph;
  entry.backward = Backward{graph.inputs().size(), graph.outputs().size(), {}};
  Requests(entry, inference, output_names).run();
}

void cut_backward(std::vector<EntryModel>& entries) {
  const auto with_gradients =
      std::count_if(entries.begin(), entries.end(),
                    [](const EntryModel& entry) { return entry.backward.has_value(); });
  if (with_gradients != 0 && is_plain(entries)) entries.front().name = kForwardEntry;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (!entries[i].backward) continue;
    std::string name = with_gradients > 1 ? entries[i].name + "_backward" : "backward";
    const bool taken = std::any_of(entries.begin(), entries.end(),
                                   [&name](const EntryModel& each) { return each.name == name; });
    if (taken) {
      throw Error(fmt::format("an entry point is called '{}', as the one that computes the "
                              "gradients of '{}' has to be",
                              name, entries[i].name),
                  "give it another name with --entry");
    }
    EntryModel rest = cut(entries[i], std::move(name));
    entries.insert(entries.begin() + static_cast<std::ptrdiff_t>(++i), std::move(rest));
  }
}

std::unordered_map<const Value*, const Value*> seed_extents(
    const std::vector<EntryModel>& entries) {
  std::unordered_map<const Value*, const Value*> result;
  for (const EntryModel& entry : entries) {
    if (!entry.backward) continue;
    for (const auto& [output, weight] : entry.backward->seeds) {
      if (varies(*weight)) result.emplace(weight, entry.model.graph->outputs()[output]);
    }
  }
  return result;
}

void keep_states(const std::vector<EntryModel>& entries, const std::vector<State>& states) {
  for (const EntryModel& entry : entries) {
    Graph* before = entry.model.continued.get();
    if (before == nullptr) continue;
    const auto is_of = [before](const Value* value) { return value->graph == before; };
    for (const State& state : states) {
      const auto input = std::find_if(state.inputs.begin(), state.inputs.end(), is_of);
      if (input == state.inputs.end()) continue;
      if (std::none_of(state.sources.begin(), state.sources.end(), is_of)) continue;
      const auto reads = [&entry](const Use& use) {
        const Graph* user = use.node != nullptr ? use.node->graph : use.graph;
        return &user->root() == entry.model.graph.get();
      };
      if (std::none_of((*input)->uses.begin(), (*input)->uses.end(), reads)) continue;
      Graph::replace_uses_if(*input, before->add_copy(*input), reads);
    }
  }
}

}  // namespace intarsia::converter
