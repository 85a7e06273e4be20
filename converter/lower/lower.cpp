// SPDX-License-Identifier: Apache-2.0
#include "converter/lower/lower.h"

#include "converter/graph/node_extents.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "converter/graph/aligned_bytes.h"
#include "converter/graph/describe_text.h"
#include "intarsia/per_thread.h"

namespace intarsia::converter {
namespace {

/// Numbers of a weight that processors take a hundred times as long for: subnormal ones, which
/// count for nothing beside ordinary ones. Null if it has none, or is small altogether.
std::shared_ptr<std::byte> without_subnormals(const Constant& weight) {
  if (weight.type != DataType::kFloat) return nullptr;
  const std::span<const float> numbers = weight.as<float>();
  const auto subnormal = [](float x) { return std::fpclassify(x) == FP_SUBNORMAL; };
  const auto ordinary = [](float x) { return std::abs(x) >= 0x1p-60f; };
  if (std::ranges::none_of(numbers, subnormal) || std::ranges::none_of(numbers, ordinary)) {
    return nullptr;
  }
  std::shared_ptr<std::byte> memory = AlignedBytes(weight.size).share();
  std::ranges::replace_copy_if(numbers, reinterpret_cast<float*>(memory.get()), subnormal, 0.0f);
  return memory;
}

/// A weight keeps its extents when it is packed; its bytes are the kernel's own affair.
Constant packed(const Constant& original, int64_t bytes, const KernelContext& context, int input,
                const definitions::KernelRow& kernel) {
  Constant result;
  result.type = original.type;
  result.extents = original.extents;
  result.size = static_cast<size_t>(bytes);
  std::shared_ptr<std::byte> memory = AlignedBytes(result.size).share();
  std::memset(memory.get(), 0, result.size);
  KernelContext shown = context;
  std::vector<TensorView> operands;
  const std::shared_ptr<std::byte> numbers = without_subnormals(original);
  if (numbers != nullptr) {
    const TensorView* given = context.operands_;
    operands.assign(given, given + context.input_count_ + context.output_count_);
    operands[static_cast<size_t>(input)].data = numbers.get();
    shown.operands_ = operands.data();
  }
  kernel.pack(shown, input, memory.get());
  result.data = std::move(memory);
  return result;
}

/// Bytes of workspace that suffice at all extents, and for the pieces of threads to lie apart.
int64_t most_workspace(NodeExtents& extents, const definitions::KernelRow& kernel, int threads) {
  if (kernel.workspace == nullptr) return 0;
  int64_t most = kernel.workspace(extents.planned().context());
  for (OperandViews& views : extents.others()) {
    most = std::max(most, kernel.workspace(views.context()));
  }
  const auto gaps = static_cast<int64_t>(kThreadGap) * threads;
  return most > 0 && threads > 1 ? most + gaps : most;
}

class Lowerer {
 public:
  Lowerer(const LoweringOptions& options, const Model& model) : options_(options) {
    std::set<const std::byte*> counted;  // values share constants
    for_each_value(*model.graph, [&](const Value& value) {
      if (!value.constant || !counted.insert(value.constant->data.get()).second) return;
      packed_bytes_left_ += kMaxPackedGrowth * static_cast<int64_t>(value.constant->size);
    });
  }

  void run(Graph& graph) {
    const std::vector<Node*> nodes = graph.node_list();
    const bool is_main = graph.parent() == nullptr;
    for (size_t i = 0; i < nodes.size(); ++i) {
      lower_node(*nodes[i]);
      for (const SubGraph& sub : nodes[i]->graphs) run(*sub.graph);
      if (is_main && options_.progress != nullptr) options_.progress->step(i + 1, nodes.size());
    }
  }

  Lowering finish() {
    if (!problems_.empty()) throw Error(std::move(problems_));
    return std::move(lowering_);
  }

 private:
  void lower_node(Node& node) {
    NodeExtents extents(node, options_.threads);
    OperandViews& views = extents.planned();
    const KernelContext& context = views.context();
    const bool placed = options_.placement.count(&node) != 0;
    const KernelChoice choice =
        placed ? KernelChoice{.device = KernelDevice::kCuda} : options_.choice;
    const definitions::KernelRow* kernel = select_kernel(node, extents, *options_.rows, choice);
    if (kernel == nullptr) {
      problems_.push_back(no_kernel(node, *options_.rows, choice.device));
      return;
    }
    LoweredNode lowered;
    lowered.kernel = kernel;
    lowered.reads_device = reads_device(*kernel);
    lowered.writes_device = writes_device(*kernel);
    lowered.workspace_bytes = most_workspace(extents, *kernel, options_.threads);
    lowered.state_bytes = kernel->state(context);
    check(node, views, lowered);
    if (kernel->pack != nullptr) pack_weights(node, context, *kernel);
    lowering_[&node] = lowered;
  }

