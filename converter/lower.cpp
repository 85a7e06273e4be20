// SPDX-License-Identifier: Apache-2.0
#include "converter/lower.h"

#include <algorithm>
#include <map>

#include "converter/aligned_bytes.h"
#include "converter/describe_text.h"

namespace intarsia::converter {
namespace {

/// A weight keeps its extents when it is packed; its bytes are the kernel's own affair.
Constant packed(const Constant& original, int64_t bytes, const KernelContext& context, int input,
                const definitions::KernelDescriptor& kernel) {
  Constant result;
  result.type = original.type;
  result.extents = original.extents;
  result.size = static_cast<size_t>(bytes);
  std::shared_ptr<std::byte> memory = AlignedBytes(result.size).share();
  std::memset(memory.get(), 0, result.size);
  kernel.pack(context, input, memory.get());
  result.data = std::move(memory);
  return result;
}

class Lowerer {
 public:
  explicit Lowerer(const LoweringOptions& options) : options_(options) {}

  void run(Graph& graph) {
    for (Node* node : graph.node_list()) {
      lower_node(*node);
      for (const SubGraph& sub : node->graphs) run(*sub.graph);
    }
  }

  Lowering finish() {
    if (!problems_.empty()) throw Error(std::move(problems_));
    return std::move(lowering_);
  }

 private:
  void lower_node(Node& node) {
    OperandViews views;
    show_planned(node, views);
    views.set_threads(options_.threads);
    const KernelContext& context = views.context();
    const bool placed = options_.placement.count(&node) != 0;
    const definitions::KernelRows& rows = placed ? *options_.device_rows : *options_.rows;
    const definitions::KernelDescriptor* kernel =
        select_kernel(node, context, rows, placed ? KernelChoice() : options_.choice);
    if (kernel == nullptr) {
      problems_.push_back(no_kernel(node, rows));
      return;
    }
    LoweredNode lowered;
    lowered.kernel = kernel;
    lowered.reads_device = reads_device(*kernel);
    lowered.writes_device = writes_device(*kernel);
    lowered.workspace_bytes = kernel->workspace != nullptr ? kernel->workspace(context) : 0;
    check(node, views, *kernel, lowered.workspace_bytes);
    if (kernel->pack != nullptr) pack_weights(node, context, *kernel);
    lowering_[&node] = lowered;
  }

  /// What the kernel refuses at `open` is a problem of the model. As there, nothing has values, and
  /// planned extents that vary need not agree. The indices of sub-graphs are not known yet.
  void check(const Node& node, OperandViews& views, const definitions::KernelDescriptor& kernel,
             int64_t workspace_bytes) {
    if (kernel.kernel.check == nullptr || !node.graphs.empty()) return;
    KernelContext context = views.context();
    const std::span<const TensorView> shown(
        context.operands_, static_cast<size_t>(context.input_count_ + context.output_count_));
    std::vector<TensorView> operands(shown.begin(), shown.end());
    for (TensorView& operand : operands) operand.data = nullptr;
    context.operands_ = operands.data();
    context.workspace_bytes_ = static_cast<size_t>(workspace_bytes);
    const Status status = kernel.kernel.check(context);
    if (status.ok() || (status.code() == Code::kWrongExtent && any_varies(node))) return;
    problems_.push_back(node.problem(describe_text(views.diagnostic())));
  }
  static bool any_varies(const Node& node) {
    const auto one = [](const Value* value) { return value != nullptr && varies(*value); };
    return std::any_of(node.inputs.begin(), node.inputs.end(), one) ||
           std::any_of(node.outputs.begin(), node.outputs.end(), one);
  }

  void pack_weights(Node& node, const KernelContext& context,
                    const definitions::KernelDescriptor& kernel) {
    // Pack all inputs from the original ones before any of them is replaced.
    std::vector<std::pair<int, Value*>> replacements;
    for (int input = 0; input < static_cast<int>(node.inputs.size()); ++input) {
      const Value* weight = node.inputs[static_cast<size_t>(input)];
      if (weight == nullptr || !weight->constant) continue;
      const int64_t bytes = kernel.packed_bytes(context, input);
      if (bytes <= 0) continue;
      Value* made = node.graph->add_constant(
          weight->name, packed(*weight->constant, bytes, context, input, kernel));
      made->type = weight->constant->type;
      replacements.emplace_back(input, made);
    }
    for (const auto& [input, value] : replacements) node.set_input(input, value);
  }

  const LoweringOptions& options_;
  Lowering lowering_;
  std::vector<Problem> problems_;
};

}  // namespace

Lowering lower(Graph& graph, const LoweringOptions& options) {
  Lowerer lowerer(options);
  lowerer.run(graph);
  return lowerer.finish();
}

}  // namespace intarsia::converter
