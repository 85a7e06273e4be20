// SPDX-License-Identifier: Apache-2.0
#include "test/random/shrink.h"

#include <algorithm>
#include <set>

#include "converter/graph/strings.h"
#include "test/random/loops.h"
#include "test/random/rounding.h"
#include "test/random/values.h"

namespace intarsia::test {
namespace {

/// Tensors that a node reads, its branches included.
void collect_reads(const RandomNode& node, std::set<int>& reads) {
  for (int input : node.inputs) {
    if (input >= 0) reads.insert(input);
  }
  for (const RandomBranch& branch : node.branches) {
    for (const RandomNode& inner : branch.nodes) collect_reads(inner, reads);
    reads.insert(branch.outputs.begin(), branch.outputs.end());
  }
}

/// Removes nodes that no wanted tensor depends on; `wanted` grows by what the others read.
void remove_dead(std::vector<RandomNode>& nodes, std::set<int>& wanted) {
  std::vector<RandomNode> kept;
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
    const bool used = std::any_of(node->outputs.begin(), node->outputs.end(),
                                  [&](int output) { return wanted.count(output) != 0; });
    if (!used) continue;
    for (RandomBranch& branch : node->branches) {
      std::set<int> inner(branch.outputs.begin(), branch.outputs.end());
      remove_dead(branch.nodes, inner);
    }
    collect_reads(*node, wanted);
    kept.push_back(std::move(*node));
  }
  std::reverse(kept.begin(), kept.end());
  nodes = std::move(kept);
}

void prune(RandomModel& model) {
  std::set<int> wanted(model.outputs.begin(), model.outputs.end());
  remove_dead(model.nodes, wanted);
}

/// The first `extents` of a tensor along each axis. REQUIRES: whole bytes, none larger.
Constant cropped(const Constant& tensor, const std::vector<int64_t>& extents) {
  const auto bytes = static_cast<size_t>(element_bits(tensor.type) / 8);
  std::vector<std::byte> result;
  std::vector<int64_t> index(extents.size(), 0);
  int64_t count = 1;
  for (int64_t extent : extents) count *= extent;
  for (int64_t i = 0; i < count; ++i) {
    int64_t at = 0;
    for (size_t axis = 0; axis < index.size(); ++axis) at = at * tensor.extents[axis] + index[axis];
    const std::byte* element = tensor.data.get() + static_cast<size_t>(at) * bytes;
    result.insert(result.end(), element, element + bytes);
    for (size_t axis = index.size(); axis-- > 0;) {
      if (++index[axis] < extents[axis]) break;
      index[axis] = 0;
    }
  }
  return converter::with_characters(tensor.type, extents, std::move(result),
                                    [&tensor](StringRef string) { return tensor.text(string); });
}

class Shrinker {
 public:
  Shrinker(const RandomModel& model, const converter::OperatorLibrary& library,
           const std::function<bool(const RandomModel&)>& fails)
      : best_(copy_of(model)), library_(library), fails_(fails) {
    prune(best_);
  }

  RandomModel run() {
    bool changed = true;
    while (changed && left_ > 0) {
      changed = single_output();
      changed |= fewer_runs();
      changed |= earlier_output();
      changed |= cut_nodes();
      changed |= bypass_nodes();
      changed |= inline_branches();
      changed |= simplify_nodes();
      changed |= smaller_extents();
    }
    return std::move(best_);
  }

 private:
  /// Keeps what `change` makes of the model if it still fails.
  bool attempt(const std::function<bool(RandomModel&)>& change) {
    if (left_ <= 0) return false;
    RandomModel candidate = copy_of(best_);
    if (!change(candidate)) return false;
    prune(candidate);
    if (candidate.outputs.empty() || candidate.nodes.empty()) return false;
    --left_;
    if (!fails_(candidate)) return false;
    best_ = std::move(candidate);
    return true;
  }

  bool single_output() {
    for (size_t i = 0; best_.outputs.size() > 1 && i < best_.outputs.size(); ++i) {
      if (attempt([i](RandomModel& model) {
            model.outputs = {model.outputs[i]};
            return true;
          })) {
        return true;
      }
    }
    return false;
  }

