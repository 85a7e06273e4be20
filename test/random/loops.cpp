// SPDX-License-Identifier: Apache-2.0
#include "test/random/loops.h"

#include <algorithm>
#include <map>

#include "converter/graph/strings.h"
#include "test/random/execute.h"
#include "test/random/rounding.h"

namespace intarsia::test {
namespace {

using definitions::Control;

struct Known {
  Constant value;
  double error = 0;
};

/// The tensor `parts` as one, along a new axis; in the order of the trips, or the reverse.
Constant joined(const std::vector<Constant>& parts, int axis, bool reversed) {
  const Constant& first = parts.front();
  int64_t outer = 1;
  for (int i = 0; i < axis; ++i) outer *= first.extents[static_cast<size_t>(i)];
  const size_t block = outer == 0 ? 0 : first.size / static_cast<size_t>(outer);
  std::string characters;
  std::vector<std::vector<std::byte>> elements;
  for (const Constant& part : parts) {
    elements.push_back(converter::with_strings_in(part, characters));
  }
  std::vector<std::byte> bytes;
  for (int64_t i = 0; i < outer; ++i) {
    for (size_t k = 0; k < parts.size(); ++k) {
      const std::vector<std::byte>& part = elements[reversed ? parts.size() - 1 - k : k];
      const std::byte* begin = part.data() + static_cast<size_t>(i) * block;
      bytes.insert(bytes.end(), begin, begin + block);
    }
  }
  std::vector<int64_t> extents = first.extents;
  extents.insert(extents.begin() + axis, static_cast<int64_t>(parts.size()));
  return converter::with_characters(first.type, std::move(extents), std::move(bytes), characters);
}

int64_t listed(const RandomNode& node, const char* name, size_t index) {
  const auto found = node.attributes.find(name);
  return found == node.attributes.end() ? 0 : std::get<std::vector<int64_t>>(found->second)[index];
}

class Execution {
 public:
  Execution(const RandomModel& model, const RandomNode& node, size_t run,
            const converter::OperatorLibrary& library, const Execution* around = nullptr)
      : model_(model),
        node_(node),
        body_(node.branches[0]),
        run_(run),
        library_(library),
        around_(around) {
    const bool scan = node.op->control == Control::kScan;
    // A body's own inputs and results come behind the number of the trip and the condition.
    first_input_ = scan ? 0 : 2;
    first_result_ = scan ? 0 : 1;
    if (scan) {
      const auto scanned = std::get<int64_t>(node.attributes.find("num_scan_inputs")->second);
      carried_ = node.inputs.size() - static_cast<size_t>(scanned);
    } else {
      carried_ = body_.inputs.size() - 2;
    }
  }

  LoopResults run() {
    LoopResults results;
    const int64_t trips = count();
    std::vector<Known> carried;
    for (size_t i = 0; i < carried_; ++i) carried.push_back(outer(node_.inputs[first_input_ + i]));
    const size_t collected = body_.outputs.size() - first_result_ - carried_;
    std::vector<std::vector<Constant>> parts(collected);
    std::vector<double> errors(collected, 0);
    for (; results.trips < trips; ++results.trips) {
      if (!run_trip(results.trips, carried)) break;
      bool fits = true;
      std::vector<Known> next, elements;
      for (size_t i = first_result_; i < body_.outputs.size(); ++i) {
        const Known result = known(body_.outputs[i]);
        (i < first_result_ + carried_ ? next : elements).push_back(result);
      }
      for (size_t i = 0; i < carried_; ++i) {
        fits = fits && next[i].value.extents == carried[i].value.extents;
      }
      for (size_t i = 0; i < collected; ++i) {
        fits = fits && (parts[i].empty() || parts[i][0].extents == elements[i].value.extents);
      }
      if (!fits) break;
      for (size_t i = 0; i < collected; ++i) {
        parts[i].push_back(elements[i].value);
        errors[i] = std::max(errors[i], elements[i].error);
      }
      carried = std::move(next);
    }
    for (const Known& value : carried) {
      results.values.push_back(value.value);
      results.errors.push_back(value.error);
    }
    for (size_t i = 0; i < collected; ++i) {
      results.values.push_back(collect(parts[i], i));
      results.errors.push_back(errors[i]);
    }
    return results;
  }

 private:
  Known outer(int number) const {
    if (around_ != nullptr) return around_->known(number);
    const RandomTensor& tensor = model_.tensor(number);
    return {tensor.values[run_], tensor.errors[run_]};
  }
  /// Inside of the body.
  Known known(int number) const {
    const auto found = inner_.find(number);
    return found != inner_.end() ? found->second : outer(number);
  }

  int64_t count() const {
    if (node_.op->control == Control::kLoop) return outer(node_.inputs[0]).value.integer(0);
    const Constant scanned = outer(node_.inputs[carried_]).value;
    return scanned.extents[static_cast<size_t>(listed(node_, "scan_input_axes", 0))];
  }

