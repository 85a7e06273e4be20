// SPDX-License-Identifier: Apache-2.0
//
// Attributes of quantised operators of com.microsoft, which become others before a plan is written.
#pragma once

#include "core/operators/nn/pool.h"

namespace intarsia {

/// Of QuantizeLinear and DequantizeLinear: they know no blocks.
struct ChannelAxisAttributes {
  int32_t axis = 1;
  template <class V>
  void fields(V& v) {
    v("axis", axis);
  }
};
static_assert(is_plan_struct<ChannelAxisAttributes>);

struct RequiredAxisAttributes {
  int32_t axis = 0;
  template <class V>
  void fields(V& v) {
    v.required("axis", axis);
  }
};
static_assert(is_plan_struct<RequiredAxisAttributes>);

struct QuantizedSoftmaxAttributes {
  int32_t axis = -1;
  /// The operator set whose Softmax is meant: up to 12 over all axes from `axis` on.
  int32_t opset = 0;
  template <class V>
  void fields(V& v) {
    v("axis", axis);
    v.required("opset", opset, at_least(1));
  }
};
static_assert(is_plan_struct<QuantizedSoftmaxAttributes>);

struct QuantizedAveragePoolAttributes {
  WindowAttributes window;
  int32_t ceil_mode = 0;
  int32_t channels_last = 0;
  int32_t count_include_pad = 0;
  template <class V>
  void fields(V& v) {
    window.fields(v);
    v("ceil_mode", ceil_mode, kFlag);
    v("channels_last", channels_last, kFlag);
    v("count_include_pad", count_include_pad, kFlag);
  }
};
static_assert(is_plan_struct<QuantizedAveragePoolAttributes>);

struct QuantizedGlobalPoolAttributes {
  int32_t channels_last = 0;
  template <class V>
  void fields(V& v) {
    v("channels_last", channels_last, kFlag);
  }
};
static_assert(is_plan_struct<QuantizedGlobalPoolAttributes>);

struct QuantizedReduceMeanAttributes {
  FixedList<int32_t, kMaxRank> axes;
  int32_t keepdims = 1;
  template <class V>
  void fields(V& v) {
    v.required("axes", axes);
    v.required("keepdims", keepdims, kFlag);
  }
};
static_assert(is_plan_struct<QuantizedReduceMeanAttributes>);

struct QuantizedConvAttributes {
  WindowAttributes window;
  int32_t group = 1;
  int32_t channels_last = 0;
  template <class V>
  void fields(V& v) {
    window.fields(v);
    v("group", group, at_least(1));
    v("channels_last", channels_last, kFlag);
  }
};
static_assert(is_plan_struct<QuantizedConvAttributes>);

struct QuantizedGemmAttributes {
  float alpha = 1;
  int32_t trans_a = 0;
  int32_t trans_b = 0;
  template <class V>
  void fields(V& v) {
    v("alpha", alpha);
    v("transA", trans_a, kFlag);
    v("transB", trans_b, kFlag);
  }
};
static_assert(is_plan_struct<QuantizedGemmAttributes>);

/// What the Attention that QAttention becomes is given.
struct QuantizedAttentionAttributes {
  int32_t num_heads = 0;
  int32_t unidirectional = 0;
  float mask_filter_value = -10000;
  float scale = 0;
  int32_t do_rotary = 0;
  int32_t past_present_share_buffer = 0;
  template <class V>
  void fields(V& v) {
    v.required("num_heads", num_heads, at_least(1));
    v("unidirectional", unidirectional, kFlag);
    v("mask_filter_value", mask_filter_value);
    v("scale", scale);
    v("do_rotary", do_rotary, between(0, 0));
    v("past_present_share_buffer", past_present_share_buffer, between(0, 0));
  }
};
static_assert(is_plan_struct<QuantizedAttentionAttributes>);

struct MatMulNBitsAttributes {
  /// Rows of the weights, as the result has columns; terms of a product.
  int64_t n = 0, k = 0;
  int32_t bits = 4;
  int32_t block_size = 0;
  /// How coarsely others may compute; nothing here is coarser than the operands.
  int32_t accuracy_level = 0;
  /// Other than 0: in the order that a device wants.
  int32_t weight_prepacked = 0;
  template <class V>
  void fields(V& v) {
    v.required("N", n, at_least(1));
    v.required("K", k, at_least(1));
    v("bits", bits, one_of({2, 4, 8}));
    v.required("block_size", block_size, at_least(16));
    v("accuracy_level", accuracy_level, between(0, 4));
    v("weight_prepacked", weight_prepacked, one_of({0}));
  }
};
static_assert(is_plan_struct<MatMulNBitsAttributes>);

struct GatherBlockQuantizedAttributes {
  int32_t bits = 4;
  /// 0, of floating-point codes only: the whole axis is one block.
  int32_t block_size = 128;
  int32_t gather_axis = 0;
  int32_t quantize_axis = 1;
  template <class V>
  void fields(V& v) {
    v("bits", bits, one_of({2, 4, 8}));
    v("block_size", block_size, at_least(0));
    v("gather_axis", gather_axis);
    v("quantize_axis", quantize_axis);
  }
};
static_assert(is_plan_struct<GatherBlockQuantizedAttributes>);

}  // namespace intarsia
