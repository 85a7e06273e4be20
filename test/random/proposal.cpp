// SPDX-License-Identifier: Apache-2.0
#include "test/random/proposal.h"

#include <algorithm>

#include "test/random/extent_forms.h"
#include "test/random/rounding.h"
#include "test/random/trees.h"

namespace intarsia::test {
namespace {

using definitions::AxisRole;
using definitions::Domain;
using definitions::Parameter;
using definitions::SymbolicInput;

constexpr int kMendings = 10, kMendingsOfOperand = 3;

class Proposer {
 public:
  Proposer(const OperatorDefinition& op, const RandomModel& model, const Pool& pool,
           const converter::OperatorLibrary& library, Random& random)
      : model_(model), pool_(pool), library_(library), random_(random) {
    result_.candidate.op = &op;
  }

  std::optional<Proposal> run() {
    Candidate& candidate = result_.candidate;
    if (has_forms())
      forms_.emplace(op(), draw_attributes(op(), 0, sizes(), random_), model_, random_);
    choose_operands();
    // A file has sequences only where nodes make them.
    for (const Operand& operand : result_.operands) {
      if (operand.fresh && operand.made.type == DataType::kUndefined) return std::nullopt;
    }
    const int rank = result_.operands.empty() ? 0 : seen(0).shape.rank;
    candidate.attributes = draw_attributes(op(), rank, sizes(), random_);
    if (forms_) forms_->complete(candidate.attributes);
    if (!op().attributes.read(candidate.attributes, candidate.blob).empty()) return std::nullopt;
    choose_outputs();
    complete_lists();
    if (!fill_from(0) || !infer_results() || (sizes().executed && !execute_runs())) {
      return std::nullopt;
    }
    return std::move(result_);
  }

 private:
  const Sizes& sizes() const { return *model_.sizes; }
  const OperatorDefinition& op() const { return *result_.candidate.op; }
  const Parameter& parameter(size_t index) const { return *formal(op().inputs, index); }

  const RandomTensor& tensor_of(size_t index) const {
    const Operand& operand = result_.operands[index];
    return operand.fresh ? operand.made : model_.tensor(operand.tensor);
  }
  SymbolicInput seen(size_t index) const {
    if (index >= result_.operands.size() || !result_.operands[index].present()) return {};
    return tensor_of(index).seen;
  }

  // -- Operands
  // ------------------------------------------------------------------------------------

  void choose_operands() {
    const std::vector<Parameter>& inputs = op().inputs;
    size_t count = inputs.size();
    if (const size_t turns = definitions::variadic_count(inputs); turns > 0) {
      const int least = std::max(0, inputs.back().minimum);
      count -= turns;
      count += turns * static_cast<size_t>(random_.between(least, std::max(least, 3)));
    }
    while (count > 0 && parameter(count - 1).kind == Parameter::kOptional && random_.chance(45)) {
      --count;
    }
    const auto belongs = [&](size_t i) { return forms_ && forms_->belongs(i); };
    while (count < inputs.size() && belongs(count)) ++count;
    result_.operands.resize(count);
    for (size_t i = 0; i < count; ++i) {
      if (forms_ && forms_->absent(i)) continue;
      const bool optional = parameter(i).kind == Parameter::kOptional && !belongs(i);
      if (optional && i + 1 < count && random_.chance(30)) continue;
      choose_operand(i);
    }
  }

  bool has_forms() const {
    return std::ranges::any_of(op().inputs,
                               [](const Parameter& each) { return !each.extents.empty(); });
  }

  definitions::TypeSet allowed(std::string_view variable) const {
    const auto bound = bound_.find(variable);
    if (bound != bound_.end()) return definitions::types({bound->second});
    for (const definitions::TypeConstraint& constraint : op().types) {
      if (constraint.variable == variable) return constraint.allowed;
    }
    return ~definitions::TypeSet{0};
  }

  DataType draw_type(std::string_view variable) {
    const definitions::TypeSet set = allowed(variable);
    std::vector<DataType> types;
    for (int number = 1; number <= kLastDataType; ++number) {
      const auto type = static_cast<DataType>(number);
      if (definitions::contains(set, type)) types.push_back(type);
    }
    if (definitions::contains(set, DataType::kFloat) && random_.chance(60)) return DataType::kFloat;
    return types.empty() ? DataType::kUndefined : random_.pick(types);
  }