  bool fewer_runs() {
    bool changed = false;
    for (size_t i = best_.runs.size(); i-- > 0 && best_.runs.size() > 1;) {
      changed |= attempt([i](RandomModel& model) {
        const auto at = static_cast<std::ptrdiff_t>(i);
        model.runs.erase(model.runs.begin() + at);
        for (RandomTensor& tensor : model.tensors) {
          if (tensor.values.size() <= i) continue;
          tensor.values.erase(tensor.values.begin() + at);
          tensor.errors.erase(tensor.errors.begin() + at);
        }
        return true;
      });
    }
    return changed;
  }

  /// The inputs of the last node instead of its results.
  bool earlier_output() {
    return attempt([](RandomModel& model) {
      std::vector<int> outputs;
      for (int input : model.nodes.back().inputs) {
        if (input >= 0 && model.tensor(input).kind == RandomTensor::kResult) {
          outputs.push_back(input);
        }
      }
      model.nodes.pop_back();
      model.outputs = outputs;
      return !outputs.empty();
    });
  }

  /// Results become inputs that have their values.
  bool cut_nodes() {
    bool changed = false;
    for (size_t i = best_.nodes.size(); i-- > 0;) {
      if (i >= best_.nodes.size()) continue;
      changed |= attempt([i](RandomModel& model) {
        for (int output : model.nodes[i].outputs) {
          if (output < 0) continue;
          RandomTensor& tensor = model.tensor(output);
          if (!fits_input(model, tensor)) return false;
          if (std::count(model.outputs.begin(), model.outputs.end(), output) != 0) return false;
          tensor.kind = RandomTensor::kInput;
        }
        model.nodes.erase(model.nodes.begin() + static_cast<std::ptrdiff_t>(i));
        return true;
      });
    }
    return changed;
  }

  static void replace(std::vector<RandomNode>& nodes, int from, int to) {
    for (RandomNode& node : nodes) {
      std::replace(node.inputs.begin(), node.inputs.end(), from, to);
      for (RandomBranch& branch : node.branches) {
        replace(branch.nodes, from, to);
      }
    }
  }

  /// A node goes if one of its inputs has the type and extents of its result.
  bool bypass_nodes() {
    bool changed = false;
    for (size_t i = best_.nodes.size(); i-- > 0;) {
      if (i >= best_.nodes.size() || best_.nodes[i].outputs.empty()) continue;
      const RandomNode node = best_.nodes[i];
      const int output = node.outputs[0];
      if (output < 0) continue;
      for (int input : node.inputs) {
        if (input < 0 || best_.tensor(input).type != best_.tensor(output).type) continue;
        const bool done = attempt([&](RandomModel& model) {
          if (std::count(model.outputs.begin(), model.outputs.end(), output) != 0) return false;
          replace(model.nodes, output, input);
          model.nodes.erase(model.nodes.begin() + static_cast<std::ptrdiff_t>(i));
          return refresh(model);
        });
        changed |= done;
        if (done) break;
      }
    }
    return changed;
  }

  /// A branch instead of the node that chooses it.
  bool inline_branches() {
    for (size_t i = 0; i < best_.nodes.size(); ++i) {
      if (best_.nodes[i].op->control != definitions::Control::kBranches) continue;
      for (size_t b = 0; b < best_.nodes[i].branches.size(); ++b) {
        if (attempt([&](RandomModel& model) {
              RandomBranch branch = std::move(model.nodes[i].branches[b]);
              const std::vector<int> outputs = model.nodes[i].outputs;
              const auto at = model.nodes.begin() + static_cast<std::ptrdiff_t>(i);
              const auto next = model.nodes.erase(at);
              model.nodes.insert(next, branch.nodes.begin(), branch.nodes.end());
              for (size_t k = 0; k < outputs.size(); ++k) {
                replace(model.nodes, outputs[k], branch.outputs[k]);
                std::replace(model.outputs.begin(), model.outputs.end(), outputs[k],
                             branch.outputs[k]);
              }
              return refresh(model);
            })) {
          return true;
        }
      }
    }
    return false;
  }

