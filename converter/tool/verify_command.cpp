// SPDX-License-Identifier: Apache-2.0
//
// `intarsia verify`: runs the plan as it would be shipped, and compares
//   - the results of every node with those of its reference kernel on the very inputs that the node
//     saw, which shows kernels that are wrong or imprecise,
//   - the outputs with those of the model as imported, which shows passes that are wrong.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "converter/graph/kernel_selection.h"
#include "converter/tool/commands.h"
#include "converter/tool/compare.h"
#include "converter/tool/options.h"
#include "converter/tool/output_check.h"
#include "converter/tool/plan_text.h"
#include "converter/tool/program.h"

namespace intarsia::tool {
namespace {

using converter::Constant;
using converter::OperandViews;

struct Arguments {
  std::string model;
  ConversionArguments conversion;
  InputArguments inputs;
};

struct Row {
  int32_t node;
  int output;
  Difference difference;
};

/// Both plans come from one graph, so that node i is the same operation in both; the second has
/// unpacked weights and reference kernels.
class Verifier {
 public:
  explicit Verifier(const converter::OperatorLibrary& library) : library_(library) {}

  void set_reference(std::span<const std::byte> plan) {
    reference_ = std::make_unique<PlanText>(plan);
    weights_ = plan.data() + reference_->header().weights_offset;
  }

  static void before(void* self, const KernelContext& context) {
    auto& saved = static_cast<Verifier*>(self)->inputs_;
    saved.clear();
    if (static_cast<Verifier*>(self)->is_control_flow(context)) return;
    for (int i = 0; i < context.input_count(); ++i) {
      const bool keep = context.input(i).present();
      saved.push_back(keep ? constant_of(context.input(i), context) : Constant());
    }
  }
  static void after(void* self, const KernelContext& context) {
    static_cast<Verifier*>(self)->compare_node(context);
  }

  const std::vector<Row>& rows() const { return rows_; }
  const PlanText& reference() const { return *reference_; }

 private:
  /// It is compared node by node inside its branches, and some of its operands are results of
  /// those.
  bool is_control_flow(const KernelContext& context) const {
    return reference_->is_control_flow(static_cast<uint32_t>(context.node()));
  }

  void compare_node(const KernelContext& context) {
    const auto index = static_cast<uint32_t>(context.node());
    const plan::Node& node = reference_->node(index);
    const Kernel& kernel = kernel_of(reference_->root().kernels()->Get(node.kernel()));
    if (is_control_flow(context) || context.output_count() == 0) return;
    // What a node in a loop draws depends on how often it ran; there is one kernel for each type.
    if (reference_->draws(index)) return;
    // There is one kernel for strings and maps, and no distance between them.
    for (int i = 0; i < context.input_count() + context.output_count(); ++i) {
      const DataType type = context.operands_[i].type;
      if (type == DataType::kString || type == DataType::kMap) return;
    }

    OperandViews views;
    views.set_services(library_.services());
    for (int i = 0; i < context.input_count(); ++i) {
      const Constant& input = inputs_[static_cast<size_t>(i)];
      const plan::Tensor* tensor = reference_->operand(index, static_cast<uint32_t>(i));
      if (tensor == nullptr) {
        views.add_absent(false);
        continue;
      }
      const bool weight = static_cast<Memory>(tensor->memory()) == Memory::kWeights;
      views.add(false, input.type, input.extents,
                weight ? weights_ + tensor->place() * kWeightUnit : input.data.get());
    }
    std::vector<Constant> found;
    std::vector<std::vector<std::byte>> buffers;
    for (int i = 0; i < context.output_count(); ++i) {
      const TensorView& output = context.output(i);
      if (!output.present()) {
        found.emplace_back();
        views.add_absent(true);
        continue;
      }
      found.push_back(constant_of(output, context));
      buffers.emplace_back(found.back().size + 16);
      views.add(true, output.type, found.back().extents, buffers.back().data());
    }
    const auto* attributes = static_cast<const std::byte*>(context.attributes_);
    views.set_attributes({attributes, context.attribute_bytes()});
    KernelContext& reference = views.context();
    uint32_t operand = uint32_t{node.inputs()} + node.outputs();
    const auto scratch = [&](uint16_t flag) {
      if ((node.shape() & flag) == 0) return AlignedBytes(0);
      return AlignedBytes(
          static_cast<size_t>(reference_->bytes(*reference_->operand(index, operand++))));
    };
    AlignedBytes workspace = scratch(kHasWorkspace), state = scratch(kHasState);
    reference.workspace_ = workspace.span().data();
    reference.workspace_bytes_ = workspace.span().size();
    // A fresh state, as that of the program was: it runs once.
    reference.state_ = state.span().data();
    reference.state_bytes_ = state.span().size();
    Status status;
    if (kernel.create != nullptr) status = kernel.create(reference);
    const bool created = status.ok();
    if (created) status = kernel.run(reference);
    // The message may lie in the state, so it is read before that is gone.
    const std::string failure = status.ok() ? "" : describe_text(views.diagnostic());
    if (created && kernel.destroy != nullptr) kernel.destroy(reference);
    if (!status.ok()) {
      throw converter::Error(
          fmt::format("the reference kernel of node {} fails: {}", context.node(), failure));
    }
    size_t buffer = 0;
    for (int i = 0; i < context.output_count(); ++i) {
      const Constant& result = found[static_cast<size_t>(i)];
      if (!context.output(i).present()) continue;
      std::vector<std::byte>& bytes = buffers[buffer++];
      bytes.resize(result.size);
      const Constant expected = Constant::own(result.type, result.extents, std::move(bytes));
      if (!result.is_real() && !result.is_integer()) continue;
      rows_.push_back({context.node(), i, difference(result, expected)});
    }
  }

