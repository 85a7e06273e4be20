// SPDX-License-Identifier: Apache-2.0
//
// Writes what fuzzing starts from: tiny models, and the plans of those that convert.
//
//     make_seeds DIR        DIR/onnx/NAME, DIR/plan/NAME; DIR/onnx.dict, operators' names
//
// One model for every operator there is, drawn by the generator of the random models; those of
// seed_models.cpp for what several nodes make together, and of seed_nodes.cpp for operators that
// need other nodes: one of which no model has a plan fails. Made anew by each build, so that plans
// are of today's format and new operators are fuzzed without a thought.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "core/definitions/registry.h"
#include "test/fuzz/model_options.h"
#include "test/fuzz/operators.h"
#include "test/fuzz/seed_models.h"
#include "test/fuzz/target.h"
#include "test/random/generator.h"

namespace {

using namespace intarsia;
using definitions::OperatorDefinition;

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

/// The operators of a model's nodes.
std::set<const OperatorDefinition*> operators_in(const std::string& model) {
  onnx::ModelProto proto;
  fuzz::require(proto.ParseFromString(model), "a seed is a model");
  std::map<std::string, int> versions;
  for (const auto& import : proto.opset_import()) {
    versions[import.domain()] = static_cast<int>(import.version());
  }
  std::set<const OperatorDefinition*> operators;
  for (const auto& node : proto.graph().node()) {
    operators.insert(
        fuzz::library()->operators().find(node.domain(), node.op_type(), versions[node.domain()]));
  }
  return operators;
}

/// A model and its plan.
struct Seed {
  std::string model;
  std::vector<std::byte> plan;
};

/// A model of one node that has a plan; empty if none of the first has.
Seed seed_of(const OperatorDefinition& op) {
  constexpr uint64_t kSeeds = 60;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) {
    const auto node = test::random_node(seed, op, *fuzz::library(), test::kTinySizes);
    if (!node) continue;
    const int opset = std::min(op.until_version, converter::kNewestOpset);
    std::string model = test::onnx_bytes(*node, opset);
    std::vector<std::byte> plan = plan_of(model);
    if (!plan.empty()) return {std::move(model), std::move(plan)};
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  fuzz::require(argc == 2, "usage: make_seeds DIR");
  const fs::path folder = argv[1];
  for (const char* kind : {"onnx", "plan"}) fs::create_directories(folder / kind);
  std::map<std::string, Seed> seeds;
  std::set<const OperatorDefinition*> reached;
  for (const auto& models : {fuzz::seed_models(), fuzz::seed_nodes()}) {
    for (const auto& [name, model] : models) {
      Seed& seed = seeds[name] = {model, plan_of(model)};
      fuzz::require(!seed.plan.empty(), name.c_str());
      reached.merge(operators_in(model));
    }
  }
  std::ofstream dictionary(folder / "onnx.dict");
  int lacking = 0;
  for (const OperatorDefinition* op : fuzz::library()->operators().all()) {
    dictionary << '"' << op->name << "\"\n";
    if (op->domain == definitions::kInternalDomain) continue;
    const std::string name = op->qualified_name() + std::to_string(op->since_version);
    Seed seed = seed_of(*op);
    if (!seed.plan.empty()) {
      seeds.emplace(name, std::move(seed));
    } else if (!reached.contains(op)) {
      std::printf("%s has no plan: give it a model in seed_nodes.cpp\n", name.c_str());
      ++lacking;
    }
  }
  for (const auto& [name, seed] : seeds) {
    std::string file = name;
    for (char& c : file) c = c == ':' ? '_' : c;
    write(folder / "onnx" / file, seed.model.data(), seed.model.size());
    write(folder / "plan" / file, seed.plan.data(), seed.plan.size());
  }
  for (const auto& [first, second] : {std::pair<std::string, std::string>{"state", "state"},
                                      {"state", "shapes"},
                                      {"state_cuda", "network_cuda"}}) {
    const std::vector<std::byte> plan = joined(seeds.at(first).model, seeds.at(second).model);
    write(folder / "plan" / ("joined_" + first + "_" + second), plan.data(), plan.size());
  }
  std::printf("%zu models\n", seeds.size());
  return lacking == 0 ? 0 : 1;
}
