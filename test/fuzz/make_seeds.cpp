// SPDX-License-Identifier: Apache-2.0
//
// Writes what fuzzing starts from: tiny models, and the plans of those that convert.
//
//     make_seeds DIR        DIR/onnx/NAME, DIR/plan/NAME; DIR/onnx.dict, operators' names
//
// One model for every operator there is, drawn by the generator of the random models (or, where
// none of the drawn has a plan, of operands of a few extents), and those of seed_models.cpp for
// what several nodes make together. Made anew by each build, so that plans are of today's format
// and new operators are fuzzed without a thought.
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "core/definitions/registry.h"
#include "core/definitions/rows.h"
#include "test/fuzz/model_options.h"
#include "test/fuzz/operators.h"
#include "test/fuzz/seed_models.h"
#include "test/fuzz/target.h"
#include "test/random/generator.h"

namespace {

using namespace intarsia;
using converter::OnnxBuilder;
using definitions::OperatorDefinition;
using definitions::Parameter;

namespace fs = std::filesystem;

void write(const fs::path& path, const void* bytes, size_t size) {
  std::ofstream file(path, std::ios::binary);
  file.write(static_cast<const char*>(bytes), static_cast<std::streamsize>(size));
  fuzz::require(file.good(), path.c_str());
}

/// The plan of a model; none if it cannot be converted.
std::vector<std::byte> plan_of(const std::string& model) {
  const auto bytes = std::as_bytes(std::span(model));
  try {
    auto result = converter::convert_bytes(bytes, fuzz::options_for(bytes));
    auto* conversion = std::get_if<converter::Conversion>(&result);
    if (conversion != nullptr) return std::move(conversion->plan.bytes);
    const std::string why = std::get<converter::ConversionFailure>(result).text();
    fuzz::require(!why.starts_with("internal error"), why.c_str());
  } catch (const converter::Error&) {
    // Not with these operands.
  }
  return {};
}

/// A plan with the entry points of two models, of which the second may read the first one's state.
std::vector<std::byte> joined(const std::string& first, const std::string& second) {
  const auto bytes = std::as_bytes(std::span(first)), other = std::as_bytes(std::span(second));
  converter::ConvertOptions options = fuzz::options_for(bytes);
  options.dims.merge(fuzz::options_for(other).dims);
  const converter::EntrySource entries[] = {{"first", {}, bytes}, {"second", {}, other}};
  auto result = converter::convert_entries(entries, options);
  const auto* failure = std::get_if<converter::ConversionFailure>(&result);
  fuzz::require(failure == nullptr, failure != nullptr ? failure->text().c_str() : "");
  return std::move(std::get<converter::Conversion>(result).plan.bytes);
}

/// How the operands of an operator's only node are made.
struct Operands {
  DataType type;
  std::vector<int64_t> extents;
  /// Those behind the first are inputs, too; or constants, as shapes, axes and weights often have
  /// to be: like the first, of one element, or of one element for each of its axes.
  enum Others { kInputs, kConstants, kOne, kPerAxis } others;
};

/// True if operands of the variable are sequences or optional values, never tensors.
bool is_sequence(const OperatorDefinition& op, std::string_view variable) {
  for (const definitions::TypeConstraint& constraint : op.types) {
    if (constraint.variable == variable)
      return (constraint.allowed & ~definitions::kSequenceTypes) == 0;
  }
  return false;
}

DataType type_of(const OperatorDefinition& op, std::string_view variable, DataType wanted) {
  for (const definitions::TypeConstraint& constraint : op.types) {
    if (constraint.variable != variable) continue;
    if (definitions::contains(constraint.allowed, wanted)) return wanted;
    for (int code = 1; code <= kLastDataType; ++code) {
      const auto type = static_cast<DataType>(code);
      if (definitions::contains(constraint.allowed, type)) return type;
    }
  }
  return wanted;
}

std::string model_of(const OperatorDefinition& op, const Operands& operands) {
  OnnxBuilder model;
  if (!op.domain.empty()) model.import_opset(std::string(op.domain), op.since_version);
  std::vector<std::string> inputs, outputs;
  for (const Parameter& parameter : op.inputs) {
    if (parameter.kind == Parameter::kOptional) break;
    const int count = parameter.kind == Parameter::kVariadic ? std::max(parameter.minimum, 2) : 1;
    for (int i = 0; i < count; ++i) {
      const std::string name = "i" + std::to_string(inputs.size());
      const DataType type = type_of(op, parameter.type, operands.type);
      std::vector<int64_t> extents = operands.extents;
      if (!inputs.empty() && operands.others == Operands::kOne) extents = {1};
      if (!inputs.empty() && operands.others == Operands::kPerAxis) {
        extents = {static_cast<int64_t>(extents.size())};
      }
      if (is_sequence(op, parameter.type)) {
        model.input(name + "_element", extents);
        model.node("SequenceConstruct", {name + "_element"}, {name});
      } else if (inputs.empty() || operands.others == Operands::kInputs) {
        model.input(name, extents, type);
      } else {
        // The number one as an integer, whatever the width.
        const auto width = static_cast<size_t>(std::max(element_bits(type) / 8, 1));
        const int64_t bytes = converter::checked_byte_size(type, extents);
        std::string ones(static_cast<size_t>(std::max<int64_t>(bytes, 0)), '\0');
        for (size_t at = 0; at < ones.size(); at += width) ones[at] = 1;
        model.initializer(name, type, extents, ones.data(), ones.size());
      }
      inputs.push_back(name);
    }
  }
  for (const Parameter& parameter : op.outputs) {
    if (parameter.kind == Parameter::kOptional && !outputs.empty()) break;
    outputs.push_back("o" + std::to_string(outputs.size()));
    model.output(outputs.back());
  }
  onnx::NodeProto& node = model.node(std::string(op.name), inputs, outputs);
  node.set_domain(std::string(op.domain));
  return model.bytes();
}

/// A model of one node, of a seed that has a plan.
std::string seed_of(const OperatorDefinition& op) {
  constexpr uint64_t kSeeds = 60;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const auto node = test::random_node(seed, op, *fuzz::library(), test::kTinySizes);
    if (!node) continue;
    const int opset = std::min(op.until_version, converter::kNewestOpset);
    std::string model = test::onnx_bytes(*node, opset);
    if (!plan_of(model).empty()) return model;
  }
  static const std::vector<int64_t> kExtents[] = {{3, 3}, {1, 4, 4, 4}, {4}, {2, 3, 4}, {}};
  for (const auto& extents : kExtents) {
    for (auto others :
         {Operands::kInputs, Operands::kConstants, Operands::kOne, Operands::kPerAxis}) {
      if (op.inputs.size() < 2 && others != Operands::kInputs) continue;
      std::string model = model_of(op, {DataType::kFloat, extents, others});
      if (!plan_of(model).empty()) return model;
    }
  }
  return model_of(op, {DataType::kFloat, kExtents[0], Operands::kInputs});
}

}  // namespace

