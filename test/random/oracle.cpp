// SPDX-License-Identifier: Apache-2.0
#include "test/random/oracle.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>

#include "kernels_cpu/gemm/isa.h"
#include "test/random/plan_runner.h"
#include "test/random/values.h"

namespace intarsia::test {
namespace {

constexpr int kThreads = 3;

/// "" or how `found` differs from `expected` by more than `error`.
std::string mismatch(const Constant& found, const Constant& expected, double error) {
  if (found.type != expected.type || found.extents != expected.extents) {
    return fmt::format("{} {} instead of {} {}", data_type_name(found.type),
                       converter::extents_text(found.extents), data_type_name(expected.type),
                       converter::extents_text(expected.extents));
  }
  const std::optional<double> apart = distance(found, expected);
  if (!apart) return "elements differ";
  if (*apart <= error) return {};
  return fmt::format("off by {}, allowed is {} where the largest element is {}", *apart, error,
                     scale_of(expected).largest);
}

std::optional<Failure> compare(const RandomModel& model, size_t number, const PlanRun& found,
                               const std::string& what, const std::vector<Constant>* against) {
  const auto failure = [&](int output, std::string text) {
    return Failure{fmt::format("{}, run {}: {}", what, number, std::move(text)), number, output,
                   false};
  };
  if (!found.error.empty()) return failure(-1, found.error);
  for (size_t i = 0; i < model.outputs.size(); ++i) {
    const RandomTensor& tensor = model.tensor(model.outputs[i]);
    const Constant& expected = against != nullptr ? (*against)[i] : tensor.values[number];
    const std::string text = mismatch(found.outputs[i], expected, tensor.errors[number]);
    if (text.empty()) continue;
    return failure(static_cast<int>(i), fmt::format("output {}: {}", tensor.name, text));
  }
  return std::nullopt;
}

std::string_view name_of(Isa isa) {
  constexpr std::string_view kNames[] = {"portable", "avx2", "avx512", "neon", "avx512vnni", "amx"};
  return kNames[static_cast<size_t>(isa)];
}

std::optional<Failure> conversion_failure(const char* what, const ConvertedPlan& plan) {
  if (plan.error.empty()) return std::nullopt;
  return Failure{fmt::format("{}: {}", what, plan.error), 0, -1, true};
}

}  // namespace

std::vector<Isa> available_isas() {
  const Isa best = detect_isa();
  std::vector<Isa> isas{Isa::kPortable};
  if (cpu::vector_isa(best) == Isa::kAvx512) isas.push_back(Isa::kAvx2);
  if (best != Isa::kPortable) isas.push_back(best);
  return isas;
}

OracleOptions all_passes(const converter::OperatorLibrary& library) {
  OracleOptions options;
  // The planner's search would take most of the time; the greedy plans are as likely to be wrong.
  options.conversion.limits.planner_steps = 20'000;
  options.kernels = library.kernels();
  options.isas = available_isas();
  return options;
}

std::optional<Failure> check_model(const RandomModel& model, const OracleOptions& options,
                                   OracleFigures* figures) {
  const std::string onnx = onnx_bytes(model);
  const converter::OperatorLibrary& library = options.conversion.operators();
  converter::ConvertOptions all = options.conversion;
  if (model.seed % 3 == 0) all.threads = kThreads;
  converter::ConvertOptions none = options.conversion;
  none.passes = {};
  ConvertedPlan imported = convert(model, onnx, none);
  if (auto failure = conversion_failure("conversion without passes", imported)) return failure;
  ConvertedPlan optimised = convert(model, onnx, all);
  if (auto failure = conversion_failure("conversion with all passes", optimised)) return failure;

  for (const ConvertedPlan* plan : {&imported, &optimised}) {
    const uint64_t tensors = plan->summary.arena_bytes - plan->summary.metadata_bytes;
    if (tensors < plan->summary.lower_bound_bytes) {
      return Failure{fmt::format("the arena has {} bytes for tensors, its lower bound is {}",
                                 tensors, plan->summary.lower_bound_bytes),
                     0, -1, true};
    }
    if (figures != nullptr) *figures = {tensors, plan->summary.lower_bound_bytes};
  }

  PlanRunner reference(model, imported, library.kernels(), library.services(), Isa::kPortable);
  std::vector<PlanRun> expected;
  for (size_t run = 0; run < model.runs.size(); ++run) {
    expected.push_back(reference.run(run));
    if (auto failure = compare(model, run, expected.back(), "without passes", nullptr)) {
      return failure;
    }
  }
  for (Isa isa : options.isas) {
    PlanRunner runner(model, optimised, options.kernels, library.services(), isa, all.threads);
    for (size_t run = 0; run < model.runs.size(); ++run) {
      const std::string what = fmt::format("all passes on {}", name_of(isa));
      if (auto failure = compare(model, run, runner.run(run), what, &expected[run].outputs)) {
        return failure;
      }
    }
  }
  return std::nullopt;
}

std::string guilty_pass(const RandomModel& model, const OracleOptions& options) {
  OracleOptions prefix = options;
  const std::span<const converter::Pass> all = options.conversion.passes;
  for (size_t count = 0; count <= all.size(); ++count) {
    prefix.conversion.passes = all.first(count);
    if (!check_model(model, prefix)) continue;
    return count == 0 ? "none at all" : std::string(all[count - 1].name);
  }
  return {};
}

}  // namespace intarsia::test
