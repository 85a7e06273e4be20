// SPDX-License-Identifier: Apache-2.0
#include "converter/passes/placement.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "converter/graph/node_extents.h"
#include "core/runtime/device.h"
#include "intarsia/describe.h"

namespace intarsia::converter {
namespace {

/// Calls `visit` for every value that the node reads, in its sub-graphs too.
template <class Visit>
void for_each_read(const Node& node, const Visit& visit) {
  for (Value* input : node.inputs) {
    if (input != nullptr) visit(input);
  }
  for (const SubGraph& sub : node.graphs) {
    for (Value* output : sub.graph->outputs()) visit(output);
    for (const auto& inner : sub.graph->nodes()) for_each_read(*inner, visit);
  }
}

class Placer {
 public:
  Placer(Model& model, const definitions::KernelRows& rows)
      : model_(model), graph_(*model.graph), rows_(rows) {}

  Placement run() {
    for (Node* node : graph_.node_list()) place(*node);
    // The device's nodes read constants of their own, in the form that its kernels want.
    for (Node* node : graph_.node_list()) {
      if (on_device(node)) separate_constants(*node);
    }
    std::vector<Value*> values;
    for (const auto& value : graph_.values()) values.push_back(value.get());
    for (Value* value : values) {
      if (!value->constant) cross(*value);
    }
    order();
    return std::move(placement_);
  }

 private:
  bool on_device(const Node* node) const { return node != nullptr && placement_.count(node) != 0; }

  /// Why the node stays on the host, or "".
  std::string reason(const Node& node) const {
    if (!node.graphs.empty()) return "control flow runs on the CPU";
    for (const auto* list : {&node.inputs, &node.outputs}) {
      for (const Value* value : *list) {
        if (value != nullptr && varies(*value)) {
          return fmt::format("the extents of '{}' vary", value->name);
        }
      }
    }
    NodeExtents extents(node);
    if (select_kernel(node, extents, rows_, {.device = KernelDevice::kCuda}) != nullptr) return "";
    std::string types;
    for (DataType type : kernel_types(node)) {
      types += fmt::format("{}{}", types.empty() ? " for " : ", ", data_type_name(type));
    }
    return "no CUDA kernel" + types;
  }

  void place(const Node& node) {
    const bool follows =
        node.op->view && (node.input(0) == nullptr || !on_device(node.input(0)->producer));
    const std::string why = reason(node);
    if (why.empty() && !follows) {
      placement_.insert(&node);
      return;
    }
    // A view of the host's memory costs nothing, wherever it could run.
    if (why.empty()) return;
    model_.warnings.push_back(
        fmt::format("node '{}' ({}) runs on the CPU: {}", node.name, node.qualified_type(), why));
  }

  void separate_constants(Node& node) {
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      Value* input = node.inputs[i];
      if (input == nullptr || !input->constant) continue;
      Value*& own = constants_[input];
      if (own == nullptr) {
        own = graph_.add_constant(graph_.unique_name(input->name + "_device"), *input->constant);
        own->type = input->type;
        own->shape = input->shape;
      }
      node.set_input(static_cast<int>(i), own);
    }
  }

  /// Copies a value to the other side, if that is where it is read.
  void cross(Value& value) {
    const bool made_there = on_device(value.producer);
    const auto other_side = [&](const Use& use) {
      const bool read_there =
          use.node != nullptr && use.node->graph == &graph_ && on_device(use.node);
      return read_there != made_there;
    };
    if (std::none_of(value.uses.begin(), value.uses.end(), other_side)) return;
    const char* type = made_there ? "ToHost" : "ToDevice";
    Value* const inputs[] = {&value};
    Node* copy = graph_.add_node(
        "intarsia", type, graph_.unique_name(value.name + (made_there ? "_to_host" : "_to_device")),
        inputs, 1);
    copy->op = definitions::OperatorRegistry::builtin().find(definitions::kInternalDomain, type);
    Value* copied = copy->outputs[0];
    copied->type = value.type;
    copied->shape = value.shape;
    placement_.insert(copy);
    copies_.insert(copy);
    Graph::replace_uses_if(&value, copied,
                           [&](const Use& use) { return use.node != copy && other_side(use); });
  }

  /// Orders nodes by phases: all that is ready on the host, then all that is ready on the device.
  void order() {
    const std::vector<Node*> nodes = graph_.node_list();
    std::unordered_map<const Node*, size_t> number;
    for (size_t i = 0; i < nodes.size(); ++i) number[nodes[i]] = i;
    std::vector<std::vector<size_t>> readers(nodes.size());
    std::vector<size_t> waits(nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i) {
      for_each_read(*nodes[i], [&](const Value* value) {
        if (value->graph != &graph_ || value->producer == nullptr) return;
        readers[number.at(value->producer)].push_back(i);
        ++waits[i];
      });
    }
    std::set<size_t> ready[2];  // of the host with the copies, of the device
    const auto side = [&](size_t i) {
      return on_device(nodes[i]) && copies_.count(nodes[i]) == 0 ? 1 : 0;
    };
    for (size_t i = 0; i < nodes.size(); ++i) {
      if (waits[i] == 0) ready[side(i)].insert(i);
    }
    for (int phase = 0; !ready[0].empty() || !ready[1].empty();) {
      if (ready[phase].empty()) {
        phase = 1 - phase;
        continue;
      }
      const size_t next = *ready[phase].begin();
      ready[phase].erase(ready[phase].begin());
      graph_.move_before(nodes[next], nullptr);
      for (size_t reader : readers[next]) {
        if (--waits[reader] == 0) ready[side(reader)].insert(reader);
      }
    }
  }

  Model& model_;
  Graph& graph_;
  const definitions::KernelRows& rows_;
  Placement placement_;
  std::unordered_set<const Node*> copies_;
  std::unordered_map<const Value*, Value*> constants_;
};

}  // namespace

Placement place_on_device(Model& model, const definitions::KernelRows& rows) {
  return Placer(model, rows).run();
}

bool reads_device(const definitions::KernelRow& kernel) {
  return kernel.device == KernelDevice::kCuda && kernel.id.op != kToDevice.op;
}

bool writes_device(const definitions::KernelRow& kernel) {
  return kernel.device == KernelDevice::kCuda && kernel.id.op != kToHost.op;
}

}  // namespace intarsia::converter