  /// What the kernel refuses at `open` is a problem of the model. Planned extents that vary need
  /// not agree, since `open` leaves them to the run: but what the smallest ones are refused for as
  /// well, and by the same numbers, is wrong in every run. The indices of sub-graphs are not known
  /// yet.
  void check(const Node& node, OperandViews& views, const LoweredNode& lowered) {
    if (lowered.kernel->kernel->check == nullptr || !node.graphs.empty()) return;
    const Status status = checked(views, *lowered.kernel, lowered.workspace_bytes);
    if (status.ok()) return;
    if (status.code() == Code::kWrongExtent && any_varies(node)) {
      OperandViews smallest;
      show_smallest(node, smallest);
      smallest.set_threads(options_.threads);
      if (checked(smallest, *lowered.kernel, lowered.workspace_bytes).ok()) return;
      if (!same_reason(views.diagnostic(), smallest.diagnostic())) return;
    }
    problems_.push_back(node.problem(describe_text(views.diagnostic())));
  }
  static bool same_reason(const Diagnostic& a, const Diagnostic& b) {
    return a.code == b.code && a.operand == b.operand && a.axis == b.axis &&
           a.expected == b.expected && a.found == b.found &&
           std::string_view(a.what) == std::string_view(b.what);
  }
  static bool any_varies(const Node& node) {
    const auto one = [](const Value* value) { return value != nullptr && varies(*value); };
    return std::any_of(node.inputs.begin(), node.inputs.end(), one) ||
           std::any_of(node.outputs.begin(), node.outputs.end(), one);
  }

  void pack_weights(Node& node, const KernelContext& context,
                    const definitions::KernelRow& kernel) {
    // Pack all inputs from the original ones before any of them is replaced.
    std::vector<std::pair<int, Value*>> replacements;
    for (int input = 0; input < static_cast<int>(node.inputs.size()); ++input) {
      const Value* weight = node.inputs[static_cast<size_t>(input)];
      if (weight == nullptr || !weight->constant) continue;
      const int64_t bytes = kernel.packed_bytes(context, input);
      if (bytes <= 0) continue;
      Value*& made = packed_[{node.graph, packing_key(node, context, kernel, input)}];
      if (made == nullptr) {
        packed_bytes_left_ -= bytes;
        if (packed_bytes_left_ < 0) {
          throw Error(node.problem(
              "nodes that share weights need them packed in different forms, which take more "
              "than " +
                  std::to_string(kMaxPackedGrowth) + " times the bytes of the model's constants",
              "choose kernels that do not pack: --plan-growth 1"));
        }
        made = node.graph->add_constant(weight->name,
                                        packed(*weight->constant, bytes, context, input, kernel));
      }
      replacements.emplace_back(input, made);
    }
    for (const auto& [input, value] : replacements) node.set_input(input, value);
  }

  /// All that a packed weight depends on: nodes for which it is the same share it.
  static std::string packing_key(const Node& node, const KernelContext& context,
                                 const definitions::KernelRow& kernel, int input) {
    std::string key;
    const auto append = [&key](const auto& value) {
      key.append(reinterpret_cast<const char*>(&value), sizeof(value));
    };
    append(kernel.key);
    append(input);
    for (int i = 0; i < context.input_count_ + context.output_count_; ++i) {
      const TensorView& operand = context.operands_[i];
      append(operand.type);
      append(operand.rank);
      for (int axis = 0; axis < operand.rank; ++axis) append(operand.extents[axis]);
      append(operand.data);  // of constants; others have none
    }
    key.append(reinterpret_cast<const char*>(node.attribute_bytes.data()),
               node.attribute_bytes.size());
    return key;
  }

  /// Padding to the width of a kernel makes small weights grow, but not that much.
  static constexpr int64_t kMaxPackedGrowth = 64;

  const LoweringOptions& options_;
  std::map<std::pair<const Graph*, std::string>, Value*> packed_;
  int64_t packed_bytes_left_ = int64_t{1} << 28;
  Lowering lowering_;
  std::vector<Problem> problems_;
};

}  // namespace

Lowering lower(const Model& model, const LoweringOptions& options) {
  Lowerer lowerer(options, model);
  lowerer.run(*model.graph);
  return lowerer.finish();
}

}  // namespace intarsia::converter
