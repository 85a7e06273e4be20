// SPDX-License-Identifier: Apache-2.0
#include "converter/passes/passes.h"

#include <algorithm>
#include <array>

#include "converter/passes/fold.h"
#include "converter/passes/fuse.h"
#include "converter/passes/halves.h"
#include "converter/passes/integers.h"
#include "converter/passes/layout.h"
#include "converter/passes/sequence_index.h"
#include "converter/passes/simplify.h"

namespace intarsia::converter {
namespace {

void simplify_graph(Graph& graph, Inference&, PlanChoices&) {
  simplify(graph);
}

constexpr std::array kPasses = {
    Pass{"integers",
         [](Graph& graph, Inference& inference, PlanChoices&) { use_integers(graph, inference); }},
    Pass{"fold", [](Graph& graph, Inference&, PlanChoices&) { fold(graph); }},
    Pass{"simplify", simplify_graph},
    Pass{"fuse", [](Graph& graph, Inference& inference, PlanChoices&) { fuse(graph, inference); }},
    Pass{"simplify after fuse", simplify_graph},
    Pass{"sequence index", [](Graph& graph, Inference& inference,
                              PlanChoices&) { index_sequences(graph, inference); }},
    Pass{"device", [](Graph&, Inference&, PlanChoices& choices) { choices.use_device = true; }},
    Pass{"halves",
         [](Graph& graph, Inference&, PlanChoices& choices) {
           const bool there = choices.use_device && choices.device_halves;
           const auto& halves = there ? choices.device_halves : choices.halves;
           if (halves) use_halves(graph, *halves);
         }},
    Pass{"layout",
         [](Graph& graph, Inference& inference, PlanChoices&) { assign_layout(graph, inference); }},
    Pass{"simplify after layout", simplify_graph},
    Pass{"kernels",
         [](Graph&, Inference&, PlanChoices& choices) { choices.kernels = Preference::kFast; }},
    Pass{"views", [](Graph&, Inference&, PlanChoices& choices) { choices.storage.views = true; }},
    Pass{"in place",
         [](Graph&, Inference&, PlanChoices& choices) { choices.storage.in_place = true; }},
    Pass{"memory",
         [](Graph&, Inference&, PlanChoices& choices) { choices.storage.plan = plan_memory; }},
    Pass{"order", [](Graph&, Inference&, PlanChoices& choices) { choices.reorder = true; }},
};

}  // namespace

std::span<const Pass> optimisation_passes() {
  return kPasses;
}

std::vector<Pass> passes_without(std::initializer_list<std::string_view> names) {
  std::vector<Pass> kept;
  for (const Pass& pass : kPasses) {
    if (std::find(names.begin(), names.end(), pass.name) == names.end()) kept.push_back(pass);
  }
  return kept;
}

}  // namespace intarsia::converter