int main(int argc, char** argv) {
  fuzz::require(argc == 2, "usage: make_seeds DIR");
  const fs::path folder = argv[1];
  for (const char* kind : {"onnx", "plan"}) fs::create_directories(folder / kind);
  std::map<std::string, std::string> models = fuzz::seed_models();
  std::set<std::string> rewritten;  // operators that no plan has, for they become others
  for (const OperatorDefinition* op : fuzz::library()->operators().all()) {
    if (op->domain == definitions::kInternalDomain || !op->graphs.empty()) continue;
    const std::string name = op->qualified_name() + std::to_string(op->since_version);
    models.emplace(name, seed_of(*op));
    if (op->facts.expand != nullptr) rewritten.insert(name);
  }
  std::ofstream dictionary(folder / "onnx.dict");
  for (const OperatorDefinition* op : fuzz::library()->operators().all()) {
    dictionary << '"' << op->name << "\"\n";
  }
  size_t plans = 0, reached = 0;
  for (const auto& [name, model] : models) {
    std::string file = name;
    for (char& c : file) c = c == ':' ? '_' : c;
    write(folder / "onnx" / file, model.data(), model.size());
    const std::vector<std::byte> plan = plan_of(model);
    if (plan.empty()) {
      std::printf("%s has no plan\n", name.c_str());
      continue;
    }
    write(folder / "plan" / file, plan.data(), plan.size());
    ++plans;
    reached += rewritten.contains(name) ? 0 : 1;
  }
  for (const auto& [first, second] : {std::pair<std::string, std::string>{"state", "state"},
                                      {"state", "shapes"},
                                      {"state_cuda", "network_cuda"}}) {
    const std::vector<std::byte> plan = joined(models.at(first), models.at(second));
    write(folder / "plan" / ("joined_" + first + "_" + second), plan.data(), plan.size());
  }
  std::printf("%zu models, %zu plans\n", models.size(), plans);
  // Nearly every operator that plans have is reached.
  return reached * 10 >= (models.size() - rewritten.size()) * 8 ? 0 : 1;
}
