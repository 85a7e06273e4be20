// SPDX-License-Identifier: Apache-2.0
//
// `intarsia conformance`: runs folders in the layout of ONNX's backend tests (model.onnx,
// test_data_set_*/input_*.pb and output_*.pb) and compares type, extents and values.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "converter/onnx/tensor_file.h"
#include "converter/tool/commands.h"
#include "converter/tool/compare.h"
#include "converter/tool/options.h"
#include "converter/tool/plan_text.h"
#include "converter/tool/program.h"

namespace intarsia::tool {
namespace {

namespace fs = std::filesystem;
using converter::Constant;
using converter::Error;
using converter::NamedConstant;

struct Arguments {
  std::vector<std::string> folders;
  ConversionArguments conversion;
};

std::vector<fs::path> sorted_entries(const fs::path& folder, std::string_view prefix) {
  std::vector<fs::path> entries;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename().string().starts_with(prefix)) entries.push_back(entry.path());
  }
  // By number: input_10.pb comes after input_9.pb.
  std::sort(entries.begin(), entries.end(), [](const fs::path& a, const fs::path& b) {
    const std::string left = a.filename().string(), right = b.filename().string();
    return left.size() != right.size() ? left.size() < right.size() : left < right;
  });
  return entries;
}

/// The files of a kind, which hold values of these types.
std::vector<NamedConstant> read_all(const fs::path& folder, std::string_view prefix,
                                    const std::vector<DataType>& types) {
  std::vector<NamedConstant> values;
  for (const fs::path& file : sorted_entries(folder, prefix)) {
    const size_t i = values.size();
    values.push_back(
        converter::read_tensor_file(file, i < types.size() ? types[i] : DataType::kUndefined));
  }
  return values;
}

/// Tolerance of a case: its own files, else what the graph's size suggests.
Tolerance tolerance_of(const fs::path& folder, bool large, DataType type, double scale) {
  Tolerance tolerance;
  // Two units in the last place: what is expected of these has been rounded at every step.
  if (type == DataType::kBfloat16) tolerance.relative = 0x1p-6;
  if (large) tolerance.absolute = 1e-4 * scale;
  for (const char* name : {"data.json", "tolerance.json"}) {
    std::ifstream file(folder / name);
    if (!file) continue;
    const auto json = nlohmann::json::parse(file, nullptr, false);
    if (json.is_discarded()) throw Error(fmt::format("{} is not JSON", (folder / name).string()));
    tolerance.relative = json.value("rtol", tolerance.relative);
    tolerance.absolute = json.value("atol", tolerance.absolute);
  }
  return tolerance;
}

/// Options of a case, one per line, as in options.txt beside the model.
ConversionArguments arguments_of(const fs::path& folder, ConversionArguments arguments) {
  std::ifstream file(folder / "options.txt");
  if (!file) return arguments;
  CLI::App app;
  arguments.add_to(app);
  app.add_option("--threads", arguments.threads);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  std::replace(text.begin(), text.end(), '\n', ' ');
  try {
    app.parse(text, false);
  } catch (const CLI::ParseError& error) {
    throw Error(fmt::format("{}: {}", (folder / "options.txt").string(), error.what()));
  }
  return arguments;
}

/// Inputs of a data set by name; files without a name in them go by position.
Values named_inputs(const fs::path& set, const std::vector<converter::ModelInput>& inputs) {
  std::vector<DataType> types;
  for (const auto& input : inputs) types.push_back(input.type);
  const std::vector<NamedConstant> files = read_all(set, "input_", types);
  Values values;
  for (size_t i = 0; i < files.size(); ++i) {
    const bool known = std::any_of(inputs.begin(), inputs.end(),
                                   [&](const auto& input) { return input.name == files[i].name; });
    if (!known && i >= inputs.size()) {
      throw Error(
          fmt::format("input file {} ('{}') matches no input of the model", i, files[i].name));
    }
    values[known ? files[i].name : inputs[i].name] = files[i].value;
  }
  return values;
}

/// True if a node of the plan draws random numbers.
bool draws(std::span<const std::byte> plan) {
  const PlanText text(plan);
  for (uint32_t i = 0; i < text.node_count(); ++i) {
    if (text.draws(i)) return true;
  }
  return false;
}

