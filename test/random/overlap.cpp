// SPDX-License-Identifier: Apache-2.0
#include "test/random/overlap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "core/plan_file.h"
#include "core/plan_structure.h"
#include "test/random/plan_runner.h"
#include "test/random/values.h"

namespace intarsia::test {
namespace {

/// Fixes the tensor's extents at those of the first run, the only one that is left.
void fix(RandomTensor& tensor) {
  tensor.values.resize(1);
  tensor.errors.resize(1);
  tensor.shape = {};
  for (int64_t extent : tensor.values[0].extents) tensor.shape.push(extent);
}

/// The node between copies of its operands, so that these lie in the arena and nothing else needs
/// them. Nothing if its inputs cannot vary as asked.
std::optional<RandomModel> alone(const RandomModel& model, const RandomNode& node, bool varying) {
  const OperatorDefinition* copy = definitions::OperatorRegistry::builtin().find("", "Identity");
  if (!node.branches.empty() || node.op == copy) return std::nullopt;
  RandomModel single = copy_of(model);
  single.nodes.clear();
  single.outputs.clear();
  if (!varying) single.runs.resize(1);
  const auto add_copy = [&](int original, bool of_input) {
    RandomTensor& tensor = single.tensor(original);
    if (!varying) fix(tensor);
    RandomTensor other = tensor;
    other.name += of_input ? "_given" : "_copy";
    other.kind = of_input ? RandomTensor::kInput : RandomTensor::kResult;
    if (of_input) tensor.kind = RandomTensor::kResult;
    const auto index = static_cast<int>(single.tensors.size());
    single.tensors.push_back(std::move(other));
    RandomNode step;
    step.op = copy;
    step.inputs = {of_input ? index : original};
    step.outputs = {of_input ? original : index};
    single.nodes.push_back(std::move(step));
    return index;
  };
  bool symbolic = false;
  std::vector<int> inputs = node.inputs;
  std::sort(inputs.begin(), inputs.end());
  inputs.erase(std::unique(inputs.begin(), inputs.end()), inputs.end());
  for (int input : inputs) {
    if (input < 0 || single.tensor(input).kind == RandomTensor::kConstant) continue;
    if (varying && !fits_input(single, single.tensor(input))) return std::nullopt;
    for (const Dim& extent : single.tensor(input).shape.extents) {
      symbolic = symbolic || !is_constant(extent);
    }
    add_copy(input, true);
  }
  if (varying && !symbolic) return std::nullopt;
  single.nodes.push_back(node);
  for (int output : node.outputs) {
    if (output >= 0) single.outputs.push_back(add_copy(output, false));
  }
  return single;
}

/// The parts of a plan that are changed.
class Records {
 public:
  explicit Records(ConvertedPlan& plan) : plan_(plan) {
    std::memcpy(&header_, plan.bytes.data(), sizeof(header_));
    root_ = plan::GetPlan(plan.bytes.data() + header_.structure_offset);
  }
  const plan::Plan& root() const { return *root_; }
  /// Moves a tensor, with the checksum made right.
  void move(const plan::Tensor* tensor, uint32_t place) {
    auto* record = const_cast<std::byte*>(reinterpret_cast<const std::byte*>(tensor));
    std::memcpy(record, &place, sizeof(place));  // its first field
    header_.checksum = plan_checksum(plan_.bytes.span(), header_);
    std::memcpy(plan_.bytes.data(), &header_, sizeof(header_));
  }

 private:
  ConvertedPlan& plan_;
  PlanHeader header_;
  const plan::Plan* root_ = nullptr;
};

/// The one node that is no copy; null if conversion has made several of it.
const plan::Node* node_of(const plan::Plan& root) {
  const plan::Node* found = nullptr;
  for (uint32_t i = 0; i < root.nodes()->size(); ++i) {
    if (root.operators()->Get(i)->str() == "Identity") continue;
    if (found != nullptr) return nullptr;
    found = root.nodes()->Get(i);
  }
  return found;
}

bool is_refusal_of_overlap(const std::string& text) {
  return text.find("in the memory of an input") != std::string::npos;
}

class Trial {
 public:
  Trial(const RandomModel& model, ConvertedPlan& plan, const converter::OperatorLibrary& library,
        Overlaps& overlaps)
      : model_(model), plan_(plan), library_(library), overlaps_(overlaps), records_(plan) {}

