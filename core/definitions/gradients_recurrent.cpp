// SPDX-License-Identifier: Apache-2.0
//
// Gradients of the recurrent layers: those of a loop over the steps. What a step takes from the
// input is one product for all steps in front of the loop. Formulas: ONNX.
#include <array>
#include <limits>

#include "core/definitions/gradient.h"
#include "core/definitions/gradient_terms.h"
#include "core/operators/recurrent/rnn_functions.h"

namespace intarsia::definitions::gradients {
namespace {

using G = GradientContext;
using Terms = std::vector<Term>;

Term unary(const char* op, Term x, AttributeMap attributes = {}) {
  return call(op, {x}, std::move(attributes));
}

Term activated(const RnnFunction& function, Term x) {
  const double alpha = static_cast<double>(function.alpha);
  const double beta = static_cast<double>(function.beta);
  const AttributeMap slope = {{"alpha", function.alpha}};
  switch (function.kind) {
    case RnnActivation::kSigmoid:
      return unary("Sigmoid", x);
    case RnnActivation::kTanh:
      return unary("Tanh", x);
    case RnnActivation::kRelu:
      return unary("Relu", x);
    case RnnActivation::kAffine:
      return alpha * x + beta;
    case RnnActivation::kLeakyRelu:
      return unary("LeakyRelu", x, slope);
    case RnnActivation::kThresholdedRelu:
      return unary("ThresholdedRelu", x, slope);
    case RnnActivation::kScaledTanh:
      return alpha * unary("Tanh", beta * x);
    case RnnActivation::kHardSigmoid:
      return unary("HardSigmoid", x, {{"alpha", function.alpha}, {"beta", function.beta}});
    case RnnActivation::kElu:
      return unary("Elu", x, slope);
    case RnnActivation::kSoftsign:
      return unary("Softsign", x);
    case RnnActivation::kSoftplus:
      return unary("Softplus", x);
  }
  return x;
}

/// One direction of a layer: its operands without the axis of directions.
struct Direction {
  Term weights;      // [gates * hidden, features]
  Terms recurrence;  // [gates * hidden, hidden], in the parts that the cell asks for
  Terms biases;      // likewise, those of the state; empty if there are none
  Terms peepholes;   // of each gate; empty if there are none
  const RnnFunction* functions;
  float clip;

  /// A part of the state's share in the gates.
  Term recur(Term state, size_t part) const {
    const AttributeMap transposed = {{"transB", int64_t{1}}};
    if (biases.empty()) return call("Gemm", {state, recurrence[part]}, transposed);
    return call("Gemm", {state, recurrence[part], biases[part]}, transposed);
  }

  /// A gate's value.
  Term gate(int function, Term x) const {
    if (clip > 0) {
      const double most = static_cast<double>(clip);
      x = call("Clip", {x, x.number(-most), x.number(most)});
    }
    return activated(functions[function], x);
  }
};

/// `count` equal parts along an axis.
Terms parts_of(Term term, int count, int64_t axis) {
  if (count == 1) return {term};
  const Terms operands{term};
  return term.context().add("Split", operands, {{"axis", axis}, {"num_outputs", int64_t{count}}},
                            count);
}

// A cell says in how many parts it wants the weights of the state, and what a step makes of the
// input's share in the gates and of the state.

struct RnnCell {
  static constexpr int kParts = 1;
  static constexpr std::array kDefaults = {RnnActivation::kTanh};
  explicit RnnCell(const RnnAttributes& attributes) : common(attributes) {}

  Terms step(const Direction& d, Term gates, std::span<const Term> state) const {
    return {d.gate(0, gates + d.recur(state[0], 0))};
  }
  const RnnAttributes& common;
};

struct GruCell {
  static constexpr int kParts = 3;  // update, reset, candidate
  static constexpr std::array kDefaults = {RnnActivation::kSigmoid, RnnActivation::kTanh};
  explicit GruCell(const GruAttributes& attributes)
      : common(attributes.rnn), linear(attributes.linear_before_reset != 0) {}

  Terms step(const Direction& d, Term gates, std::span<const Term> state) const {
    const Term h = state[0];
    const Terms input = parts_of(gates, kParts, 1);
    const Term update = d.gate(0, input[0] + d.recur(h, 0));
    const Term reset = d.gate(0, input[1] + d.recur(h, 1));
    const Term inner = linear ? reset * d.recur(h, 2) : d.recur(reset * h, 2);
    const Term candidate = d.gate(1, input[2] + inner);
    return {(1 - update) * candidate + update * h};
  }
  const RnnAttributes& common;
  bool linear;
};

struct LstmCell {
  static constexpr int kParts = 1;
  static constexpr std::array kDefaults = {RnnActivation::kSigmoid, RnnActivation::kTanh,
                                           RnnActivation::kTanh};
  explicit LstmCell(const LstmAttributes& attributes)
      : common(attributes.rnn), coupled(attributes.input_forget != 0) {}