  const Kernel& kernel_of(uint64_t key) const {
    for (const Kernel* kernel : library_.kernels().kernels) {
      if (kernel->key == key) return *kernel;
    }
    throw converter::Error("the reference plan names a kernel that is not linked");
  }

  const converter::OperatorLibrary& library_;
  std::unique_ptr<PlanText> reference_;
  const std::byte* weights_ = nullptr;
  std::vector<Constant> inputs_;
  std::vector<Row> rows_;
};

// Relative to the largest element of a result; half types round at 2^-11 and 2^-8.
constexpr double kLimit = 1e-2;

void print_difference(const Difference& difference) {
  fmt::print("{:12.4g} {:12.4g} {:10.3g}  ", difference.absolute, difference.relative,
             difference.ulp);
}

bool verify_nodes(const Arguments& arguments, const Values& inputs, Program::Options options) {
  Verifier verifier(options.conversion.operators());
  const Observer observer{&verifier, &Verifier::before, &Verifier::after};
  // Nodes keep one order, so that both plans agree node by node.
  const std::vector<converter::Pass> slow = converter::passes_without({"kernels", "order"});
  const std::vector<converter::Pass> fast = converter::passes_without({"order"});
  options.conversion.passes = slow;
  const Program reference(arguments.model, inputs, options);
  verifier.set_reference(reference.plan());
  options.conversion.passes = fast;
  options.observer = &observer;
  Program program(arguments.model, inputs, options);
  if (node_count(program.plan()) != node_count(reference.plan())) {
    throw converter::Error(
        "the plan and its reference differ in their nodes; verify needs an ONNX "
        "model, not a plan");
  }
  program.set_inputs(program.completed(inputs));
  program.run();

  std::vector<Row> rows = verifier.rows();
  std::stable_sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    return a.difference.relative > b.difference.relative;
  });
  const PlanText& text = verifier.reference();
  fmt::print("{:>12} {:>12} {:>10}  node\n", "absolute", "relative", "ULP");
  for (const Row& row : rows) {
    const auto index = static_cast<uint32_t>(row.node);
    print_difference(row.difference);
    fmt::print("{} {} '{}' output {}\n", index, text.operator_name(index), text.node_name(index),
               row.output);
  }
  const double worst = rows.empty() ? 0 : rows.front().difference.relative;
  fmt::print("{} results compared, largest error {:.3g} of the result's scale\n", rows.size(),
             worst);
  return worst <= kLimit;
}

/// The outputs of the plan that a prefix of the passes makes.
Outputs outputs_after(std::span<const converter::Pass> passes, const Arguments& arguments,
                      const Values& inputs, Program::Options options) {
  options.conversion.passes = passes;
  Program program(arguments.model, inputs, options);
  program.set_inputs(program.completed(inputs));
  program.run();
  return program.outputs();
}

bool verify_outputs(const Arguments& arguments, const Values& inputs,
                    const Program::Options& options) {
  const PassCheck check = check_passes(
      options.conversion.passes,
      [&](std::span<const converter::Pass> passes) {
        return outputs_after(passes, arguments, inputs, options);
      },
      kLimit);
  double worst = 0;
  for (const OutputDifference& row : check.rows) {
    print_difference(row.difference);
    fmt::print("output '{}'{}{}\n", row.name, row.mismatch.empty() ? "" : ": ", row.mismatch);
    worst = std::max(worst, row.difference.relative);
  }
  fmt::print(
      "{} outputs compared with those of the model as imported, largest error {:.3g} of the "
      "output's scale\n",
      check.rows.size(), worst);
  if (check.agrees) return true;
  if (check.first == nullptr) {
    fmt::print("they differ, although they agree after each single pass\n");
  } else {
    fmt::print("they differ first after the pass '{}'\n", check.first->name);
  }
  return false;
}

int verify(const Arguments& arguments) {
  const Values inputs = arguments.inputs.read();
  Program::Options options;
  options.conversion = arguments.conversion.parse();
  const bool nodes = verify_nodes(arguments, inputs, options);
  const bool outputs = verify_outputs(arguments, inputs, options);
  return nodes && outputs ? 0 : 1;
}

}  // namespace

Command add_verify(CLI::App& app) {
  auto arguments = std::make_shared<Arguments>();
  app.add_option("model", arguments->model, "the ONNX model")->required()->type_name("MODEL.onnx");
  arguments->inputs.add_to(app);
  app.add_option("--threads", arguments->conversion.threads, "threads to run on")
      ->check(CLI::Range(1, 1024));
  arguments->conversion.add_to(app);
  return [arguments] { return verify(*arguments); };
}

}  // namespace intarsia::tool
