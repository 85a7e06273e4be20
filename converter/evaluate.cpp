// SPDX-License-Identifier: Apache-2.0
#include "converter/evaluate.h"

#include <fmt/format.h>

#include "converter/kernel_selection.h"
#include "intarsia/describe.h"

namespace intarsia::converter {

std::string diagnostic_text(const Diagnostic& diagnostic) {
  Diagnostic without_node = diagnostic;
  without_node.node = -1;
  std::string text(describe(without_node, {}, nullptr, 0), '\0');
  describe(without_node, {}, text.data(), text.size() + 1);
  return text;
}

std::vector<Constant> evaluate(const Node& node, const std::vector<const Constant*>& inputs,
                               const std::vector<OutputPlan>& outputs,
                               const definitions::KernelRows& rows) {
  OperandViews views;
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

  std::vector<std::byte> workspace;
  if (row->workspace != nullptr) {
    const auto bytes = static_cast<size_t>(row->workspace(context));
    workspace.resize(bytes + 64);
    const size_t shift = 64 - reinterpret_cast<uintptr_t>(workspace.data()) % 64;
    context.workspace_ = workspace.data() + shift % 64;
    context.workspace_bytes_ = bytes;
  }
  Status status;
  if (row->kernel.check != nullptr) status = row->kernel.check(context);
  if (status.ok()) status = row->kernel.run(context);
  if (!status.ok()) throw Error(node.problem(diagnostic_text(views.diagnostic())));

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