  void choose_operand(size_t index) {
    const Parameter& formal = parameter(index);
    const Domain domain = formal.values.domain;
    // Lists and indices about other operands are made for them; weights are new.
    const bool about_others = is_list(domain) || domain >= Domain::kIndex;
    const bool apart = formal.axes == AxisRole::kApart && index > 0;
    const int reuse = index == 0 ? 92 : (about_others ? 6 : (apart ? 15 : 55));
    const bool reused = random_.chance(reuse) && !describes_trees(op(), index);
    const int existing = reused ? pick_existing(index) : -1;
    Operand& operand = result_.operands[index];
    operand = Operand();
    if (existing >= 0) {
      operand.tensor = existing;
    } else {
      make_fresh(index);
    }
    bound_.try_emplace(formal.type, tensor_of(index).type);
    if (forms_ && forms_->has(index) && existing >= 0) {
      forms_->take(index, model_.tensor(existing).shape);
    }
  }

  int pick_existing(size_t index) {
    const Parameter& formal = parameter(index);
    const definitions::TypeSet set = allowed(formal.type);
    std::vector<int> fit, behind, alike, unused;
    for (int number : pool_) {
      const RandomTensor& tensor = model_.tensor(number);
      if (!definitions::contains(set, tensor.type)) continue;
      if (forms_ && forms_->has(index) && !forms_->fits(index, tensor.shape)) continue;
      if (!lies_in(tensor.values.front(), formal.values.domain) && !random_.chance(8)) continue;
      fit.push_back(number);
      if (tensor.behind_layout) behind.push_back(number);
      if (tensor.uses == 0) unused.push_back(number);
      if (index > 0 && tensor.values.front().extents == first_extents()) alike.push_back(number);
    }
    if (fit.empty()) return -1;
    if (!alike.empty() && random_.chance(60)) return random_.pick(alike);
    if (index == 0 && !behind.empty() && random_.chance(60)) return random_.pick(behind);
    if (!unused.empty() && random_.chance(50)) return random_.pick(unused);
    return random_.pick(fit);
  }

  std::vector<int64_t> first_extents() const {
    if (result_.operands.empty() || !result_.operands[0].present()) return {};
    const SymbolicInput first = seen(0);
    std::vector<int64_t> extents;
    for (int axis = 0; axis < first.shape.rank; ++axis) {
      extents.push_back(std::max<int64_t>(0, first.shape[axis].upper()));
    }
    return extents;
  }

  /// A new tensor of extents that the operand's role suggests; its elements come later.
  void make_fresh(size_t index) {
    const Parameter& formal = parameter(index);
    Operand& operand = result_.operands[index];
    operand.fresh = true;
    operand.tensor = -1;
    operand.made = RandomTensor();
    operand.made.type = draw_type(formal.type);
    const bool number = !is_rounded(operand.made.type);
    operand.made.kind = random_.chance(formal.values.decide_extents ? 95 : (number ? 60 : 55))
                            ? RandomTensor::kConstant
                            : RandomTensor::kInput;
    Shape<Dim> shape;
    const auto use = [&shape](const std::vector<int64_t>& extents) {
      for (int64_t extent : extents) shape.push(extent);
    };
    const SymbolicInput first = index > 0 ? seen(0) : SymbolicInput();
    const AxisRole role = formal.axes;
    if (describes_trees(op(), index)) {
      use(tree_extents(index, random_));
    } else if (forms_ && forms_->has(index)) {
      shape = forms_->draw(index);
    } else if (is_list(formal.values.domain)) {
      use(list_extents(formal.values.domain, first.shape.rank, random_));
    } else if (index == 0 || !first.present) {
      use(draw_extents(sizes(), random_));
      symbolise(shape);
    } else if (role == AxisRole::kSame || (role == AxisRole::kBroadcast && random_.chance(40))) {
      shape = first.shape;
    } else if (role == AxisRole::kBroadcast) {
      shape = broadcast_to(first.shape);
    } else {
      use(weight_extents(first.shape));
    }
    set_shape(operand.made, shape);
  }

  /// Lets some axes be symbolic dimensions.
  void symbolise(Shape<Dim>& shape) {
    for (int axis = 0; axis < shape.rank && model_.symbols->size() > 0; ++axis) {
      if (!random_.chance(40)) continue;
      shape[axis] = model_.symbols->dim(static_cast<int>(random_.below(model_.symbols->size())));
    }
  }

  Shape<Dim> broadcast_to(const Shape<Dim>& to) {
    const auto dropped = static_cast<int>(random_.below(to.rank + 1));
    Shape<Dim> shape;
    for (int axis = dropped; axis < to.rank; ++axis) {
      shape.push(random_.chance(40) ? Dim(1) : to[axis]);
    }
    return shape;
  }

