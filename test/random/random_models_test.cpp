// SPDX-License-Identifier: Apache-2.0
//
// Random models made of all operators: with all passes they compute what they compute with none.
//
// INTARSIA_RANDOM_MODELS sets how many are made (1000; the test random.full asks for 20,000),
// INTARSIA_RANDOM_SEED the first seed, INTARSIA_RANDOM_FAILURES how many may fail until it stops.
// What fails is shrunk and written below the folder that INTARSIA_RANDOM_DIR names (default:
// random_models in the current folder).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>

#include "test/random/generator.h"
#include "test/random/oracle.h"
#include "test/random/shrink.h"

namespace intarsia::test {
namespace {

constexpr int64_t kOrdinary = 1000;
constexpr int64_t kFull = 20'000;
constexpr int64_t kLeastPerOperator = 50;
/// Arenas of all models together over their lower bounds; what is above is padding, and what the
/// planner could not fit. Most models are smaller than the padding of one tensor.
constexpr double kMostOverBound = 1.03;

int64_t number_from(const char* variable, int64_t fallback) {
  const char* text = std::getenv(variable);
  return text != nullptr && *text != 0 ? std::atoll(text) : fallback;
}

std::string describe(const RandomModel& model, const std::vector<RandomNode>& nodes, int depth) {
  std::string text;
  for (const RandomNode& node : nodes) {
    text += std::string(static_cast<size_t>(2 * depth + 2), ' ') + node.op->qualified_name() + "(";
    const auto list = [&](const std::vector<int>& numbers) {
      std::string names;
      for (int number : numbers) {
        if (!names.empty()) names += ", ";
        if (number < 0) {
          names += "-";
          continue;
        }
        const RandomTensor& tensor = model.tensor(number);
        names += tensor.name + ":" + std::string(data_type_name(tensor.type)) + "[";
        for (int axis = 0; axis < tensor.shape.rank; ++axis) {
          names += (axis > 0 ? "," : "") + tensor.shape[axis].to_string();
        }
        names += "]";
      }
      return names;
    };
    text += list(node.inputs) + ") -> " + list(node.outputs);
    for (const auto& [name, value] : node.attributes) text += " " + name;
    text += "\n";
    for (const RandomBranch& branch : node.branches) {
      text += std::string(static_cast<size_t>(2 * depth + 2), ' ') + "branch:\n";
      text += describe(model, branch.nodes, depth + 1);
    }
  }
  return text;
}

/// Shrinks and writes a model that fails, and says how to repeat it.
std::string report(const RandomModel& model, const OracleOptions& options, const Failure& failure) {
  const converter::OperatorLibrary& library = options.conversion.operators();
  const RandomModel small = shrink(model, library, [&](const RandomModel& candidate) {
    const auto found = check_model(candidate, options);
    return found && found->found_in_conversion == failure.found_in_conversion;
  });
  const auto found = check_model(small, options);
  const char* folder = std::getenv("INTARSIA_RANDOM_DIR");
  const std::string directory =
      fmt::format("{}/{}", folder != nullptr ? folder : "random_models", model.seed);
  const Failure& shown = found ? *found : failure;
  const std::string command =
      write_model(small, directory, std::min(shown.run, small.runs.size() - 1));
  return fmt::format("seed {}: {}\n  first: {}\n  pass: {}\n{}  {}", model.seed, shown.text,
                     failure.text, guilty_pass(small, options), describe(small, small.nodes, 0),
                     command);
}

TEST(RandomModels, AllPassesComputeWhatNoneComputes) {
  const converter::OperatorLibrary& library = converter::builtin_library();
  const OracleOptions options = all_passes(library);
  const int64_t count = number_from("INTARSIA_RANDOM_MODELS", kOrdinary);
  const int64_t first = number_from("INTARSIA_RANDOM_SEED", 1);
  const int64_t most = number_from("INTARSIA_RANDOM_FAILURES", 5);
  Coverage coverage;
  int64_t nodes = 0, failures = 0, exact = 0, outputs = 0;
  uint64_t tensor_bytes = 0, lower_bounds = 0;
  for (int64_t seed = first; seed < first + count && failures < most; ++seed) {
    const RandomModel model =
        random_model(static_cast<uint64_t>(seed), library, coverage, Operators::kAll);
    nodes += static_cast<int64_t>(model.node_count());
    for (int output : model.outputs) {
      ++outputs;
      if (model.tensor(output).errors.front() == 0) ++exact;
    }
    OracleFigures figures;
    const auto failure = check_model(model, options, &figures);
    tensor_bytes += figures.tensor_bytes;
    lower_bounds += figures.lower_bound_bytes;
    if (!failure) continue;
    ++failures;
    ADD_FAILURE() << report(model, options, *failure);
  }
  std::cout << fmt::format("{} models, {} nodes, {} outputs of which {} to the bit\n", count, nodes,
                           outputs, exact);
  const double over = static_cast<double>(tensor_bytes) / static_cast<double>(lower_bounds);
  std::cout << fmt::format("arenas are {:.4f} of their lower bounds\n", over);
  if (count >= kOrdinary) {
    EXPECT_LE(over, kMostOverBound);
  }
  int64_t least = kFull;
  for (const OperatorDefinition* op : operators_of(library, Operators::kAll)) {
    // Rewritten as a Loop before anything else happens to it; ONNX's own cases test that.
    if (op->control == definitions::Control::kMap) continue;
    const int64_t taken = coverage[op->qualified_name()];
    least = std::min(least, taken);
    std::cout << fmt::format("{:>8} {}\n", taken, op->qualified_name());
    if (count >= kFull) {
      EXPECT_GE(taken, kLeastPerOperator) << op->qualified_name();
    }
  }
  std::cout << fmt::format("{:>8} at least\n", least);
}

}  // namespace
}  // namespace intarsia::test
