// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "converter/tool/commands.h"
#include "converter/tool/options.h"
#include "converter/tool/plan_json.h"
#include "converter/tool/program.h"

namespace intarsia::tool {
namespace {

using Json = nlohmann::ordered_json;

struct Arguments {
  std::string model;
  bool json = false;
  ConversionArguments conversion;
  InputArguments inputs;
};

void print(const Json& plan) {
  fmt::print("plan {} bytes: weights {}, structure {}\n", plan["plan_bytes"].dump(),
             plan["weights_bytes"].dump(), plan["structure_bytes"].dump());
  fmt::print("arena {} bytes: metadata {}, largest workspace {}, padding {}; lower bound {}\n",
             plan["arena_bytes"].dump(), plan["metadata_bytes"].dump(),
             plan["workspace_bytes"].dump(), plan["padding_bytes"].dump(),
             plan["lower_bound_bytes"].dump());
  if (plan["device_arena_bytes"] != 0) {
    fmt::print("device arena {} bytes, device weights {}\n", plan["device_arena_bytes"].dump(),
               plan["device_weights_bytes"].dump());
  }
  for (const Json& entry : plan["entries"]) {
    fmt::print("entry point {}\n", entry["name"].get<std::string>());
    for (const char* kind : {"inputs", "outputs"}) {
      for (const Json& port : entry[kind]) {
        fmt::print("  {} {}: {}\n", std::string(kind, std::string_view(kind).size() - 1),
                   port["name"].get<std::string>(), port["tensor"].get<std::string>());
      }
    }
  }
  for (const Json& state : plan["states"]) {
    fmt::print("state {}: {}\n", state["name"].get<std::string>(),
               state["tensor"].get<std::string>());
  }
  for (const Json& node : plan["nodes"]) {
    std::string outputs;
    for (const Json& output : node["outputs"]) {
      if (output.is_null()) continue;
      outputs += fmt::format(" {} {}@{}", output["tensor"].get<std::string>(),
                             output["memory"].get<std::string>(), output["place"].dump());
    }
    fmt::print("{:>5} {:<20} {:<44} {} ->{}\n", node["index"].dump(),
               node["operator"].get<std::string>(), node["kernel"].get<std::string>(),
               node["name"].get<std::string>(), outputs);
  }
}

int inspect(const Arguments& arguments) {
  const LoadedPlan loaded(arguments.model, arguments.inputs.read(), arguments.conversion.parse());
  const Json plan = plan_json(loaded.bytes());
  if (arguments.json) {
    fmt::print("{}\n", plan.dump(2));
  } else {
    print(plan);
  }
  return 0;
}

}  // namespace

Command add_inspect(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  app.add_option("model", arguments->model, "a plan, or an ONNX model to convert")
      ->required()
      ->type_name("MODEL.plan|MODEL.onnx");
  app.add_flag("--json", arguments->json, "print JSON");
  arguments->inputs.add_to(app);
  app.add_option("--threads", arguments->conversion.threads, "threads to plan for")
      ->check(CLI::Range(1, 1024));
  arguments->conversion.add_to(app);
  return [arguments] { return inspect(*arguments); };
}

}  // namespace intarsia::tool