  std::vector<int64_t> weight_extents(const Shape<Dim>& first) {
    const int64_t channels =
        first.rank > 0 ? first[random_.chance(50) && first.rank > 1 ? 1 : first.rank - 1].upper()
                       : 1;
    switch (random_.below(6)) {
      case 0:
        return {};
      case 1:
      case 2:
        return {std::max<int64_t>(1, channels)};
      case 3: {
        std::vector<int64_t> extents{sizes().channels.size() > 0
                                         ? random_.pick(sizes().channels)
                                         : random_.pick<int64_t>({1, 2, 3, 4, 8, 16}),
                                     channels};
        for (int axis = 2; axis < first.rank; ++axis) extents.push_back(random_.between(1, 3));
        return extents;
      }
      case 4:
        return {channels, sizes().channels.size() > 0
                              ? random_.pick(sizes().channels)
                              : random_.pick<int64_t>({1, 2, 3, 4, 5, 8, 16, 17})};
      default:
        return draw_extents(sizes(), random_);
    }
  }

  /// Only constants and symbols can be extents of inputs, and only constants those of constants.
  void set_shape(RandomTensor& tensor, const Shape<Dim>& wanted) {
    tensor.shape = Shape<Dim>();
    for (int axis = 0; axis < wanted.rank; ++axis) {
      const Dim& extent = wanted[axis];
      const bool symbol = !is_constant(extent) && extent.symbols().size() == 1 &&
                          !extent.has_unknown() &&
                          extent == model_.symbols->dim(extent.symbols().front());
      if (symbol) tensor.kind = RandomTensor::kInput;
      tensor.shape.push(is_constant(extent) || symbol ? extent : Dim(1));
    }
    for (int axis = 0; axis < tensor.shape.rank && has_zero(tensor); ++axis) {
      if (!is_constant(tensor.shape[axis])) tensor.shape[axis] = 1;
    }
    tensor.seen = SymbolicInput();
    tensor.seen.present = true;
    tensor.seen.type = tensor.type;
    tensor.seen.shape = tensor.shape;
    tensor.values.clear();
  }

  std::vector<int64_t> extents_in(const RandomTensor& tensor, size_t run) const {
    std::vector<int64_t> extents;
    for (int axis = 0; axis < tensor.shape.rank; ++axis) {
      extents.push_back(tensor.shape[axis].evaluate(model_.runs[run]).value_or(0));
    }
    return extents;
  }

  /// Draws the elements of new operands, those from `first` on. False if one would be too large.
  bool fill_from(size_t first) {
    for (size_t i = first; i < result_.operands.size(); ++i) {
      const Operand& operand = result_.operands[i];
      int64_t count = 1;
      for (int axis = 0; operand.fresh && axis < operand.made.shape.rank; ++axis) {
        count *= std::max<int64_t>(0, operand.made.shape[axis].upper());
        if (count > sizes().drawn) return false;
      }
      fill(i);
    }
    return true;
  }

  /// Draws the elements of a new operand, for every run.
  void fill(size_t index) {
    Operand& operand = result_.operands[index];
    if (!operand.fresh) return;
    RandomTensor& made = operand.made;
    const definitions::Values values = parameter(index).values;
    const Draw how = draw_for(values.domain, random_);
    made.values.clear();
    for (size_t run = 0; run < model_.runs.size(); ++run) {
      if (run > 0 && made.kind == RandomTensor::kConstant) {
        made.values.push_back(made.values.front());
        continue;
      }
      const std::vector<int64_t> extents = extents_in(made, run);
      std::optional<Constant> list;
      if (describes_trees(op(), index)) {
        list = draw_trees(result_.candidate, index, made.type, extents, random_);
      } else if (random_.chance(95)) {
        list = draw_list(result_.candidate, values, made.type, extents, inputs_of(run), random_);
      }
      made.values.push_back(list ? *list : draw(made.type, extents, how, random_));
    }
    made.errors.assign(model_.runs.size(), 0);
    if (made.kind == RandomTensor::kConstant) made.seen = known_input(made.values.front());
  }

  std::vector<const Constant*> inputs_of(size_t run) const {
    std::vector<const Constant*> inputs;
    for (size_t i = 0; i < result_.operands.size(); ++i) {
      const bool known = result_.operands[i].present() && run < tensor_of(i).values.size();
      inputs.push_back(known ? &tensor_of(i).values[run] : nullptr);
    }
    return inputs;
  }

  // -- Outputs
  // -------------------------------------------------------------------------------------

  void choose_outputs() {
    const std::vector<Parameter>& outputs = op().outputs;
    std::vector<bool>& wanted = result_.candidate.outputs;
    for (const Parameter& output : outputs) {
      if (output.kind != Parameter::kVariadic) {
        wanted.push_back(output.kind == Parameter::kRequired || random_.chance(50));
        continue;
      }
      const int64_t least = std::max(1, output.minimum);
      for (int64_t i = random_.between(least, least + 2); i > 0; --i) wanted.push_back(true);
    }
    if (std::find(wanted.begin(), wanted.end(), true) == wanted.end() && !wanted.empty()) {
      wanted[0] = true;
    }
    while (!wanted.empty() && !wanted.back()) wanted.pop_back();
  }