  void run() {
    const plan::Node* node = node_of(records_.root());
    if (node == nullptr) return;
    PlanRunner apart(model_, plan_, library_.kernels(), library_.services(), detect_isa());
    for (size_t run = 0; run < model_.runs.size(); ++run) {
      expected_.push_back(apart.run(run));
      if (!expected_.back().error.empty()) return;  // the oracle of passes looks at that
    }
    const auto number = static_cast<uint32_t>(node - records_.root().nodes()->Get(0));
    const auto operand = [&](uint32_t index) -> const plan::Tensor* {
      const plan::Plan& root = records_.root();
      const uint32_t tensor = root.operands()->Get(first_operand(root, number) + index);
      return tensor == kNone ? nullptr : records_.root().tensors()->Get(tensor);
    };
    kernel_ = records_.root().kernel_names()->Get(node->kernel())->str();
    for (uint32_t i = 0; i < node->inputs(); ++i) {
      for (uint32_t j = 0; j < node->outputs(); ++j) {
        const plan::Tensor* input = operand(i);
        const plan::Tensor* output = operand(node->inputs() + j);
        if (!in_arena(input) || !in_arena(output)) continue;
        lay_over(output, input->place(), fmt::format("output {} over input {}", j, i));
        lay_over(input, output->place(), fmt::format("input {} under output {}", i, j));
      }
    }
  }

 private:
  static bool in_arena(const plan::Tensor* tensor) {
    return tensor != nullptr && static_cast<Memory>(tensor->memory()) == Memory::kArena;
  }

  void lay_over(const plan::Tensor* moved, uint32_t place, const std::string& what) {
    const uint32_t before = moved->place();
    records_.move(moved, place);
    ++overlaps_.kernels[kernel_];
    compare(what);
    records_.move(moved, before);
  }

  void compare(const std::string& what) {
    PlanRunner runner(model_, plan_, library_.kernels(), library_.services(), detect_isa());
    if (!runner.opened()) {
      ++overlaps_.refused_at_open;
      return;
    }
    for (size_t run = 0; run < model_.runs.size(); ++run) {
      const PlanRun found = runner.run(run);
      if (is_refusal_of_overlap(found.error)) {
        ++overlaps_.refused_at_run;
        return;
      }
      bool same = found.error.empty();
      for (size_t i = 0; same && i < found.outputs.size(); ++i) {
        same = distance(found.outputs[i], expected_[run].outputs[i]) == 0.0;
      }
      if (same) continue;
      overlaps_.failures.push_back(fmt::format("model {}, {}, {}, run {}: {}", model_.seed, kernel_,
                                               what, run,
                                               found.error.empty() ? "differs" : found.error));
      return;
    }
    ++overlaps_.agreed;
  }

  const RandomModel& model_;
  ConvertedPlan& plan_;
  const converter::OperatorLibrary& library_;
  Overlaps& overlaps_;
  Records records_;
  std::vector<PlanRun> expected_;
  std::string kernel_;
};

}  // namespace

void try_overlaps(const RandomModel& model, const converter::OperatorLibrary& library,
                  Overlaps& overlaps) {
  // Plans' own kernels, but neither views nor shared memory nor simplifications.
  std::vector<converter::Pass> kernels;
  for (const converter::Pass& pass : converter::optimisation_passes()) {
    if (pass.name == "kernels") kernels.push_back(pass);
  }
  for (const RandomNode& node : model.nodes) {
    for (bool varying : {false, true}) {
      const std::optional<RandomModel> single = alone(model, node, varying);
      if (!single) continue;
      const std::string onnx = onnx_bytes(*single);
      for (std::span<const converter::Pass> passes :
           {std::span<const converter::Pass>(), std::span<const converter::Pass>(kernels)}) {
        converter::ConvertOptions options;
        options.library = std::shared_ptr<const converter::OperatorLibrary>(
            std::shared_ptr<const converter::OperatorLibrary>(), &library);
        options.passes = passes;
        ConvertedPlan plan = convert(*single, onnx, options);
        if (plan.error.empty()) Trial(*single, plan, library, overlaps).run();
      }
    }
  }
}

}  // namespace intarsia::test
