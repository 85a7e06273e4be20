// SPDX-License-Identifier: Apache-2.0
#include "converter/entries.h"

#include <fmt/format.h>

#include <fmt/ranges.h>
#include <algorithm>
#include <set>

#include "converter/graph/sequence.h"

namespace intarsia::converter {
namespace {

std::string names_of(const std::vector<EntryModel>& entries) {
  std::vector<std::string> names;
  for (const EntryModel& entry : entries) names.push_back(entry.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

Value* find(const std::vector<Value*>& values, const std::string& name) {
  const auto found = std::find_if(values.begin(), values.end(),
                                  [&name](const Value* value) { return value->name == name; });
  return found != values.end() ? *found : nullptr;
}

bool has_input(const Model& model, const std::string& name) {
  return find(model.graph->inputs(), name) != nullptr;
}
bool has_output(const Model& model, const std::string& name) {
  return find(model.graph->outputs(), name) != nullptr;
}
/// A symbol by its own name, or as INPUT@AXIS.
bool has_dim(const Model& model, const std::string& name) {
  const size_t at = name.rfind('@');
  return model.symbols->find(name) >= 0 ||
         (at != std::string::npos && has_input(model, name.substr(0, at)));
}
/// What does not show before inference.
bool may_have(const Model&, const std::string&) {
  return true;
}

class Distribution {
 public:
  Distribution(std::vector<EntryModel>& entries, const ConvertOptions& options)
      : entries_(entries), options_(options) {}

  template <class Map>
  void run(const char* option, Map ConvertOptions::*member,
           bool (*has)(const Model&, const std::string&)) {
    for (const auto& [text, value] : options_.*member) {
      std::string name = text;
      const EntryModel* only = take_entry(entries_, name);
      bool found = false;
      for (EntryModel& entry : entries_) {
        if (only != nullptr ? only != &entry : !has(entry.model, name)) continue;
        found = true;
        Map& own = entry.options.*member;
        // What is said of one entry point comes before what is said of all.
        if (only != nullptr) own.erase(name);
        own.try_emplace(name, value);
      }
      if (!found) refuse(fmt::format("{} {}", option, text));
    }
  }

  void run_gradients() {
    for (const auto& request : options_.gradients) {
      std::string output = request.output;
      const EntryModel* only = take_entry(entries_, output);
      bool found = false;
      for (EntryModel& entry : entries_) {
        if (only != nullptr && only != &entry) continue;
        if (!has_output(entry.model, output)) continue;
        found = true;
        auto& own = entry.options.gradients.emplace_back();
        own.output = output;
        for (std::string input : request.inputs) {
          if (input.starts_with(entry.name + ":")) input.erase(0, entry.name.size() + 1);
          own.inputs.push_back(std::move(input));
        }
      }
      if (!found) refuse("--gradient " + request.output);
    }
  }

 private:
  [[noreturn]] void refuse(const std::string& option) const {
    throw Error(
        fmt::format("{}: no entry point has it", option),
        fmt::format("the entry points are {}; ENTRY:NAME is of one of them", names_of(entries_)));
  }

  std::vector<EntryModel>& entries_;
  const ConvertOptions& options_;
};

void check_names(const std::vector<EntryModel>& entries) {
  std::set<std::string> taken;
  for (const EntryModel& entry : entries) {
    if (entry.name.empty() || entry.name.find_first_of(":=") != std::string::npos) {
      throw Error(fmt::format("'{}' names no entry point: the name is empty, or has a ':' or '='",
                              entry.name));
    }
    if (!taken.insert(entry.name).second) {
      throw Error(fmt::format("two entry points are called '{}'", entry.name),
                  "a model that is not given with --entry is called main");
    }
  }
}

/// An input or output of the entry points that have one of that name, in their order.
std::vector<Value*> find_ports(const std::vector<EntryModel>& entries, std::string name,
                               const std::string& option, bool input) {
  const EntryModel* only = take_entry(entries, name);
  std::vector<Value*> found;
  std::vector<std::string> others;
  for (const EntryModel& entry : entries) {
    if (only != nullptr && only != &entry) continue;
    const Graph& graph = *entry.model.graph;
    const std::vector<Value*>& ports = input ? graph.inputs() : graph.outputs();
    if (Value* value = find(ports, name); value != nullptr) found.push_back(value);
    for (const Value* port : ports) {
      others.push_back(entries.size() > 1 ? entry.name + ":" + port->name : port->name);
    }
  }
  if (found.empty()) {
    const std::string holder = only != nullptr      ? "entry point '" + only->name + "' has"
                               : entries.size() > 1 ? "the entry points have"
                                                    : "the model has";
    const char* what = input ? "input" : "output";
    throw Error(
        fmt::format("{}: {} no {} '{}'", option, holder, what, name),
        fmt::format("{} {}s are {}", only == nullptr && entries.size() > 1 ? "their" : "its", what,
                    fmt::join(others, ", ")));
  }
  return found;
}

void require_same(const Value& state, const Value& other, const char* what,
                  const std::string& option) {
  if (state.type == other.type && planned_extents(state) == planned_extents(other)) return;
  throw Error(fmt::format("{}: the {} is {} {}, the input {} {}; they must agree", option, what,
                          data_type_name(other.type), extents_text(planned_extents(other)),
                          data_type_name(state.type), extents_text(planned_extents(state))));
}

/// Adds `value` unless it is there already; false if another value of its graph is.
bool add_to(std::vector<Value*>& list, Value* value) {
  for (const Value* other : list) {
    if (other->graph == value->graph) return other == value;
  }
  list.push_back(value);
  return true;
}

/// What the input was an initialiser with, if it was one.
const Constant* initial_of(const std::vector<EntryModel>& entries, const Value* input) {
  for (const EntryModel& entry : entries) {
    if (const auto found = entry.initial.find(input); found != entry.initial.end()) {
      return &found->second;
    }
  }
  return nullptr;
}

void set_initial(State& state, const Constant* initial, const std::string& option) {
  if (initial == nullptr) return;
  if (state.initial && !std::equal(state.initial->bytes().begin(), state.initial->bytes().end(),
                                   initial->bytes().begin(), initial->bytes().end())) {
    throw Error(fmt::format("{}: '{}' begins with other values in another entry point", option,
                            state.inputs.front()->name),
                "entry points that share a state share what it is at open");
  }
  state.initial = *initial;
}

/// As the model has them, with no axis moved.
void require_plain_layout(const std::vector<EntryModel>& entries, const State& state) {
  for (const EntryModel& entry : entries) {
    for (const Value* input : state.inputs) {
      if (input->graph != entry.model.graph.get() ||
          entry.options.layouts.count(input->name) == 0) {
        continue;
      }
      throw Error(
          fmt::format("--layout {}: the state begins with values that the model has in "
                      "another layout",
                      input->name));
    }
  }
}

/// As one tensor, both have extents that vary, or both the same fixed ones.
bool vary_alike(const Value& a, const Value& b) {
  for (int axis = 0; axis < a.shape->rank; ++axis) {
    if (is_constant((*a.shape)[axis]) != is_constant((*b.shape)[axis])) return false;
  }
  return true;
}

/// The state of which `inputs` are, all of one name; it may be new.
State& state_of(std::vector<State>& states, const std::vector<Value*>& inputs,
                const std::vector<EntryModel>& entries, const std::string& option) {
  auto state = std::find_if(states.begin(), states.end(), [&inputs](const State& known) {
    return known.inputs.front()->name == inputs.front()->name;
  });
  if (state == states.end()) state = states.insert(states.end(), {{inputs.front()}, {}, {}});
  for (Value* input : inputs) {
    set_initial(*state, initial_of(entries, input), option);
    const Value& first = *state->inputs.front();
    require_same(first, *input, "state of that name in another entry point", option);
    if (!vary_alike(first, *input)) {
      throw Error(fmt::format("{}: extents of '{}' vary in one entry point and not in another",
                              option, input->name),
                  "fix or free them in both, with --dim or --shape");
    }
    static_cast<void>(add_to(state->inputs, input));
  }
  return *state;
}

}  // namespace

bool is_plain(const std::vector<EntryModel>& entries) {
  return entries.size() == 1 && entries[0].name == kMainEntry;
}

const EntryModel* take_entry(const std::vector<EntryModel>& entries, std::string& text) {
  if (is_plain(entries)) return nullptr;
  for (const EntryModel& entry : entries) {
    if (!text.starts_with(entry.name + ":")) continue;
    text.erase(0, entry.name.size() + 1);
    return &entry;
  }
  return nullptr;
}

void distribute_options(std::vector<EntryModel>& entries, const ConvertOptions& options) {
  check_names(entries);
  for (EntryModel& entry : entries) entry.options = options;
  if (is_plain(entries)) return;
  for (EntryModel& entry : entries) {
    entry.options.dims.clear();
    entry.options.shapes.clear();
    entry.options.fixed.clear();
    entry.options.values.clear();
    entry.options.bounds.clear();
    entry.options.max_trips.clear();
    entry.options.max_lengths.clear();
    entry.options.layouts.clear();
    entry.options.gradients.clear();
  }
  Distribution distribution(entries, options);
  distribution.run("--dim", &ConvertOptions::dims, has_dim);
  distribution.run("--shape", &ConvertOptions::shapes, has_input);
  distribution.run("--fix", &ConvertOptions::fixed, has_input);
  distribution.run("--value", &ConvertOptions::values, has_input);
  distribution.run("--bound", &ConvertOptions::bounds, may_have);
  distribution.run("--max-trips", &ConvertOptions::max_trips, may_have);
  distribution.run("--max-length", &ConvertOptions::max_lengths, has_input);
  distribution.run("--layout", &ConvertOptions::layouts, has_input);
  distribution.run_gradients();
}

Value* release(EntryModel& entry, Value* constant) {
  Value* state = entry.model.graph->add_input(constant->name);
  state->type = constant->constant->type;
  state->shape = shape_of(*constant);
  Graph::replace_uses(constant, state);
  entry.initial.emplace(state, std::move(*constant->constant));
  constant->constant.reset();
  return state;
}

void release_initialisers(std::vector<EntryModel>& entries, const ConvertOptions& options) {
  for (const auto& [output, input] : options.states) {
    std::string name = input;
    const EntryModel* only = take_entry(entries, name);
    for (EntryModel& entry : entries) {
      if (only != nullptr && only != &entry) continue;
      Graph& graph = *entry.model.graph;
      const auto found = std::find_if(
          graph.values().begin(), graph.values().end(),
          [&name](const auto& value) { return value->is_constant() && value->name == name; });
      if (found == graph.values().end() || has_input(entry.model, name)) continue;
      static_cast<void>(release(entry, found->get()));
    }
  }
}

std::vector<State> find_states(const std::vector<EntryModel>& entries,
                               const ConvertOptions& options) {
  std::vector<State> states;
  for (const auto& [output_name, input_name] : options.states) {
    const std::string option = fmt::format("--state {}={}", output_name, input_name);
    const std::vector<Value*> inputs = find_ports(entries, input_name, option, true);
    const std::vector<Value*> sources = find_ports(entries, output_name, option, false);
    if (may_hold_strings(*inputs.front())) {
      throw Error(fmt::format("{}: '{}' holds strings, which no run keeps for the next", option,
                              inputs.front()->name),
                  "give them to every run as an input");
    }
    State& state = state_of(states, inputs, entries, option);
    for (Value* source : sources) {
      require_same(*state.inputs.front(), *source, "output", option);
      if (add_to(state.sources, source)) continue;
      throw Error(fmt::format("{}: another output of the model becomes '{}' already", option,
                              state.inputs.front()->name));
    }
  }
  for (const EntryModel& entry : entries) {
    for (Value* weight : entry.trainable) {
      static_cast<void>(state_of(states, {weight}, entries, "--trainable " + weight->name));
    }
  }
  for (State& state : states) {
    std::vector<Value*> ordered;
    for (const EntryModel& entry : entries) {
      for (Value* input : state.inputs) {
        if (input->graph == entry.model.graph.get()) ordered.push_back(input);
      }
    }
    state.inputs = std::move(ordered);
    if (state.initial) require_plain_layout(entries, state);
  }
  return states;
}

}  // namespace intarsia::converter
