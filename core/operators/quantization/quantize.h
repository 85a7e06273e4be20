// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rules of QuantizeLinear and DequantizeLinear (ONNX operator set 28), and of
// Requantize, the converter's own.
//
// A scale, and a zero point of the same extents, belong to all elements (a scalar, or one element),
// to those at one position of an axis (a vector), or to `block_size` neighbours along it (the
// extents of the input but for that axis).
#pragma once

#include "core/operators/common/lists.h"
#include "intarsia/shape.h"

namespace intarsia {

struct QuantizeAttributes {
  int32_t axis = 1;
  /// 0: no blocks.
  int32_t block_size = 0;
  /// A DataType; 0: that of the zero point, or uint8.
  int32_t output_dtype = 0;
  /// Type of the division, a DataType; 0: that of the scale.
  int32_t precision = 0;
  /// Matters only for 8-bit floating-point results.
  int32_t saturate = 1;

  template <class V>
  void fields(V& v) {
    v("axis", axis);
    v("block_size", block_size, at_least(0));
    v("output_dtype", output_dtype, between(0, kLastDataType));
    v("precision", precision, one_of({0, 1, 10, 16}));
    v("saturate", saturate, kFlag);
  }
};
static_assert(is_plan_struct<QuantizeAttributes>);

struct DequantizeAttributes {
  int32_t axis = 1;
  int32_t block_size = 0;
  /// A DataType; 0: that of the scale.
  int32_t output_dtype = 0;

  template <class V>
  void fields(V& v) {
    v("axis", axis);
    v("block_size", block_size, at_least(0));
    v("output_dtype", output_dtype, between(0, kLastDataType));
  }
};
static_assert(is_plan_struct<DequantizeAttributes>);

/// Y = saturate(round((X + bias) * scale) + zero point) of sums X of 32 bits: what is left of a
/// product of quantised tensors. Scale and bias, which wraps around, belong to the positions of an
/// axis, or are one for all; the product is in float.
struct RequantizeAttributes {
  int32_t axis = 1;

  template <class V>
  void fields(V& v) {
    v("axis", axis);
  }
};
static_assert(is_plan_struct<RequantizeAttributes>);

namespace ops {

/// True of a scalar, and of a vector of one element.
template <class S>
bool is_single(S& s, int input) {
  if (s.rank(input) != 1) return s.rank(input) == 0;
  return is_constant(s.dim(input, 0)) && constant_value(s.dim(input, 0)) == 1;
}

/// Fails unless scale (input 1) and zero point (input 2, may be absent) fit input 0.
template <class S>
Status require_granularity(S& s, int32_t given_axis, int32_t block) {
  const int rank = s.rank(0);
  int axis = 0;
  if (block > 0) {
    if (s.rank(1) != rank) return s.fail(Code::kWrongRank, "rank of scale", rank, s.rank(1), 1);
    if (Status t = normalize_axis(s, given_axis, rank, axis); !t) return t;
    for (int i = 0; i < rank; ++i) {
      auto extent = s.dim(0, i);
      if (i == axis) extent = ceil_div(extent, typename S::Dim(int64_t{block}));
      if (Status t = s.require_equal(extent, s.dim(1, i), "extent of scale", 1, i); !t) return t;
    }
  } else if (s.rank(1) > 1) {
    return s.fail(Code::kWrongRank, "rank of scale without block_size", 1, s.rank(1), 1);
  } else if (!is_single(s, 1)) {
    // A scalar has no axis: an extent that is not known yet has to be 1.
    typename S::Dim extent = int64_t{1};
    if (rank > 0) {
      if (Status t = normalize_axis(s, given_axis, rank, axis); !t) return t;
      extent = s.dim(0, axis);
    }
    if (Status t = s.require_equal(extent, s.dim(1, 0), "extent of scale", 1, 0); !t) return t;
  }
  if (!s.has_input(2) || (is_single(s, 1) && is_single(s, 2))) return {};
  if (s.rank(2) != s.rank(1)) {
    return s.fail(Code::kWrongRank, "rank of zero point", s.rank(1), s.rank(2), 2);
  }
  for (int i = 0; i < s.rank(1); ++i) {
    Status t = s.require_equal(s.dim(1, i), s.dim(2, i), "extent of zero point", 2, i);
    if (!t) return t;
  }
  return {};
}

struct QuantizeLinear {
  using Attributes = QuantizeAttributes;
  static constexpr std::string_view name = "QuantizeLinear";
  template <class S>
  static Status infer(S& s) {
    const auto& a = s.template attributes<Attributes>();
    if (Status t = require_granularity(s, a.axis, a.block_size); !t) return t;
    const auto named = static_cast<DataType>(a.output_dtype);
    const bool given = named != DataType::kUndefined;
    if (given && s.has_input(2) && s.type(2) != named) {
      return s.fail(Code::kWrongType, "type of zero point beside output_dtype", a.output_dtype,
                    static_cast<int64_t>(s.type(2)), 2);
    }
    return s.set_output(0, s.has_input(2) ? s.type(2) : (given ? named : DataType::kUint8),
                        s.shape(0));
  }
};

struct Requantize {
  using Attributes = RequantizeAttributes;
  static constexpr std::string_view name = "Requantize";
  template <class S>
  static Status infer(S& s) {
    const int rank = s.rank(0);
    for (int input : {1, 3}) {
      if (!s.has_input(input) || is_single(s, input)) continue;
      if (s.rank(input) != 1) {
        return s.fail(Code::kWrongRank, "rank of scale or bias", 1, s.rank(input), input);
      }
      int axis = 0;
      const int32_t given = s.template attributes<Attributes>().axis;
      if (Status t = normalize_axis(s, given, rank, axis); !t) return t;
      Status t =
          s.require_equal(s.dim(0, axis), s.dim(input, 0), "extent of scale or bias", input, 0);
      if (!t) return t;
    }
    if (!is_single(s, 2)) {
      return s.fail(Code::kWrongRank, "rank of zero point", 0, s.rank(2), 2);
    }
    return s.set_output(0, s.type(2), s.shape(0));
  }
};

struct DequantizeLinear {
  using Attributes = DequantizeAttributes;
  static constexpr std::string_view name = "DequantizeLinear";
  template <class S>
  static Status infer(S& s) {
    const auto& a = s.template attributes<Attributes>();
    if (Status t = require_granularity(s, a.axis, a.block_size); !t) return t;
    const auto named = static_cast<DataType>(a.output_dtype);
    return s.set_output(0, named != DataType::kUndefined ? named : s.type(1), s.shape(0));
  }
};

}  // namespace ops
}  // namespace intarsia