  Terms step(const Direction& d, Term gates, std::span<const Term> state) const {
    // Input, output, forget, candidate; the first three see the cell.
    const Terms sums = parts_of(gates + d.recur(state[0], 0), 4, 1);
    const auto peeping = [&](size_t gate, Term cell) {
      return d.gate(0, d.peepholes.empty() ? sums[gate] : sums[gate] + d.peepholes[gate] * cell);
    };
    const Term input = peeping(0, state[1]);
    const Term kept = coupled ? 1 - input : peeping(2, state[1]);
    const Term cell = kept * state[1] + input * d.gate(1, sums[3]);
    // Clipping bounds what enters the gates, not the cell.
    return {peeping(1, cell) * activated(d.functions[2], cell), cell};
  }
  const RnnAttributes& common;
  bool coupled;
};

/// The layer as one loop for each direction. The states are all outputs but the first.
template <class Cell>
class Layer {
 public:
  Layer(G& g, Cell cell, int states)
      : g_(g), cell_(cell), first_(cell.common.layout != 0), states_(states) {
    resolve_rnn_functions(cell.common, kFunctions, Cell::kDefaults.data(), functions_);
  }

  void express() {
    std::vector<Terms> results(static_cast<size_t>(1 + states_));  // of outputs, by direction
    const Term x = wide(g_.x(0));
    const Term steps = first_ ? transpose(x, {1, 0, 2}) : x;
    for (int d = 0; d < cell_.common.directions(); ++d) {
      const bool backwards = d == 1 || cell_.common.direction == 1;
      const Terms made = run(steps, d, backwards);
      const Term all = made.back();
      results[0].push_back(first_ ? transpose(all, {1, 0, 2}) : all);
      for (size_t i = 1; i < results.size(); ++i) results[i].push_back(made[i - 1]);
    }
    for (int output = 0; output <= states_; ++output) {
      g_.express(output, [&] {
        // Where the axis of directions is.
        const int64_t axis = output == 0 ? (first_ ? 2 : 1) : (first_ ? 1 : 0);
        Terms whole;
        for (const Term& part : results[static_cast<size_t>(output)]) {
          whole.push_back(unsqueeze(part, {axis}));
        }
        const Term joined = g_.add("Concat", whole, {{"axis", axis}}, 1).front();
        return cast_to(joined, g_.x(0).known().type);
      });
    }
  }

 private:
  static constexpr int kFunctions = static_cast<int>(Cell::kDefaults.size());

  Term part(int input, int direction, int64_t axis = 0) const {
    const Term index = g_.number(DataType::kInt64, direction);
    return call("Gather", {wide(g_.x(input)), index}, {{"axis", axis}});
  }

  Direction direction(int d) const {
    Direction result{part(1, d), parts_of(part(2, d), Cell::kParts, 0), {},
                     {},         functions_ + d * kFunctions,           cell_.common.clip};
    if (g_.has_x(3)) result.biases = parts_of(parts_of(part(3, d), 2, 0)[1], Cell::kParts, 0);
    if (g_.has_x(7)) result.peepholes = parts_of(part(7, d), 3, 0);
    return result;
  }

  Terms initial(int d, Term steps) const {
    Terms result;
    for (int i = 0; i < states_; ++i) {
      const int input = 5 + i;
      if (g_.has_x(input)) {
        result.push_back(part(input, d, first_ ? 1 : 0));
      } else {
        const Term shape = join({extents(steps, 1, 2), extents(g_.x(2), 2, 3)}, 0);
        result.push_back(filled(steps, 0, shape));
      }
    }
    return result;
  }

  /// The states behind the last step, and the results of all.
  Terms run(Term steps, int number, bool backwards) const {
    const Direction d = direction(number);
    Term projected = call("MatMul", {steps, transposed(d.weights)});
    if (g_.has_x(3)) projected = projected + parts_of(part(3, number), 2, 0)[0];
    const Term count = call("Squeeze", {extents(steps, 0, 1)});
    Terms result =
        g_.loop(count, initial(number, steps), [&](Term trip, std::span<const Term> state) {
          const Term at = backwards ? count - 1 - trip : trip;
          Terms next = cell_.step(d, call("Gather", {projected, at}), state);
          if (!g_.has_x(4)) {
            next.push_back(next[0]);
            return next;
          }
          // Behind its end a sequence keeps its state, and yields zeros.
          const Term lengths = cast_to(g_.x(4), DataType::kInt64);
          const Term goes_on = unsqueeze(call("Less", {at, lengths}), {1});
          const Term yields = where(goes_on, next[0], 0);
          for (size_t i = 0; i < next.size(); ++i) next[i] = where(goes_on, next[i], state[i]);
          next.push_back(yields);
          return next;
        });
    if (backwards) {
      result.back() = slice(result.back(), 0, -1, std::numeric_limits<int64_t>::min(), -1);
    }
    return result;
  }

  G& g_;
  Cell cell_;
  bool first_;  // the batch comes first
  int states_;
  RnnFunction functions_[2 * kFunctions];
};

}  // namespace

void rnn(G& g) {
  Layer(g, RnnCell(g.attributes<RnnAttributes>()), 1).express();
}
void gru(G& g) {
  Layer(g, GruCell(g.attributes<GruAttributes>()), 1).express();
}
void lstm(G& g) {
  Layer(g, LstmCell(g.attributes<LstmAttributes>()), 2).express();
}

}  // namespace intarsia::definitions::gradients