  bool simplify_nodes() {
    bool changed = false;
    for (size_t i = 0; i < best_.nodes.size(); ++i) {
      if (!best_.nodes[i].branches.empty()) continue;
      const definitions::AttributeMap attributes = best_.nodes[i].attributes;
      for (const auto& [name, value] : attributes) {
        if (best_.nodes[i].op->facts.stream && name == "seed") continue;  // see draw_attributes
        changed |= attempt([&, key = name](RandomModel& model) {
          model.nodes[i].attributes.erase(key);
          return refresh(model);
        });
      }
      const auto& inputs = best_.nodes[i].op->inputs;
      const size_t count = best_.nodes[i].inputs.size();
      if (count == 0 || count > inputs.size()) continue;
      if (inputs[count - 1].kind != definitions::Parameter::kOptional) continue;
      changed |= attempt([i, this](RandomModel& model) {
        model.nodes[i].inputs.pop_back();
        return refresh(model);
      });
    }
    return changed;
  }

  /// All axes of one extent get a smaller one, in inputs and constants alike.
  bool smaller_extents() {
    std::set<int64_t> extents;
    for (const RandomTensor& tensor : best_.tensors) {
      if (tensor.kind == RandomTensor::kResult) continue;
      for (int axis = 0; axis < tensor.shape.rank; ++axis) {
        if (is_constant(tensor.shape[axis])) extents.insert(constant_value(tensor.shape[axis]));
      }
    }
    bool changed = false;
    for (auto extent = extents.rbegin(); extent != extents.rend(); ++extent) {
      for (int64_t smaller : {int64_t{1}, int64_t{2}, *extent / 2}) {
        if (smaller >= *extent || smaller < 1) continue;
        const bool done = attempt([&](RandomModel& model) {
          crop(model, *extent, smaller);
          return refresh(model);
        });
        changed |= done;
        if (done) break;
      }
    }
    return changed;
  }

  static void crop(RandomModel& model, int64_t from, int64_t to) {
    for (RandomTensor& tensor : model.tensors) {
      if (tensor.kind == RandomTensor::kResult || element_bits(tensor.type) < 8 ||
          holds_elements(tensor.type)) {
        continue;
      }
      bool changed = false;
      for (int axis = 0; axis < tensor.shape.rank; ++axis) {
        if (!is_constant(tensor.shape[axis]) || constant_value(tensor.shape[axis]) != from)
          continue;
        tensor.shape[axis] = to;
        changed = true;
      }
      for (Constant& value : tensor.values) {
        std::vector<int64_t> extents = value.extents;
        for (int axis = 0; axis < tensor.shape.rank; ++axis) {
          if (is_constant(tensor.shape[axis])) {
            extents[static_cast<size_t>(axis)] = constant_value(tensor.shape[axis]);
          }
        }
        if (changed) value = cropped(value, extents);
      }
    }
  }

  /// Computes all results anew; false if an operator refuses what has changed.
  bool refresh(RandomModel& model) {
    prune(model);
    for (RandomTensor& tensor : model.tensors) {
      if (tensor.kind == RandomTensor::kResult || tensor.values.empty()) continue;
      tensor.seen = {};
      tensor.seen.present = true;
      tensor.seen.type = tensor.type;
      tensor.seen.shape = tensor.shape;
      if (tensor.kind == RandomTensor::kConstant) tensor.seen = known_input(tensor.values.front());
    }
    return refresh(model, model.nodes);
  }

  bool refresh(RandomModel& model, const std::vector<RandomNode>& nodes) {
    for (const RandomNode& node : nodes) {
      if (!node.branches.empty()) {
        for (const RandomBranch& branch : node.branches) {
          if (!refresh(model, branch.nodes)) return false;
        }
        const bool loop = node.op->control != definitions::Control::kBranches;
        if (!(loop ? refresh_loop(model, node) : refresh_choice(model, node))) return false;
      } else if (!refresh_node(model, node)) {
        return false;
      }
    }
    return true;
  }

