// SPDX-License-Identifier: Apache-2.0
#include "converter/tool/plan_json.h"

#include <map>

#include "converter/tool/plan_text.h"

namespace intarsia::tool {
namespace {

using Json = nlohmann::ordered_json;

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

}  // namespace

Json plan_json(std::span<const std::byte> plan) {
  const PlanText text(plan);
  const plan::Memory& memory = *text.root().memory();
  Json result{{"plan_bytes", plan.size()},
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

}  // namespace intarsia::tool
