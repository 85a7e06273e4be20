// SPDX-License-Identifier: Apache-2.0
//
// Attributes of the operators around attention, which become others
// (core/definitions/expansions_attention.cpp).
#pragma once

#include <cstdint>
#include <limits>

#include "intarsia/attributes.h"
#include "intarsia/types.h"

namespace intarsia {

struct AttentionAttributes {
  int32_t is_causal = 0;
  /// Of inputs with three axes; 0: not given.
  int32_t q_num_heads = 0;
  int32_t kv_num_heads = 0;
  /// What the fourth output is: 0 the scores, 1 behind the soft cap, 2 with bias, 3 probabilities.
  int32_t qk_matmul_output_mode = 0;
  /// NaN: 1 / sqrt(head size).
  float scale = std::numeric_limits<float>::quiet_NaN();
  /// 0: none.
  float softcap = 0;
  /// A DataType; 0: that of Q.
  int32_t softmax_precision = 0;
  /// -1: no bound.
  int32_t left_window_size = -1;
  int32_t right_window_size = -1;

  template <class V>
  void fields(V& v) {
    v("is_causal", is_causal, kFlag);
    v("q_num_heads", q_num_heads, at_least(1));
    v("kv_num_heads", kv_num_heads, at_least(1));
    v("qk_matmul_output_mode", qk_matmul_output_mode, between(0, 3));
    v("scale", scale);
    v("softcap", softcap);
    v("softmax_precision", softmax_precision, one_of({1, 10, 11, 16}));
    v("left_window_size", left_window_size, at_least(-1));
    v("right_window_size", right_window_size, at_least(-1));
  }
};
static_assert(is_plan_struct<AttentionAttributes>);

struct FlexAttentionAttributes {
  /// NaN: 1 / sqrt(head size).
  float scale = std::numeric_limits<float>::quiet_NaN();
  /// A DataType; 0: double for operands in double, else float.
  int32_t softmax_precision = 0;

  template <class V>
  void fields(V& v) {
    v("scale", scale);
    v("softmax_precision", softmax_precision, one_of({1, 10, 11, 16}));
  }
};
static_assert(is_plan_struct<FlexAttentionAttributes>);

struct RotaryEmbeddingAttributes {
  int32_t interleaved = 0;
  /// Of inputs with three axes; 0: not given.
  int32_t num_heads = 0;
  /// 0: the whole head.
  int32_t rotary_embedding_dim = 0;

  template <class V>
  void fields(V& v) {
    v("interleaved", interleaved, kFlag);
    v("num_heads", num_heads, at_least(0));
    v("rotary_embedding_dim", rotary_embedding_dim, at_least(0));
  }
};
static_assert(is_plan_struct<RotaryEmbeddingAttributes>);

struct TensorScatterAttributes {
  enum Mode : int32_t { kLinear = 0, kCircular = 1 };
  int32_t mode = kLinear;
  int32_t axis = -2;

  template <class V>
  void fields(V& v) {
    v.choice("mode", mode, {"linear", "circular"});
    v("axis", axis);
  }
};
static_assert(is_plan_struct<TensorScatterAttributes>);

struct CausalConvAttributes {
  enum Activation : int32_t { kNone = 0, kSilu = 1, kSwish = 2 };
  int32_t activation = kNone;

  template <class V>
  void fields(V& v) {
    v.choice("activation", activation, {"none", "silu", "swish"});
  }
};
static_assert(is_plan_struct<CausalConvAttributes>);

}  // namespace intarsia
