// SPDX-License-Identifier: Apache-2.0
#include "converter/convert.h"

#include <fmt/format.h>

#include <fmt/ranges.h>
#include <algorithm>

#include "converter/graph/infer.h"
#include "converter/graph/order.h"
#include "converter/lower/lower.h"
#include "converter/lower/target.h"
#include "converter/memory/storage.h"
#include "converter/onnx/import.h"
#include "converter/onnx/inputs.h"
#include "converter/onnx/version_conversion.h"
#include "converter/passes/placement.h"
#include "converter/passes/simplify.h"

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

Conversion convert_model(Model& model, const ConvertOptions& options, bool probe) {
  const OperatorLibrary& library = options.operators();
  const definitions::KernelRows& rows = library.rows();
  model.operators = &library.operators();
  Graph& graph = *model.graph;
  std::vector<std::string> output_names;
  for (const Value* output : graph.outputs()) output_names.push_back(output->name);

  convert_versions(model);
  resolve(model);
  apply_input_options(model, options);
  apply_layouts(model, options);

  Inference inference(model, rows,
                      {options.bounds, probe ? options.probe : Values{}, options.max_trips,
                       library.services(), options.limits.folding});
  inference.run();
  PlanChoices choices;
  choices.storage.planner_steps = options.limits.planner_steps;
  for (const Pass& pass : options.passes) pass.apply(graph, inference, choices);
  materialize_outputs(graph);
  Placement placement;
  const bool on_device = choices.use_device && options.device == ConvertOptions::Device::kCuda;
  if (on_device) placement = place_on_device(model, rows);
  // Passes rename freely; the signature keeps the model's names.
  for (size_t i = 0; i < output_names.size(); ++i) graph.outputs()[i]->name = output_names[i];
  graph.sort();
  graph.sweep();

  const Lowering lowering = lower(
      graph, {&rows, choice_of(options, choices.kernels), options.threads, std::move(placement)});
  const std::vector<StatePair> states = find_states(model, options, output_names);
  // A device's nodes stand in as few runs as placement could give them.
  const Storage storage = choices.reorder && !on_device
                              ? assign_storage_reordered(graph, lowering, states, choices.storage)
                              : assign_storage(graph, lowering, states, choices.storage);

  Conversion result;
  result.plan =
      write_plan(model, storage, lowering, states, {options.threads, options.strip_names});
  const auto is_state = [&states](const Value* value) {
    for (const StatePair& pair : states) {
      if (pair.state == value || pair.source == value) return true;
    }
    return false;
  };
  for (const Value* input : graph.inputs()) {
    (is_state(input) ? result.states : result.inputs).push_back(summary_of(*input));
  }
  for (const Value* output : graph.outputs()) {
    if (!is_state(output)) result.outputs.push_back(summary_of(*output));
  }
  result.warnings = std::move(model.warnings);
  const auto varies = [](const std::vector<PortSummary>& ports) {
    return std::any_of(ports.begin(), ports.end(), [](const PortSummary& port) {
      return std::any_of(port.symbols.begin(), port.symbols.end(),
                         [](const std::string& symbol) { return !symbol.empty(); });
    });
  };
  // A node may have inputs that vary and none but fixed outputs, hence no shape function.
  result.varying = !result.plan.summary.shapes.empty() || varies(result.inputs);
  return result;
}

/// Runs `make_model` and the passes; whatever they throw becomes a ConversionFailure.
template <class MakeModel>
ConversionResult guarded(const MakeModel& make_model, const ConvertOptions& options) {
  try {
    try {
      Model model = make_model();
      return convert_model(model, options, false);
    } catch (const UnboundedError&) {
      // The trial execution takes time and memory, so it comes only where nothing else helps.
      if (options.probe.empty()) throw;
      Model model = make_model();
      return convert_model(model, options, true);
    }
  } catch (const Error& error) {
    return ConversionFailure{error.problems()};
  } catch (const std::bad_alloc&) {
    return ConversionFailure{{{"", "", "not enough memory to convert the model", ""}}};
  } catch (const std::exception& error) {
    return ConversionFailure{{{"", "", fmt::format("internal error: {}", error.what()),
                               "please report it with the model"}}};
  }
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
  return guarded([&] { return import_file(model); }, options);
}

ConversionResult convert_bytes(std::span<const std::byte> model, const ConvertOptions& options) {
  return guarded([&] { return import_bytes(model); }, options);
}

}  // namespace intarsia::converter
