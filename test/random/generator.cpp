// SPDX-License-Identifier: Apache-2.0
#include "test/random/generator.h"

#include <algorithm>

#include "test/random/loop_maker.h"
#include "test/random/proposal.h"

namespace intarsia::test {
namespace {

using definitions::AxisForm;

constexpr int kAttempts = 30;

/// Convolutions, poolings and transpositions: what gives the layout pass something to do.
bool decides_layout(const OperatorDefinition& op) {
  const bool weighs = op.facts.axes.form == AxisForm::kImage && op.inputs.size() > 1 &&
                      static_cast<bool>(op.facts.axes.channels_last);
  return weighs || op.facts.axes.form == AxisForm::kPermutation;
}

/// Those of an operator that becomes others may be left out.
bool has_graphs(const OperatorDefinition& op) {
  return !op.graphs.empty() && op.control != definitions::Control::kInlined;
}

class Generator {
 public:
  Generator(uint64_t seed, const converter::OperatorLibrary& library, Coverage& coverage,
            Operators which = Operators::kOfModels)
      : library_(library),
        coverage_(coverage),
        random_(seed),
        operators_(operators_of(library, which)) {
    model_.seed = seed;
    for (const OperatorDefinition* op : operators_) {
      if (decides_layout(*op)) layout_operators_.push_back(op);
    }
  }

  RandomModel run() {
    const auto wanted = static_cast<size_t>(random_.between(5, 40));
    choose_runs();
    for (int64_t count = random_.between(1, 3); count > 0; --count) add_input();
    const bool with_layout = random_.chance(50) && !layout_operators_.empty();
    if (with_layout) add_image();
    for (int tries = 0; with_layout && tries < 20; ++tries) {
      if (add_node(*random_.pick(layout_operators_), pool_, model_.nodes)) break;
    }
    for (size_t tries = 0; model_.nodes.size() < wanted && tries < 20 * wanted; ++tries) {
      add_any_node(pool_, model_.nodes, 0);
    }
    choose_outputs();
    return std::move(model_);
  }

  std::optional<RandomModel> run_one(const OperatorDefinition& op, const Sizes& sizes) {
    constexpr int kTries = 10;
    model_.sizes = &sizes;
    model_.runs = {{}};
    if (has_graphs(op)) return std::nullopt;
    for (int tries = 0; tries < kTries; ++tries) {
      if (!add_node(op, pool_, model_.nodes)) continue;
      choose_outputs();
      const auto is_tensor = [](const RandomTensor& made) { return !holds_elements(made.type); };
      if (!std::ranges::all_of(model_.tensors, is_tensor)) return std::nullopt;
      return std::move(model_);
    }
    return std::nullopt;
  }

 private:
  void choose_runs() {
    for (int64_t count = random_.chance(40) ? random_.between(1, 2) : 0; count > 0; --count) {
      const std::string name(1, static_cast<char>('N' - model_.symbols->size()));
      model_.symbols->add(name, 1, random_.between(2, 6));
    }
    std::vector<int64_t> largest;
    for (int i = 0; i < model_.symbols->size(); ++i) largest.push_back((*model_.symbols)[i].max);
    model_.runs = {largest, largest};
    if (largest.empty()) return;
    std::vector<int64_t> one = largest, any = largest;
    one[static_cast<size_t>(random_.below(static_cast<int64_t>(one.size())))] = 1;
    for (int64_t& extent : any) extent = random_.between(1, extent);
    model_.runs.push_back(one);
    model_.runs.push_back(any);
  }

  std::string fresh_name() { return "t" + std::to_string(model_.tensors.size()); }

  int add_tensor(RandomTensor tensor) {
    tensor.name = fresh_name();
    model_.tensors.push_back(std::move(tensor));
    return static_cast<int>(model_.tensors.size()) - 1;
  }

  /// An input of any shape, float more often than not.
  void add_input() {
    add_input(random_.chance(70) ? DataType::kFloat : any_type(),
              draw_extents(*model_.sizes, random_));
  }
  /// An input as convolutions want it.
  void add_image() {
    std::vector<int64_t> extents{random_.between(1, 2), random_.pick<int64_t>({1, 3, 4, 8, 16})};
    for (int64_t axes = random_.pick({1, 2, 2, 2}); axes > 0; --axes) {
      extents.push_back(random_.between(3, 8));
    }
    add_input(DataType::kFloat, extents);
  }
  void add_input(DataType type, const std::vector<int64_t>& extents) {
    RandomTensor input;
    input.kind = RandomTensor::kInput;
    input.type = type;
    for (int64_t extent : extents) input.shape.push(extent);
    for (int axis = 0; axis < input.shape.rank && model_.symbols->size() > 0; ++axis) {
      if (has_zero(input) || !random_.chance(35)) continue;
      input.shape[axis] =
          model_.symbols->dim(static_cast<int>(random_.below(model_.symbols->size())));
    }
    input.seen.present = true;
    input.seen.type = type;
    input.seen.shape = input.shape;
    const Draw how = random_.chance(70) ? Draw::kAny : Draw::kPositive;
    for (const std::vector<int64_t>& run : model_.runs) {
      std::vector<int64_t> actual;
      for (int axis = 0; axis < input.shape.rank; ++axis) {
        actual.push_back(input.shape[axis].evaluate(run).value());
      }
      input.values.push_back(draw(type, actual, how, random_));
    }
    input.errors.assign(model_.runs.size(), 0);
    pool_.push_back(add_tensor(std::move(input)));
  }
  DataType any_type() { return static_cast<DataType>(random_.between(1, kLastDataType)); }

