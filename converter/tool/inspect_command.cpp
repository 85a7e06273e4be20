// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "converter/tool/commands.h"
#include "converter/tool/options.h"
#include "converter/tool/plan_text.h"
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

const char* memory_name(const plan::Tensor& tensor) {
  switch (static_cast<Memory>(tensor.memory())) {
    case Memory::kArena:
      return "arena";
    case Memory::kWeights:
      return "weights";
    case Memory::kSlot:
      return "slot";
    case Memory::kDeviceArena:
      return "device arena";
    case Memory::kDeviceWeights:
      return "device weights";
  }
  return "unknown";
}

Json tensor_json(const PlanText& text, const plan::Tensor* tensor) {
  if (tensor == nullptr) return nullptr;
  const auto memory = static_cast<Memory>(tensor->memory());
  const bool arena = memory == Memory::kArena || memory == Memory::kDeviceArena;
  const uint64_t unit = arena ? kArenaUnit : memory == Memory::kSlot ? 1 : kWeightUnit;
  return {{"tensor", text.tensor_text(*tensor)},
          {"memory", memory_name(*tensor)},
          {"place", tensor->place() * unit},
          {"bytes", text.bytes(*tensor)}};
}

Json ports_json(const PlanText& text,
                const flatbuffers::Vector<flatbuffers::Offset<plan::Port>>* ports) {
  Json list = Json::array();
  for (uint32_t i = 0; ports != nullptr && i < ports->size(); ++i) {
    const plan::Slot& slot = *text.root().slots()->Get(ports->Get(i)->slot());
    list.push_back({{"name", shown_name(ports->Get(i)->name())},
                    {"tensor", text.tensor_text(*text.root().tensors()->Get(slot.tensor()))}});
  }
  return list;
}

Json plan_json(const PlanText& text, size_t plan_bytes) {
  const plan::Memory& memory = *text.root().memory();
  Json result{{"plan_bytes", plan_bytes},
              {"weights_bytes", text.header().weights_bytes},
              {"structure_bytes", text.header().structure_bytes},
              {"arena_bytes", memory.arena_bytes()},
              {"lower_bound_bytes", memory.lower_bound_bytes()},
              {"padding_bytes", memory.padding_bytes()},
              {"workspace_bytes", memory.workspace_bytes()},
              {"metadata_bytes", memory.metadata_bytes()},
              {"device_arena_bytes", memory.device_arena_bytes()},
              {"device_weights_bytes", memory.device_weights_bytes()},
              {"threads", text.root().threads()}};
  for (uint32_t i = 0; i < text.root().entries()->size(); ++i) {
    const plan::Entry& entry = *text.root().entries()->Get(i);
    result["entries"].push_back({{"name", shown_name(entry.name())},
                                 {"inputs", ports_json(text, entry.inputs())},
                                 {"outputs", ports_json(text, entry.outputs())}});
  }
  result["states"] = ports_json(text, text.root().state_ports());
  std::map<std::string, int64_t> by_operator;
  result["nodes"] = Json::array();
  for (uint32_t i = 0; i < text.node_count(); ++i) {
    const plan::Node& node = text.node(i);
    Json inputs = Json::array(), outputs = Json::array();
    for (uint32_t k = 0; k < node.inputs(); ++k) {
      inputs.push_back(tensor_json(text, text.operand(i, k)));
    }
    for (uint32_t k = 0; k < node.outputs(); ++k) {
      const plan::Tensor* tensor = text.operand(i, node.inputs() + k);
      outputs.push_back(tensor_json(text, tensor));
      if (tensor != nullptr) by_operator[text.operator_name(i)] += text.bytes(*tensor);
    }
    int64_t workspace = 0;
    if ((node.shape() & kHasWorkspace) != 0) {
      workspace = text.bytes(*text.operand(i, uint32_t{node.inputs()} + node.outputs()));
    }
    result["nodes"].push_back({{"index", i},
                               {"name", text.node_name(i)},
                               {"operator", text.operator_name(i)},
                               {"kernel", text.kernel_name(i)},
                               {"inputs", inputs},
                               {"outputs", outputs},
                               {"workspace_bytes", workspace}});
  }
  result["output_bytes_by_operator"] = by_operator;
  return result;
}

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
  const PlanText text(loaded.bytes());
  const Json plan = plan_json(text, loaded.bytes().size());
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
