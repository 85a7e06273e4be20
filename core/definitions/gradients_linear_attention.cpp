// SPDX-License-Identifier: Apache-2.0
//
// Gradient of LinearAttention: that of a loop over the steps, written with products of matrices.
// Formula: ONNX; kernels_cpu/recurrent/linear_attention.cpp has it in full.
#include "core/definitions/gradient.h"
#include "core/definitions/gradient_terms.h"
#include "core/operators/recurrent/linear_attention.h"

namespace intarsia::definitions::gradients {
namespace {

using G = GradientContext;
using Op = ops::LinearAttention;

/// The operands, in what is computed with. The axis of steps is first; B is the batch, H counts
/// states, M the heads of the query that share one, K and V are the sizes of a key and of a value.
class Steps {
 public:
  explicit Steps(G& g) : g_(g), a_(g.attributes<LinearAttentionAttributes>()) {}

  /// The state behind the last step, and the results of all.
  std::vector<Term> run() const {
    const int64_t states = a_.kv_num_heads, members = a_.q_num_heads / states;
    const Term query = heads(Op::kQuery, {0, 0, states, members, -1});
    const Term key = heads(Op::kKey, {0, 0, states, -1}),
               value = heads(Op::kValue, {0, 0, states, -1});
    const Term width = extents(query, 4, 5);
    const Term scale =
        a_.scale != 0 ? query.number(static_cast<double>(a_.scale))
                      : query.number(1) / call("Sqrt", {cast(call("Squeeze", {width}), query)});
    const Term scaled = scale * query;
    const Term initial =
        g_.has_x(Op::kState)
            ? wide(g_.x(Op::kState))
            : filled(key, 0, join({extents(key, 1, 3), width, extents(value, 3, 4)}, 0));
    // [steps, B, H, K or 1, 1] and [steps, B, H or 1, 1, 1]
    const Term kept = a_.decays()
                          ? unsqueeze(call("Exp", {heads(Op::kDecay, {0, 0, states, -1})}), {4})
                          : g_.absent();
    const Term share =
        a_.corrects() ? unsqueeze(steps_first(wide(g_.x(Op::kBeta))), {3, 4}) : g_.absent();
    const Term count = call("Squeeze", {extents(query, 0, 1)});
    const Term carried[] = {initial};
    return g_.loop(count, carried, [&](Term at, std::span<const Term> before) {
      Term state = before[0];  // [B, H, K, V]
      if (a_.decays()) state = call("Gather", {kept, at}) * state;
      const Term k = call("Gather", {key, at});
      Term update = unsqueeze(call("Gather", {value, at}), {2});
      if (a_.corrects()) {
        update =
            call("Gather", {share, at}) * (update - call("MatMul", {unsqueeze(k, {2}), state}));
      }
      state = state + unsqueeze(k, {3}) * update;
      return std::vector{state, call("MatMul", {call("Gather", {scaled, at}), state})};
    });
  }

 private:
  static Term steps_first(Term term) {
    std::vector<int64_t> order = axes_between(0, term.rank());
    std::swap(order[0], order[1]);
    return transpose(term, order);
  }
  Term heads(int input, const std::vector<int64_t>& extents) const {
    return steps_first(with_extents(wide(g_.x(input)), g_.integers(extents)));
  }

  G& g_;
  const LinearAttentionAttributes& a_;
};

}  // namespace

void linear_attention(G& g) {
  const std::vector<Term> made = Steps(g).run();
  g.express(0, [&] {
    const Term all = transpose(made[1], {1, 0, 2, 3, 4});  // [B, steps, H, M, V]
    return cast(with_extents(all, g.integers({0, 0, -1})), g.x(Op::kQuery));
  });
  g.express(1, [&] {
    return g.has_x(Op::kState) ? cast(made[0], g.x(Op::kState)) : cast(made[0], g.x(Op::kQuery));
  });
}

}  // namespace intarsia::definitions::gradients