  /// Adds a node to `nodes` and its results to `pool`; what is new of its operands becomes an input
  /// or a constant of the model.
  bool add_node(const OperatorDefinition& op, Pool& pool, std::vector<RandomNode>& nodes) {
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      std::optional<Proposal> proposal = propose(op, model_, pool, library_, random_);
      if (!proposal) continue;
      RandomNode node;
      node.op = &op;
      node.attributes = std::move(proposal->candidate.attributes);
      bool behind = decides_layout(op);
      for (Operand& operand : proposal->operands) {
        int number = operand.tensor;
        if (operand.fresh) {
          number = add_tensor(std::move(operand.made));
          // A branch may not be the only one to know an input of the model, and need not be.
          if (&pool != &pool_) pool_.push_back(number);
          pool.push_back(number);
        }
        node.inputs.push_back(number);
        if (number < 0) continue;
        ++model_.tensor(number).uses;
        behind = behind || model_.tensor(number).behind_layout;
      }
      while (!node.inputs.empty() && node.inputs.back() < 0) node.inputs.pop_back();
      for (size_t i = 0; i < proposal->outputs.size(); ++i) {
        if (!proposal->candidate.outputs[i]) {
          node.outputs.push_back(-1);
          continue;
        }
        proposal->outputs[i].behind_layout = behind;
        node.outputs.push_back(add_tensor(std::move(proposal->outputs[i])));
        pool.push_back(node.outputs.back());
      }
      nodes.push_back(std::move(node));
      ++coverage_[op.qualified_name()];
      return true;
    }
    return false;
  }

  // -- Branches
  // ------------------------------------------------------------------------------------

  /// A node that holds graphs: a condition and two branches whose results agree in type and rank.
  bool add_branches(const OperatorDefinition& op, Pool& around, std::vector<RandomNode>& nodes,
                    int depth) {
    const Attempt attempt = begin_attempt();
    const Pool outer = around;
    std::vector<RandomBranch> branches(2);
    int first = -1;
    for (size_t i = 0; i < branches.size(); ++i) {
      Pool pool = outer;
      const int64_t count = random_.between(1, 3);
      for (int64_t n = 0; n < count; ++n) add_any_node(pool, branches[i].nodes, depth + 1);
      int result = result_like(first, branches[i].nodes);
      for (int tries = 0; result < 0 && tries < 60; ++tries) {
        if (add_plain_node(pool, branches[i].nodes)) result = result_like(first, branches[i].nodes);
        if (branches[i].nodes.size() > 6) break;
      }
      if (result < 0) {
        give_up(attempt);
        around = outer;
        return false;
      }
      branches[i].outputs = {result};
      ++model_.tensor(result).uses;
      first = result;
    }
    nodes.push_back(finish_branches(op, std::move(branches)));
    around.push_back(nodes.back().outputs[0]);
    return true;
  }

  /// What is taken back where a node with sub-graphs does not come about: nothing refers to what
  /// was made for them.
  struct Attempt {
    size_t tensors;
    Coverage coverage;
    Pool pool;
  };
  Attempt begin_attempt() const { return {model_.tensors.size(), coverage_, pool_}; }
  void give_up(const Attempt& attempt) {
    coverage_ = attempt.coverage;
    pool_ = attempt.pool;
    model_.tensors.resize(attempt.tensors);
  }

  /// Nodes of loops draw other random numbers in each trip, which one execution does not tell.
  const OperatorDefinition& pick_operator() {
    for (;;) {
      const OperatorDefinition& op = *random_.pick(operators_);
      if (loops_ == 0 || !op.facts.stream) return op;
    }
  }

  /// A node of any operator; sub-graphs nest to a depth of three.
  bool add_any_node(Pool& pool, std::vector<RandomNode>& nodes, int depth) {
    const OperatorDefinition& op = pick_operator();
    if (!has_graphs(op)) return add_node(op, pool, nodes);
    if (depth == 3 || op.control == definitions::Control::kMap) return false;
    return op.control == definitions::Control::kBranches ? add_branches(op, pool, nodes, depth)
                                                         : add_loop(op, pool, nodes, depth);
  }

  bool add_plain_node(Pool& pool, std::vector<RandomNode>& nodes) {
    const OperatorDefinition& op = pick_operator();
    return !has_graphs(op) && add_node(op, pool, nodes);
  }

  /// The last result of `nodes` with type and rank of `like`, or the last one where that is -1.
  int result_like(int like, const std::vector<RandomNode>& nodes) const {
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
      for (int output : node->outputs) {
        if (output < 0) continue;
        if (like < 0) return output;
        const RandomTensor &a = model_.tensor(output), &b = model_.tensor(like);
        if (a.type == b.type && a.shape.rank == b.shape.rank) return output;
      }
    }
    return -1;
  }

