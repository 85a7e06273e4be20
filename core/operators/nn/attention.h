// SPDX-License-Identifier: Apache-2.0
//
// Attributes of the operators around attention, which become others
// (core/definitions/expansions_attention.cpp), and the shape rule of Rotate, which is one of these.
#pragma once

#include <cstdint>
#include <limits>

#include "core/operators/common/attributes.h"
#include "intarsia/attributes.h"
#include "intarsia/shape.h"
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

/// Rotate, the converter's own: pairs of elements of the last axis, turned by angles.
struct RotateAttributes {
  /// Pairs are neighbours; otherwise an element of the first half and one of the second.
  int32_t interleaved = 0;

  template <class V>
  void fields(V& v) {
    v("interleaved", interleaved, kFlag);
  }
};
static_assert(is_plan_struct<RotateAttributes>);

namespace ops {

/// Input 0 has 4 axes; cosines and sines, inputs 1 and 2, are broadcast along the first three. They
/// have as many elements as are pairs; elements behind those stay as they are.
struct Rotate {
  using Attributes = RotateAttributes;
  static constexpr std::string_view name = "Rotate";
  template <class S>
  static Status infer(S& s) {
    for (int input = 0; input < 3; ++input) {
      if (s.rank(input) != 4) return s.fail(Code::kWrongRank, "rank", 4, s.rank(input), input);
    }
    for (int axis = 0; axis < 4; ++axis) {
      const auto extent = s.dim(1, axis);
      Status t = s.require_equal(extent, s.dim(2, axis), "extent of cosines", 2, axis);
      if (!t) return t;
      if (axis == 3 || (is_constant(extent) && constant_value(extent) == 1)) continue;
      if (t = s.require_equal(s.dim(0, axis), extent, "extent", 1, axis); !t) return t;
    }
    const auto size = s.dim(0, 3), pairs = s.dim(1, 3);
    if (is_constant(size) && is_constant(pairs) &&
        constant_value(pairs) > constant_value(size) / 2) {
      return s.fail(Code::kWrongExtent, "pairs of elements", constant_value(size) / 2,
                    constant_value(pairs), 1, 3);
    }
    return s.set_output(0, s.type(0), s.shape(0));
  }
};

}  // namespace ops
}  // namespace intarsia