  bool run_trip(int64_t trip, const std::vector<Known>& carried) {
    inner_.clear();
    if (first_input_ == 2) {
      inner_[body_.inputs[0]] = {Constant::scalar<int64_t>(trip)};
      inner_[body_.inputs[1]] = {Constant::scalar<bool>(true)};
    }
    for (size_t i = 0; i < carried.size(); ++i) {
      inner_[body_.inputs[first_input_ + i]] = carried[i];
    }
    for (size_t i = first_input_ + carried_; i < body_.inputs.size(); ++i) {
      const Known all = outer(node_.inputs[i]);
      const size_t place = i - first_input_ - carried_;
      const int axis = static_cast<int>(listed(node_, "scan_input_axes", place));
      const int64_t length = all.value.extents[static_cast<size_t>(axis)];
      const bool reversed = listed(node_, "scan_input_directions", place) != 0;
      const int64_t index = reversed ? count() - 1 - trip : trip;
      if (index >= length) return false;
      inner_[body_.inputs[i]] = {slice_of(all.value, axis, index), all.error};
    }
    return execute(body_.nodes);
  }

  bool execute(const std::vector<RandomNode>& nodes) {
    return std::all_of(nodes.begin(), nodes.end(), [this](const RandomNode& node) {
      if (node.branches.empty()) return execute_node(node);
      return node.op->control == Control::kBranches ? execute_choice(node) : execute_inner(node);
    });
  }

  bool execute_choice(const RandomNode& node) {
    const bool first = known(node.inputs[0]).value.integer(0) != 0;
    const RandomBranch& taken = node.branches[first ? 0 : 1];
    if (!execute(taken.nodes)) return false;
    inner_[node.outputs[0]] = known(taken.outputs[0]);
    return true;
  }

  bool execute_inner(const RandomNode& node) {
    Execution execution(model_, node, run_, library_, this);
    const LoopResults results = execution.run();
    if (results.trips != execution.count()) return false;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      inner_[node.outputs[i]] = {results.values[i], results.errors[i]};
    }
    return true;
  }

  bool execute_node(const RandomNode& node) {
    Candidate candidate{node.op, node.attributes, {}, {}};
    if (!node.op->attributes.read(node.attributes, candidate.blob).empty()) return false;
    for (int output : node.outputs) candidate.outputs.push_back(output >= 0);
    const definitions::Facts& facts = node.op->facts;
    const bool may_expand = facts.expand != nullptr || facts.special.holds != nullptr;
    if (may_expand && !expand(node, candidate)) return false;
    std::vector<Known> operands;
    for (int input : node.inputs) operands.push_back(input >= 0 ? known(input) : Known());
    std::vector<const Constant*> values;
    std::vector<double> errors;
    for (size_t i = 0; i < operands.size(); ++i) {
      values.push_back(node.inputs[i] >= 0 ? &operands[i].value : nullptr);
      errors.push_back(operands[i].error);
    }
    Random random(1);
    const auto results = execute_with_errors(candidate, values, errors, library_, random);
    if (!results) return false;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] < 0) continue;
      inner_[node.outputs[i]] = {results->values[i], results->errors[i]};
    }
    return true;
  }

  bool expand(const RandomNode& node, Candidate& candidate) const {
    std::vector<const RandomTensor*> tensors;
    for (int input : node.inputs) {
      tensors.push_back(input >= 0 ? &model_.tensor(input) : nullptr);
    }
    return infer(candidate, tensors, *model_.symbols, 1 << 16, library_).has_value();
  }

  Constant collect(const std::vector<Constant>& parts, size_t i) const {
    if (parts.empty()) {
      const RandomTensor& element = model_.tensor(body_.outputs[first_result_ + carried_ + i]);
      std::vector<int64_t> extents{0};
      for (int axis = 0; axis < element.shape.rank; ++axis) {
        extents.push_back(element.shape[axis].upper());
      }
      return Constant::own(element.type, std::move(extents), {});
    }
    return joined(parts, static_cast<int>(listed(node_, "scan_output_axes", i)),
                  listed(node_, "scan_output_directions", i) != 0);
  }

  const RandomModel& model_;
  const RandomNode& node_;
  const RandomBranch& body_;
  size_t run_;
  const converter::OperatorLibrary& library_;
  const Execution* around_;  // that of the loop that holds this one
  size_t first_input_, first_result_, carried_;
  std::map<int, Known> inner_;
};

}  // namespace

Constant slice_of(const Constant& tensor, int axis, int64_t index) {
  int64_t outer = 1;
  for (int i = 0; i < axis; ++i) outer *= tensor.extents[static_cast<size_t>(i)];
  const int64_t extent = tensor.extents[static_cast<size_t>(axis)];
  const size_t row = outer == 0 ? 0 : tensor.size / static_cast<size_t>(outer);
  const size_t block = row / static_cast<size_t>(extent);
  std::vector<std::byte> bytes;
  for (int64_t i = 0; i < outer; ++i) {
    const std::byte* begin =
        tensor.data.get() + static_cast<size_t>(i) * row + static_cast<size_t>(index) * block;
    bytes.insert(bytes.end(), begin, begin + block);
  }
  std::vector<int64_t> extents = tensor.extents;
  extents.erase(extents.begin() + axis);
  return converter::with_characters(tensor.type, std::move(extents), std::move(bytes),
                                    [&tensor](StringRef string) { return tensor.text(string); });
}

LoopResults execute_loop(const RandomModel& model, const RandomNode& node, size_t run,
                         const converter::OperatorLibrary& library) {
  return Execution(model, node, run, library).run();
}

}  // namespace intarsia::test
