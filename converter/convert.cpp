// SPDX-License-Identifier: Apache-2.0
#include "converter/convert.h"

#include <fmt/format.h>

#include <fmt/ranges.h>
#include <algorithm>

#include "converter/backward.h"
#include "converter/entries.h"
#include "converter/graph/gradient.h"
#include "converter/graph/infer.h"
#include "converter/graph/order.h"
#include "converter/graph/random_streams.h"
#include "converter/graph/undecided.h"
#include "converter/lower/lower.h"
#include "converter/lower/target.h"
#include "converter/memory/storage.h"
#include "converter/onnx/import.h"
#include "converter/onnx/inputs.h"
#include "converter/onnx/version_conversion.h"
#include "converter/passes/placement.h"
#include "converter/passes/simplify.h"
#include "core/definitions/value_propagation.h"

namespace intarsia::converter {
namespace {

KernelChoice choice_of(const ConvertOptions& options, Preference preference) {
  const Target* target = find_target(options.target);
  if (target == nullptr) {
    std::vector<std::string_view> names;
    for (const Target& known : targets()) names.push_back(known.name);
    throw Error(fmt::format("--target {}: no such target", options.target),
                fmt::format("the targets are {}", fmt::join(names, ", ")));
  }
  return {preference, options.plan_growth.value_or(target->plan_growth), KernelDevice::kHost,
          target->kernels};
}

PortSummary summary_of(const Value& value) {
  PortSummary port{value.name, value.type, planned_extents(value), {}};
  for (int axis = 0; axis < value.shape->rank; ++axis) {
    const definitions::Dim& extent = (*value.shape)[axis];
    port.symbols.push_back(is_constant(extent) ? "" : extent.to_string());
  }
  return port;
}

using Values = std::map<std::string, Constant>;

/// How much of the whole is done at the ends of the stages: about, for models of many weights.
constexpr double kRead = 0.15, kInferred = 0.25, kOptimised = 0.85, kLowered = 0.9, kPlaced = 0.97;

/// From `begin` to `end`, entry point by entry point.
double share(double begin, double end, size_t done, size_t all) {
  return begin + (end - begin) * static_cast<double>(done) / static_cast<double>(all);
}

/// What passes have decided about all entry points.
struct Prepared {
  PlanChoices choices;
  Placement placement;
  bool on_device = false;
  size_t entries = 0;  ///< That are done.
};

/// Applies the passes to one model.
void prepare(EntryModel& entry, bool probe, size_t entries, Progress& progress,
             Prepared& prepared) {
  // Each entry point has its part of both stages' time.
  const auto until = [&](double end) {
    const double first = share(kRead, kOptimised, prepared.entries, entries);
    return first + (end - kRead) / static_cast<double>(entries);
  };
  progress.begin("inferring", until(kInferred));
  Model& model = entry.model;
  const ConvertOptions& options = entry.options;
  const OperatorLibrary& library = options.operators();
  const definitions::KernelRows& rows = library.rows();
  model.operators = &library.operators();
  model.own_operators = options.own_operators;
  Graph& graph = *model.graph;

  convert_versions(model);
  resolve(model);
  assign_streams(graph, options.seed);
  apply_input_options(model, options);
  apply_layouts(model, options);

  Inference inference(model, rows,
                      {declared_bounds(model, options), probe ? options.probe : Values{},
                       options.max_trips, library.services(), options.limits.folding, &progress});
  std::vector<std::string> output_names;
  for (const Value* output : graph.outputs()) output_names.push_back(output->name);
  inference.run();
  add_gradients(entry, inference, output_names);
  expand_gradients(graph, inference);
  PlanChoices& choices = prepared.choices;
  choices.storage.planner_steps = options.limits.planner_steps;
  choices.storage.max_string = options.max_string;
  if (options.precision == ConvertOptions::Precision::kFloat16) {
    choices.halves = HalfKernels{&rows, choice_of(options, Preference::kFast)};
    if (options.device == ConvertOptions::Device::kCuda) {
      choices.device_halves = HalfKernels{&rows, {.device = KernelDevice::kCuda}};
    }
  }
  progress.begin("optimising", until(kOptimised));
  for (size_t i = 0; i < options.passes.size(); ++i) {
    options.passes[i].apply(graph, inference, choices);
    progress.step(i + 1, options.passes.size());
  }
  ++prepared.entries;
  materialize_outputs(graph);
  prepared.on_device = choices.use_device && options.device == ConvertOptions::Device::kCuda;
  if (prepared.on_device) prepared.placement.merge(place_on_device(model, rows));
  // Passes rename freely; the signature keeps the model's names.
  for (size_t i = 0; i < output_names.size(); ++i) graph.outputs()[i]->name = output_names[i];
  graph.sort();
  graph.sweep();
}

/// Lets the problems name the entry point, where there are several.
template <class Work>
void in_entry(const std::string& name, bool several, const Work& work) {
  const auto named = [&name](std::vector<Problem> problems) {
    for (Problem& problem : problems) problem.entry = name;
    return problems;
  };
  try {
    work();
  } catch (const UnboundedError& error) {
    if (!several) throw;
    throw UnboundedError(named(error.problems()));
  } catch (const UndecidedError& error) {
    if (!several) throw;
    throw UndecidedError(named(error.problems()), error.inputs());
  } catch (const Error& error) {
    if (!several) throw;
    throw Error(named(error.problems()));
  }
}

void summarise(const std::vector<EntryModel>& entries, const std::vector<State>& states,
               Conversion& result) {
  for (const EntryModel& entry : entries) {
    EntrySummary& summary = result.entries.emplace_back();
    summary.name = entry.name;
    for (const Value* input : entry.model.graph->inputs()) {
      if (!is_state(states, input)) summary.inputs.push_back(summary_of(*input));
    }
    for (const Value* output : entry.model.graph->outputs()) {
      if (!is_state(states, output)) summary.outputs.push_back(summary_of(*output));
    }
    for (const Value* input : entry.model.graph->inputs()) {
      const bool first = std::any_of(states.begin(), states.end(), [input](const State& state) {
        return state.inputs.front() == input;
      });
      if (first) result.states.push_back(summary_of(*input));
    }
    for (const std::string& warning : entry.model.warnings) {
      result.warnings.push_back(entries.size() > 1 ? entry.name + ": " + warning : warning);
    }
    // A node may have inputs that vary and none but fixed outputs, hence no shape function.
    result.varying |=
        std::any_of(summary.inputs.begin(), summary.inputs.end(), [](const PortSummary& port) {
          return std::any_of(port.symbols.begin(), port.symbols.end(),
                             [](const std::string& symbol) { return !symbol.empty(); });
        });
  }
  result.varying |= !result.plan.summary.shapes.empty();
}

Conversion convert_models(std::vector<EntryModel>& entries, const ConvertOptions& options,
                          bool probe, Progress& progress) {
  if (options.precision != ConvertOptions::Precision::kFloat32 && !options.gradients.empty()) {
    throw Error("--precision f16: a plan that computes gradients is float32",
                "leave out --precision or --gradient");
  }
  release_trainable(entries, options);
  release_initialisers(entries, options);
  distribute_options(entries, options);
  Prepared prepared;
  for (EntryModel& entry : entries) {
    in_entry(entry.name, entries.size() > 1,
             [&] { prepare(entry, probe, entries.size(), progress, prepared); });
  }
  cut_backward(entries);
  const std::vector<State> states = find_states(entries, options);
  keep_states(entries, states);
  Lowering lowering;
  const LoweringOptions lowering_options{&options.operators().rows(),
                                         choice_of(options, prepared.choices.kernels),
                                         options.threads, prepared.placement, &progress};
  for (size_t i = 0; i < entries.size(); ++i) {
    EntryModel& entry = entries[i];
    progress.begin("choosing kernels", share(kOptimised, kLowered, i + 1, entries.size()));
    in_entry(entry.name, entries.size() > 1,
             [&] { lowering.merge(lower(entry.model, lowering_options)); });
  }
  std::vector<Graph*> graphs;
  std::vector<PlanEntry> plan_entries;
  for (const EntryModel& entry : entries) {
    graphs.push_back(entry.model.graph.get());
    plan_entries.push_back({entry.name, &entry.model});
  }
  // A device's nodes stand in as few runs as placement could give them.
  const bool reorder = prepared.choices.reorder && !prepared.on_device;
  const auto assign = reorder ? assign_storage_reordered : assign_storage;
  progress.begin("planning memory", kPlaced);
  Storage storage = assign(graphs, lowering, states, prepared.choices.storage);
  storage.extents_of = seed_extents(entries);

  progress.begin("writing", 1);
  Conversion result;
  result.plan =
      write_plan(plan_entries, storage, lowering, states, {options.threads, options.strip_names});
  summarise(entries, states, result);
  progress.begin("done", 1);
  return result;
}

/// Takes what the trial gives for these inputs as their values; false if that is nothing new.
bool take_values(const std::vector<std::string>& inputs, ConvertOptions& options,
                 std::vector<std::string>& warnings) {
  bool taken = false;
  for (const std::string& name : inputs) {
    const auto given = options.probe.find(name);
    if (given == options.probe.end() || options.values.contains(name) ||
        given->second.count() > definitions::kMaxPropagatedElements) {
      continue;
    }
    options.values.emplace(name, given->second);
    taken = true;
    warnings.push_back(
        fmt::format("the form of the plan depends on the value of '{}': it is made for the one "
                    "that is given, and runs with another fail",
                    name));
  }
  return taken;
}

/// Converts what `make_models` gives. The trial execution takes time and memory, so it comes only
/// where nothing else helps; values of inputs are taken from it only where they decide.
template <class MakeModels>
Conversion convert_tried(const MakeModels& make_models, ConvertOptions options) {
  std::vector<std::string> warnings;
  Progress progress(options.progress);
  for (bool probe = false;;) {
    try {
      progress.begin("reading", kRead);
      std::vector<EntryModel> entries = make_models();
      Conversion conversion = convert_models(entries, options, probe, progress);
      conversion.warnings.insert(conversion.warnings.begin(), warnings.begin(), warnings.end());
      return conversion;
    } catch (const UnboundedError&) {
      if (probe || options.probe.empty()) throw;
      probe = true;
    } catch (const UndecidedError& error) {
      if (!take_values(error.inputs(), options, warnings)) throw;
    }
  }
}

/// Runs `make_models` and the passes; whatever they throw becomes a ConversionFailure, and what the
/// listener throws leaves.
template <class MakeModels>
ConversionResult guarded(const MakeModels& make_models, const ConvertOptions& options) {
  try {
    return convert_tried(make_models, options);
  } catch (const Progress::Stopped& stopped) {
    std::rethrow_exception(stopped.cause);
  } catch (const Error& error) {
    return ConversionFailure{error.problems()};
  } catch (const std::bad_alloc&) {
    return ConversionFailure{{{"", "", "not enough memory to convert the model", ""}}};
  } catch (const std::exception& error) {
    return ConversionFailure{{{"", "", fmt::format("internal error: {}", error.what()),
                               "please report it with the model"}}};
  }
}

std::vector<EntryModel> only_entry(Model model) {
  std::vector<EntryModel> entries;
  entries.push_back({kMainEntry, std::move(model)});
  return entries;
}

}  // namespace

std::vector<ModelInput> model_inputs(const std::filesystem::path& model) {
  std::vector<ModelInput> inputs;
  const Model imported = import_file(model);
  for (const Value* input : imported.graph->inputs()) inputs.push_back({input->name, input->type});
  return inputs;
}

std::string ConversionFailure::text() const {
  return Error(problems).what();
}

ConversionResult convert_file(const std::filesystem::path& model, const ConvertOptions& options) {
  return guarded([&] { return only_entry(import_file(model)); }, options);
}

ConversionResult convert_bytes(std::span<const std::byte> model, const ConvertOptions& options) {
  return guarded([&] { return only_entry(import_bytes(model)); }, options);
}

ConversionResult convert_entries(std::span<const EntrySource> entries,
                                 const ConvertOptions& options) {
  const auto import_all = [entries] {
    std::vector<EntryModel> models;
    for (const EntrySource& entry : entries) {
      in_entry(entry.name, entries.size() > 1, [&] {
        models.push_back(
            {entry.name, entry.file.empty() ? import_bytes(entry.bytes) : import_file(entry.file)});
      });
    }
    return models;
  };
  return guarded(import_all, options);
}

}  // namespace intarsia::converter
