// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rule of LinearAttention. Heads are packed into the last axis of query, key,
// value, decay and beta; several heads of the query may share one of the key.
#pragma once

#include "core/operators/common/attributes.h"
#include "intarsia/shape.h"

namespace intarsia {

struct LinearAttentionAttributes {
  enum Rule : int32_t { kGatedDelta = 0, kLinear = 1, kGated = 2, kDelta = 3 };
  int32_t update_rule = kGatedDelta;
  int32_t q_num_heads = 1;
  int32_t kv_num_heads = 1;
  /// 0: 1 / sqrt(size of a key).
  float scale = 0;
  /// How others split the work; no kernel reads it.
  int32_t chunk_size = 64;

  template <class V>
  void fields(V& v) {
    v.choice("update_rule", update_rule, {"gated_delta", "linear", "gated", "delta"});
    v.required("q_num_heads", q_num_heads, at_least(1));
    v.required("kv_num_heads", kv_num_heads, at_least(1));
    v("scale", scale);
    v("chunk_size", chunk_size, at_least(1));
  }
  bool decays() const { return update_rule == kGatedDelta || update_rule == kGated; }
  bool corrects() const { return update_rule == kGatedDelta || update_rule == kDelta; }
};
static_assert(is_plan_struct<LinearAttentionAttributes>);

namespace ops {

struct LinearAttention {
  using Attributes = LinearAttentionAttributes;
  static constexpr std::string_view name = "LinearAttention";
  enum Input { kQuery, kKey, kValue, kState, kDecay, kBeta };

  template <class S>
  static Status infer(S& s) {
    using Dim = typename S::Dim;
    const auto& a = s.template attributes<Attributes>();
    if (a.kv_num_heads < 1 || a.q_num_heads < 1 || a.q_num_heads % a.kv_num_heads != 0) {
      return s.fail(Code::kInvalidValue, "q_num_heads, a multiple of kv_num_heads", a.kv_num_heads,
                    a.q_num_heads);
    }
    if (s.has_input(kDecay) != a.decays()) {
      return s.fail(Code::kInvalidValue, "input decay of this update_rule", a.decays(), !a.decays(),
                    kDecay);
    }
    if (s.has_input(kBeta) != a.corrects()) {
      return s.fail(Code::kInvalidValue, "input beta of this update_rule", a.corrects(),
                    !a.corrects(), kBeta);
    }
    for (int input = 0; input < s.input_count(); ++input) {
      const int rank = input == kState ? 4 : 3;
      if (s.has_input(input) && s.rank(input) != rank) {
        return s.fail(Code::kWrongRank, "rank", rank, s.rank(input), input);
      }
    }
    for (const int input : {kKey, kValue, kDecay, kBeta}) {
      for (int axis = 0; axis < 2 && s.has_input(input); ++axis) {
        Status t = s.require_equal(s.dim(kQuery, axis), s.dim(input, axis), "extent", input, axis);
        if (!t) return t;
      }
    }
    const Dim queries = int64_t{a.q_num_heads}, heads = int64_t{a.kv_num_heads};
    const Dim key = floor_div(s.dim(kQuery, 2), queries);
    const Dim value = floor_div(s.dim(kValue, 2), heads);
    Status t = s.require_equal(key * queries, s.dim(kQuery, 2), "heads of query", kQuery, 2);
    if (!t) return t;
    if (t = s.require_equal(key * heads, s.dim(kKey, 2), "heads of key", kKey, 2); !t) return t;
    t = s.require_equal(value * heads, s.dim(kValue, 2), "heads of value", kValue, 2);
    if (!t) return t;
    Shape<Dim> state;
    for (const Dim& extent : {s.dim(kQuery, 0), heads, key, value}) state.push(extent);
    for (int axis = 0; axis < 4 && s.has_input(kState); ++axis) {
      t = s.require_equal(state[axis], s.dim(kState, axis), "extent of past_state", kState, axis);
      if (!t) return t;
    }
    if (a.decays() && !is_one_of(s.dim(kDecay, 2), heads, key * heads)) {
      t = s.require_equal(heads, s.dim(kDecay, 2), "extent of decay", kDecay, 2);
      if (!t) return t;
    }
    if (a.corrects() && !is_one_of(s.dim(kBeta, 2), heads, Dim(int64_t{1}))) {
      t = s.require_equal(heads, s.dim(kBeta, 2), "extent of beta", kBeta, 2);
      if (!t) return t;
    }
    Shape<Dim> y = s.shape(kQuery);
    y[2] = value * queries;
    if (t = s.set_output(0, s.type(kQuery), y); !t) return t;
    return s.set_output(1, s.has_input(kState) ? s.type(kState) : s.type(kQuery), state);
  }

 private:
  template <class Dim>
  static bool is_one_of(const Dim& found, const Dim& a, const Dim& b) {
    const auto is = [&](const Dim& wanted) {
      return is_constant(found) && is_constant(wanted) &&
             constant_value(found) == constant_value(wanted);
    };
    return is(a) || is(b);
  }
};

}  // namespace ops
}  // namespace intarsia