  /// A list with an element for each output can be as long as there are outputs.
  void complete_lists() {
    for (size_t i = 0; i < result_.operands.size(); ++i) {
      Operand& operand = result_.operands[i];
      if (!operand.fresh || parameter(i).values.domain != Domain::kParts) continue;
      Shape<Dim> shape;
      shape.push(static_cast<int64_t>(result_.candidate.outputs.size()));
      set_shape(operand.made, shape);
    }
  }

  // -- Asking the operator
  // -------------------------------------------------------------------------

  bool infer_results() {
    const int most = kMendings + kMendingsOfOperand * static_cast<int>(result_.operands.size());
    for (int attempt = 0; attempt < most; ++attempt) {
      std::vector<const RandomTensor*> operands;
      for (size_t i = 0; i < result_.operands.size(); ++i) {
        operands.push_back(result_.operands[i].present() ? &tensor_of(i) : nullptr);
      }
      Diagnostic refusal;
      if (auto inferred = infer(result_.candidate, operands, *model_.symbols, sizes().results,
                                library_, &refusal)) {
        use_outputs(std::move(*inferred));
        return true;
      }
      if (!mend(refusal)) return false;
    }
    return false;
  }

  /// Makes the refused operand anew as the rule wants it.
  bool mend(const Diagnostic& refusal) {
    const auto index = static_cast<size_t>(refusal.operand);
    if (refusal.operand < 0 || index >= result_.operands.size() ||
        !result_.operands[index].present()) {
      return false;
    }
    if (index == 0 && random_.chance(80)) return false;
    Shape<Dim> shape = tensor_of(index).shape;
    Operand& operand = result_.operands[index];
    if (holds_elements(tensor_of(index).type)) return false;
    if (!operand.fresh) make_fresh(index);
    switch (refusal.code) {
      case Code::kWrongType:
        return false;
      case Code::kWrongRank:
        if (refusal.expected < 0 || refusal.expected > kMaxRank) return false;
        while (shape.rank > refusal.expected) --shape.rank;
        while (shape.rank < refusal.expected) shape.push(random_.between(1, 3));
        break;
      case Code::kWrongExtent: {
        if (refusal.axis < 0 || refusal.axis >= shape.rank) {
          fill(index);
          return true;
        }
        if (refusal.expected < 0 || refusal.expected > sizes().longest) return false;
        shape[refusal.axis] = refusal.expected;
        for (int symbol = 0; symbol < model_.symbols->size(); ++symbol) {
          if ((*model_.symbols)[symbol].max == refusal.expected && random_.chance(70)) {
            shape[refusal.axis] = model_.symbols->dim(symbol);
          }
        }
        break;
      }
      default:
        fill(index);
        return true;
    }
    set_shape(operand.made, shape);
    return fill_from(index);
  }

  void use_outputs(Inferred inferred) {
    result_.outputs.resize(inferred.outputs.size());
    for (size_t i = 0; i < inferred.outputs.size(); ++i) {
      if (!result_.candidate.outputs[i]) continue;
      RandomTensor& output = result_.outputs[i];
      output.type = inferred.outputs[i].type;
      output.shape = inferred.outputs[i].shape;
      output.bounds = std::move(inferred.bounds[i]);
      output.seen = std::move(inferred.seen[i]);
    }
  }

  bool execute_runs() {
    for (size_t run = 0; run < model_.runs.size(); ++run) {
      const std::vector<const Constant*> inputs = inputs_of(run);
      std::vector<double> errors;
      for (size_t i = 0; i < result_.operands.size(); ++i) {
        errors.push_back(result_.operands[i].present() ? tensor_of(i).errors[run] : 0);
      }
      const std::optional<Results> results =
          execute_with_errors(result_.candidate, inputs, errors, library_, random_);
      if (!results) return false;
      for (size_t i = 0; i < result_.outputs.size(); ++i) {
        RandomTensor& output = result_.outputs[i];
        if (!result_.candidate.outputs[i]) continue;
        if (results->values[i].type != output.type) return false;
        for (size_t axis = 0; axis < output.bounds.size(); ++axis) {
          if (results->values[i].extents[axis] > output.bounds[axis]) return false;
        }
        output.values.push_back(results->values[i]);
        output.errors.push_back(results->errors[i]);
      }
    }
    return true;
  }

  const RandomModel& model_;
  const Pool& pool_;
  const converter::OperatorLibrary& library_;
  Random& random_;
  Proposal result_;
  std::map<std::string_view, DataType> bound_;
  std::optional<ExtentForms> forms_;  // of an operator that has some
};

}  // namespace

std::optional<Proposal> propose(const OperatorDefinition& op, const RandomModel& model,
                                const Pool& pool, const converter::OperatorLibrary& library,
                                Random& random) {
  return Proposer(op, model, pool, library, random).run();
}

}  // namespace intarsia::test