  RandomNode finish_branches(const OperatorDefinition& op, std::vector<RandomBranch> branches) {
    RandomTensor condition;
    condition.kind = RandomTensor::kInput;
    condition.type = DataType::kBool;
    condition.seen.present = true;
    condition.seen.type = condition.type;
    const bool first = random_.chance(50);
    for (size_t run = 0; run < model_.runs.size(); ++run) {
      condition.values.push_back(Constant::scalar((run % 2 == 0) == first));
    }
    condition.errors.assign(model_.runs.size(), 0);
    condition.uses = 1;

    const RandomTensor& yes = model_.tensor(branches[0].outputs[0]);
    const RandomTensor& no = model_.tensor(branches[1].outputs[0]);
    RandomTensor result;
    result.type = yes.type;
    for (int axis = 0; axis < yes.shape.rank; ++axis) {
      const Dim &a = yes.shape[axis], &b = no.shape[axis];
      result.shape.push(
          a == b ? a
                 : Dim::unknown(std::min(a.lower(), b.lower()), std::max(a.upper(), b.upper())));
    }
    for (size_t run = 0; run < model_.runs.size(); ++run) {
      const RandomTensor& taken = condition.values[run].integer(0) != 0 ? yes : no;
      result.values.push_back(taken.values[run]);
      result.errors.push_back(taken.errors[run]);
    }
    result.behind_layout = yes.behind_layout || no.behind_layout;
    result.seen.present = true;
    result.seen.type = result.type;
    result.seen.shape = result.shape;
    result.seen.sequence = join(yes.seen.sequence, no.seen.sequence);
    RandomNode node;
    node.op = &op;
    node.branches = std::move(branches);
    node.inputs = {add_tensor(std::move(condition))};
    node.outputs = {add_tensor(std::move(result))};
    ++coverage_[op.qualified_name()];
    return node;
  }

  // -- Loops
  // ------------------------------------------------------------------------------------

  /// A node that runs a graph again and again; see LoopMaker.
  bool add_loop(const OperatorDefinition& op, Pool& around, std::vector<RandomNode>& nodes,
                int depth) {
    const Attempt attempt = begin_attempt();
    const Pool outer = around;
    LoopMaker maker(op, model_, library_, random_);
    Pool pool = maker.begin(around);
    ++loops_;
    for (int64_t count = random_.between(1, 5); count > 0; --count) {
      // Loops in loops more often than chance would have it.
      if (depth < 2 && random_.chance(10)) {
        add_loop(op, pool, maker.body().nodes, depth + 1);
      } else {
        add_any_node(pool, maker.body().nodes, depth + 1);
      }
    }
    --loops_;
    std::optional<RandomNode> node = maker.finish();
    if (!node) {
      give_up(attempt);
      around = outer;
      return false;
    }
    around.insert(around.end(), node->outputs.begin(), node->outputs.end());
    nodes.push_back(std::move(*node));
    ++coverage_[op.qualified_name()];
    return true;
  }

  /// Every result that nobody reads, and some that somebody does.
  void choose_outputs() {
    for (const RandomNode& node : model_.nodes) {
      for (int output : node.outputs) {
        if (output >= 0 && (model_.tensor(output).uses == 0 || random_.chance(20))) {
          model_.outputs.push_back(output);
        }
      }
    }
  }

  const converter::OperatorLibrary& library_;
  Coverage& coverage_;
  Random random_;
  std::vector<const OperatorDefinition*> operators_, layout_operators_;
  RandomModel model_;
  Pool pool_;
  int loops_ = 0;  // around what is being made
};

bool is_of_tensors(const OperatorDefinition& op) {
  const definitions::TypeSet holders =
      definitions::types({DataType::kSequence, DataType::kOptional, DataType::kMap});
  return std::ranges::none_of(op.types, [&](const definitions::TypeConstraint& constraint) {
    return (constraint.allowed & holders) == constraint.allowed;
  });
}

}  // namespace

std::vector<const OperatorDefinition*> operators_of(const converter::OperatorLibrary& library,
                                                    Operators which) {
  std::vector<const OperatorDefinition*> operators;
  for (const OperatorDefinition* op : library.operators().all()) {
    if (op->impure || op->facts.rounds_within) continue;  // nothing to compare with
    const bool own = op->domain == definitions::kInternalDomain;
    if (own && (which == Operators::kOfModels || !is_of_tensors(*op))) {
      continue;
    }
    if (op->until_version < converter::kNewestOpset && op->domain.empty()) continue;
    operators.push_back(op);
  }
  return operators;
}

RandomModel random_model(uint64_t seed, const converter::OperatorLibrary& library,
                         Coverage& coverage, Operators which) {
  return Generator(seed, library, coverage, which).run();
}

std::optional<RandomModel> random_node(uint64_t seed, const OperatorDefinition& op,
                                       const converter::OperatorLibrary& library,
                                       const Sizes& sizes) {
  Coverage coverage;
  return Generator(seed, library, coverage).run_one(op, sizes);
}

}  // namespace intarsia::test