  static bool refresh_choice(RandomModel& model, const RandomNode& node) {
    const RandomTensor& condition = model.tensor(node.inputs[0]);
    RandomTensor& result = model.tensor(node.outputs[0]);
    const RandomTensor& yes = model.tensor(node.branches[0].outputs[0]);
    const RandomTensor& no = model.tensor(node.branches[1].outputs[0]);
    if (yes.shape.rank != no.shape.rank || yes.type != no.type) return false;
    for (int axis = 0; axis < yes.shape.rank; ++axis) {
      if (!(yes.shape[axis] == no.shape[axis])) return false;
    }
    result.shape = yes.shape;
    result.seen = yes.seen;
    result.seen.values.reset();
    for (size_t run = 0; run < model.runs.size(); ++run) {
      const RandomTensor& taken = condition.values[run].integer(0) != 0 ? yes : no;
      result.values[run] = taken.values[run];
      result.errors[run] = taken.errors[run];
    }
    return true;
  }

  /// The trips that a loop made are those that it has to make again.
  bool refresh_loop(RandomModel& model, const RandomNode& node) {
    for (size_t run = 0; run < model.runs.size(); ++run) {
      LoopResults results = execute_loop(model, node, run, library_);
      if (node.op->control == definitions::Control::kLoop &&
          results.trips != model.tensor(node.inputs[0]).values[run].integer(0)) {
        return false;
      }
      for (size_t i = 0; i < node.outputs.size(); ++i) {
        RandomTensor& output = model.tensor(node.outputs[i]);
        if (output.values[run].extents != results.values[i].extents) return false;
        output.values[run] = std::move(results.values[i]);
        output.errors[run] = results.errors[i];
      }
    }
    return true;
  }

  bool refresh_node(RandomModel& model, const RandomNode& node) {
    Candidate candidate{node.op, node.attributes, {}, {}};
    if (!node.op->attributes.read(node.attributes, candidate.blob).empty()) return false;
    for (int output : node.outputs) candidate.outputs.push_back(output >= 0);
    std::vector<const RandomTensor*> operands;
    for (int input : node.inputs) {
      operands.push_back(input >= 0 ? &model.tensor(input) : nullptr);
    }
    const auto inferred = infer(candidate, operands, *model.symbols, 1 << 16, library_);
    if (!inferred) return false;
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i] < 0) continue;
      RandomTensor& tensor = model.tensor(node.outputs[i]);
      tensor.type = inferred->outputs[i].type;
      tensor.shape = inferred->outputs[i].shape;
      tensor.bounds = inferred->bounds[i];
      tensor.seen = inferred->seen[i];
    }
    for (size_t run = 0; run < model.runs.size(); ++run) {
      std::vector<const Constant*> values;
      std::vector<double> errors;
      for (int input : node.inputs) {
        values.push_back(input >= 0 ? &model.tensor(input).values[run] : nullptr);
        errors.push_back(input >= 0 ? model.tensor(input).errors[run] : 0);
      }
      Random random(1);
      const auto results = execute_with_errors(candidate, values, errors, library_, random);
      if (!results) return false;
      for (size_t i = 0; i < node.outputs.size(); ++i) {
        if (node.outputs[i] < 0) continue;
        model.tensor(node.outputs[i]).values[run] = results->values[i];
        model.tensor(node.outputs[i]).errors[run] = results->errors[i];
      }
    }
    return true;
  }

  RandomModel best_;
  const converter::OperatorLibrary& library_;
  const std::function<bool(const RandomModel&)>& fails_;
  int left_ = 600;  // models that may be tried
};

}  // namespace

RandomModel shrink(const RandomModel& model, const converter::OperatorLibrary& library,
                   const std::function<bool(const RandomModel&)>& fails) {
  return Shrinker(model, library, fails).run();
}

}  // namespace intarsia::test