/// Runs one case; returns "" or what is wrong.
std::string run_case(const fs::path& folder, const ConversionArguments& common) {
  const ConversionArguments arguments = arguments_of(folder, common);
  const auto model_inputs = converter::model_inputs(folder / "model.onnx");
  std::unique_ptr<Program> program;
  std::map<std::string, std::vector<int64_t>> opened_for;
  const std::vector<fs::path> sets = sorted_entries(folder, "test_data_set_");
  // A case that compares nothing has not passed.
  if (sets.empty()) return "no test_data_set_* in the folder: there is nothing to compare with";
  for (const fs::path& set : sets) {
    const Values inputs = named_inputs(set, model_inputs);
    std::map<std::string, std::vector<int64_t>> extents;
    for (const auto& [name, value] : inputs) extents[name] = value.extents;
    // A plan serves all sets of one shape; other shapes need one of their own unless they vary, and
    // so do other values where these decide.
    const bool serves = program != nullptr && !program->checks_values() &&
                        (extents == opened_for || !arguments.dims.empty());
    if (!serves) {
      Program::Options options;
      options.conversion = arguments.parse();
      options.open_on_device = open_on_device();
      program = std::make_unique<Program>(folder / "model.onnx", inputs, options);
      opened_for = extents;
    }
    for (int i = 0; i < program->session().input_count(); ++i) {
      const std::string name(program->session().input_port(i).value().name);
      if (inputs.count(name) == 0) {
        return fmt::format("{}: no input_*.pb for input '{}'", set.filename().string(), name);
      }
    }
    program->set_inputs(inputs);
    program->run();
    const auto results = program->outputs();
    std::vector<DataType> types;
    for (const auto& [name, value] : results) types.push_back(value.type);
    const std::vector<NamedConstant> expected = read_all(set, "output_", types);
    if (expected.size() != results.size()) {
      return fmt::format("{}: there are {} files output_*.pb, the model has {} outputs",
                         set.filename().string(), expected.size(), results.size());
    }
    const bool large = node_count(program->plan()) > 20;
    for (size_t i = 0; i < expected.size(); ++i) {
      const Constant& reference = expected[i].value;
      const Tolerance tolerance =
          tolerance_of(folder, large, reference.type, largest_magnitude(reference));
      const std::string difference = compare(results[i].second, reference, tolerance);
      if (!difference.empty() && draws(program->plan())) {
        return fmt::format(
            "random numbers, which the case draws from another generator; output {}: {}",
            results[i].first, difference);
      }
      if (!difference.empty()) {
        return fmt::format("{}, output {}: {}", set.filename().string(), results[i].first,
                           difference);
      }
    }
  }
  return {};
}

int conformance(const Arguments& arguments) {
  std::vector<fs::path> cases;
  for (const std::string& folder : arguments.folders) {
    if (!fs::is_directory(folder)) throw Error(fmt::format("'{}' is not a folder", folder));
    if (fs::exists(fs::path(folder) / "model.onnx")) {
      cases.emplace_back(folder);
      continue;
    }
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (fs::exists(entry.path() / "model.onnx")) found.push_back(entry.path());
    }
    if (found.empty()) {
      throw Error(
          fmt::format("'{}' holds no case: no model.onnx in it or in a folder of it", folder));
    }
    std::sort(found.begin(), found.end());
    cases.insert(cases.end(), found.begin(), found.end());
  }
  int passed = 0, failed = 0;
  for (const fs::path& folder : cases) {
    std::string problem;
    try {
      problem = run_case(folder, arguments.conversion);
    } catch (const std::exception& error) {
      problem = error.what();
    }
    if (problem.empty()) {
      ++passed;
      continue;
    }
    ++failed;
    std::replace(problem.begin(), problem.end(), '\n', ' ');
    fmt::print("{}: {}\n", folder.filename().string(), problem);
  }
  fmt::print("{} passed, {} failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace

Command add_conformance(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  app.add_option("folders", arguments->folders, "a case, or a folder of cases")
      ->required()
      ->type_name("DIR");
  app.add_option("--threads", arguments->conversion.threads, "threads to run on")
      ->check(CLI::Range(1, 1024));
  arguments->conversion.add_to(app);
  return [arguments] { return conformance(*arguments); };
}

}  // namespace intarsia::tool
