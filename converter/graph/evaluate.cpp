// SPDX-License-Identifier: Apache-2.0
#include "converter/graph/evaluate.h"

#include <fmt/format.h>

#include <algorithm>

#include "converter/graph/aligned_bytes.h"
#include "converter/graph/describe_text.h"
#include "converter/graph/kernel_selection.h"
#include "converter/graph/strings.h"

namespace intarsia::converter {

namespace {

/// Bytes for strings that a kernel makes, if it does: at first, and at most.
constexpr size_t kFirstCharacters = 4096, kMostCharacters = size_t{1} << 28;

/// One execution of a node with known inputs.
class Evaluation {
 public:
  Evaluation(const Node& node, const std::vector<const Constant*>& inputs,
             const std::vector<OutputPlan>& outputs, const definitions::KernelRows& rows)
      : node_(node), outputs_(outputs), rows_(rows), inputs_(inputs.size()) {
    for (const Constant* input : inputs) {
      if (input == nullptr) {
        views_.add_absent(false);
        continue;
      }
      const void* data = input->data.get();
      if (input->characters != nullptr) {
        strings_.push_back(with_strings_in(*input, constants_));
        data = strings_.back().data();
      }
      views_.add(false, input->type, input->extents, data);
    }
    // One spare element keeps data pointers of empty tensors non-null.
    for (const OutputPlan& output : outputs) {
      if (!output.present) {
        buffers_.emplace_back();
        views_.add_absent(true);
        continue;
      }
      const int64_t bytes = checked_byte_size(output.type, output.extents);
      if (bytes < 0) throw Error(node.problem("an output's extents are too large"));
      buffers_.emplace_back(static_cast<size_t>(bytes) + 16);
      views_.add(true, output.type, output.extents, buffers_.back().data());
    }
    views_.set_attributes(node.attribute_bytes);
  }

  /// Executes the node with room for so many bytes of strings. False if that does not suffice.
  bool run(size_t characters, std::span<const Service> services) {
    views_.set_services(services);
    characters_.resize(characters);
    pool_ = StringPool(constants_, characters_);
    views_.set_strings(&pool_);
    KernelContext& context = views_.context();
    const definitions::KernelRow* row =
        select_kernel(node_, context, rows_, {Preference::kReference});
    if (row == nullptr) throw Error(no_kernel(node_, rows_));
    AlignedBytes workspace, state;
    if (row->workspace != nullptr) {
      context.workspace_bytes_ = static_cast<size_t>(row->workspace(context));
      workspace = AlignedBytes(context.workspace_bytes_);
      context.workspace_ = workspace.data();
    }
    if (const int64_t bytes = row->state(context); bytes > 0) {
      state = AlignedBytes(static_cast<size_t>(bytes));
      context.state_ = state.data();
      context.state_bytes_ = state.span().size();
    }
    const Kernel& kernel = *row->kernel;
    if (kernel.run == nullptr) {
      throw Error(node_.problem("its kernel does not run on this machine"));
    }
    Status status;
    if (kernel.check != nullptr) status = kernel.check(context);
    if (status.ok() && kernel.create != nullptr) status = kernel.create(context);
    if (!status.ok()) throw Error(node_.problem(failure_text(status)));
    status = kernel.run(context);
    // The message may lie in the state, so it is read before that is gone.
    const std::string failure = status.ok() ? "" : failure_text(status);
    if (kernel.destroy != nullptr) kernel.destroy(context);
    if (status == Code::kTooManyCharacters && characters < kMostCharacters) return false;
    if (!failure.empty()) throw Error(node_.problem(failure));
    return true;
  }

  std::vector<Constant> results() {
    std::vector<Constant> results;
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (!outputs_[i].present) {
        results.emplace_back();
        continue;
      }
      std::vector<int64_t> extents = views_.extents(static_cast<int>(inputs_ + i));
      buffers_[i].resize(static_cast<size_t>(checked_byte_size(outputs_[i].type, extents)));
      results.push_back(with_characters(outputs_[i].type, std::move(extents),
                                        std::move(buffers_[i]),
                                        [this](StringRef string) { return pool_[string]; }));
    }
    return results;
  }

 private:
  std::string failure_text(Status status) {
    if (views_.diagnostic().code != status.code()) {
      static_cast<void>(views_.context().fail(status.code(), "operator failed"));
    }
    // The problem names the node.
    Diagnostic without_node = views_.diagnostic();
    without_node.node = -1;
    return describe_text(without_node);
  }

  const Node& node_;
  const std::vector<OutputPlan>& outputs_;
  const definitions::KernelRows& rows_;
  const size_t inputs_;
  std::string constants_;                        // characters of the inputs
  std::vector<std::vector<std::byte>> strings_;  // inputs with strings, which lie there
  std::vector<std::vector<std::byte>> buffers_;  // outputs
  std::vector<char> characters_;                 // what the kernel adds
  StringPool pool_;
  OperandViews views_;
};

}  // namespace

std::vector<Constant> evaluate(const Node& node, const std::vector<const Constant*>& inputs,
                               const std::vector<OutputPlan>& outputs,
                               const definitions::KernelRows& rows,
                               std::span<const Service> services) {
  for (size_t characters = 0;; characters = std::max(kFirstCharacters, 16 * characters)) {
    Evaluation evaluation(node, inputs, outputs, rows);
    if (evaluation.run(characters, services)) return evaluation.results();
  }
}

}  // namespace intarsia::converter
