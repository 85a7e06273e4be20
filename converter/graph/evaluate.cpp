// SPDX-License-Identifier: Apache-2.0
#include "converter/graph/evaluate.h"

#include <fmt/format.h>

#include "converter/graph/aligned_bytes.h"
#include "converter/graph/describe_text.h"
#include "converter/graph/kernel_selection.h"

namespace intarsia::converter {

std::vector<Constant> evaluate(const Node& node, const std::vector<const Constant*>& inputs,
                               const std::vector<OutputPlan>& outputs,
                               const definitions::KernelRows& rows,
                               std::span<const Service> services) {
  OperandViews views;
  views.set_services(services);
  for (const Constant* input : inputs) {
    if (input == nullptr) {
      views.add_absent(false);
    } else {
      views.add(false, input->type, input->extents, input->data.get());
    }
  }
  // One spare element keeps data pointers of empty tensors non-null.
  std::vector<std::vector<std::byte>> buffers;
  for (const OutputPlan& output : outputs) {
    if (!output.present) {
      buffers.emplace_back();
      views.add_absent(true);
      continue;
    }
    const int64_t bytes = checked_byte_size(output.type, output.extents);
    if (bytes < 0) throw Error(node.problem("an output's extents are too large"));
    buffers.emplace_back(static_cast<size_t>(bytes) + 16);
    views.add(true, output.type, output.extents, buffers.back().data());
  }
  views.set_attributes(node.attribute_bytes);
  KernelContext& context = views.context();
  const definitions::KernelDescriptor* row =
      select_kernel(node, context, rows, {Preference::kReference});
  if (row == nullptr) throw Error(no_kernel(node, rows));

  AlignedBytes workspace, state;
  if (row->workspace != nullptr) {
    context.workspace_bytes_ = static_cast<size_t>(row->workspace(context));
    workspace = AlignedBytes(context.workspace_bytes_);
    context.workspace_ = workspace.data();
  }
  if (row->state_bytes > 0) {
    state = AlignedBytes(static_cast<size_t>(row->state_bytes));
    context.state_ = state.data();
    context.state_bytes_ = state.span().size();
  }
  const Kernel& kernel = *row->kernel;
  if (kernel.run == nullptr) throw Error(node.problem("its kernel does not run on this machine"));
  Status status;
  if (kernel.check != nullptr) status = kernel.check(context);
  if (status.ok() && kernel.create != nullptr) status = kernel.create(context);
  const auto failure_text = [&] {
    if (views.diagnostic().code != status.code()) {
      status = context.fail(status.code(), "operator failed");
    }
    // The problem names the node.
    Diagnostic without_node = views.diagnostic();
    without_node.node = -1;
    return describe_text(without_node);
  };
  if (!status.ok()) throw Error(node.problem(failure_text()));
  status = kernel.run(context);
  // The message may lie in the state, so it is read before that is gone.
  const std::string failure = status.ok() ? "" : failure_text();
  if (kernel.destroy != nullptr) kernel.destroy(context);
  if (!failure.empty()) throw Error(node.problem(failure));

  std::vector<Constant> results;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!outputs[i].present) {
      results.emplace_back();
      continue;
    }
    std::vector<int64_t> extents = views.extents(static_cast<int>(inputs.size() + i));
    buffers[i].resize(static_cast<size_t>(checked_byte_size(outputs[i].type, extents)));
    results.push_back(Constant::own(outputs[i].type, std::move(extents), std::move(buffers[i])));
  }
  return results;
}

}  // namespace intarsia::converter
