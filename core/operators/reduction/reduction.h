// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rules of operators that reduce axes: Reduce* (axes are an optional input,
// ONNX operator set 18) and ArgMax/ArgMin (one axis, an attribute).
#pragma once

#include "core/operators/common/attributes.h"
#include "core/operators/common/unknown_extent.h"
#include "intarsia/shape.h"

namespace intarsia {

struct ReduceAttributes {
  int32_t keepdims = 1;
  /// 1: no axes means that nothing is reduced; 0: that everything is.
  int32_t noop_with_empty_axes = 0;
  template <class V>
  void fields(V& v) {
    v("keepdims", keepdims, kFlag);
    v("noop_with_empty_axes", noop_with_empty_axes, kFlag);
  }
};
static_assert(is_plan_struct<ReduceAttributes>);

struct ArgReduceAttributes {
  int32_t axis = 0;
  int32_t keepdims = 1;
  /// 1: of equal extremes the last counts.
  int32_t select_last_index = 0;
  template <class V>
  void fields(V& v) {
    v("axis", axis);
    v("keepdims", keepdims, kFlag);
    v("select_last_index", select_last_index, kFlag);
  }
};
static_assert(is_plan_struct<ArgReduceAttributes>);

/// CumSum, CumProd.
struct CumulativeAttributes {
  int32_t exclusive = 0;
  int32_t reverse = 0;
  template <class V>
  void fields(V& v) {
    v("exclusive", exclusive, kFlag);
    v("reverse", reverse, kFlag);
  }
};
static_assert(is_plan_struct<CumulativeAttributes>);

namespace ops {

/// Input 0 without the axes that input 1 lists, or with extent 1 there (keepdims).
struct Reduce {
  using Attributes = ReduceAttributes;
  static constexpr std::string_view name = "Reduce";
  template <class S>
  static Status infer(S& s) {
    return infer_as(s, s.type(0));
  }

 protected:
  /// With a result of this type.
  template <class S>
  static Status infer_as(S& s, DataType type) {
    const auto& attributes = s.template attributes<ReduceAttributes>();
    const int rank = s.rank(0);
    const int64_t listed = s.has_input(1) ? s.value_count(1) : 0;
    if (listed < 0) return infer_unknown(s, listed, type);
    if (listed > rank) {
      return s.fail(Code::kWrongExtent, "more axes than the input has", rank, listed, 1);
    }
    bool reduced[kMaxRank] = {};
    for (int axis = 0; axis < rank; ++axis) {
      reduced[axis] = listed == 0 && attributes.noop_with_empty_axes == 0;
    }
    for (int64_t index = 0; index < listed; ++index) {
      const typename S::Dim value = s.value(1, index);
      if (!is_constant(value)) return infer_unknown(s, listed, type);
      int64_t axis = constant_value(value);
      if (axis < 0) axis += rank;
      if (axis < 0 || axis >= rank) {
        return s.fail(Code::kIndexOutOfRange, "axis out of range", rank, constant_value(value), 1);
      }
      if (reduced[axis]) {
        return s.fail(Code::kInvalidValue, "axis given twice", 0, axis, 1);
      }
      reduced[axis] = true;
    }
    Shape<typename S::Dim> result;
    for (int axis = 0; axis < rank; ++axis) {
      if (!reduced[axis]) {
        result.push(s.dim(0, axis));
      } else if (attributes.keepdims != 0) {
        result.push(1);
      }
    }
    return s.set_output(0, type, result);
  }

 private:
  /// Axes that are only known at run time: each extent is one of the input's, or 1. `listed` is
  /// their number, or negative if not even that is known.
  template <class S>
  static Status infer_unknown(S& s, int64_t listed, DataType type) {
    const bool keep = s.template attributes<ReduceAttributes>().keepdims != 0;
    const int rank = s.rank(0);
    if (!keep && listed < 0) {
      return s.fail(Code::kUnsupported, "number of axes must be known for keepdims 0", 0, 0, 1);
    }
    const typename S::Dim one = 1;
    typename S::Dim largest = 1, smallest = 1;
    for (int axis = 0; axis < rank; ++axis) {
      largest = dim_max(largest, s.dim(0, axis));
      smallest = dim_min(smallest, s.dim(0, axis));
    }
    Shape<typename S::Dim> result;
    for (int axis = 0; axis < (keep ? rank : rank - static_cast<int>(listed)); ++axis) {
      const typename S::Dim bound = dim_max(one, keep ? s.dim(0, axis) : largest);
      // An axis that is kept may have no element.
      const bool filled = dim_min(one, keep ? s.dim(0, axis) : smallest) == one;
      result.push(filled ? dim_max(one, at_most(bound)) : at_most(bound));
    }
    return s.set_output(0, type, result);
  }
};

/// Sums of bytes, as integers of 32 bits.
struct SumCodes : Reduce {
  static constexpr std::string_view name = "SumCodes";
  template <class S>
  static Status infer(S& s) {
    return infer_as(s, DataType::kInt32);
  }
};

/// Input 0 without the axis, or with extent 1 there (keepdims); the result is int64.
struct ArgReduce {
  using Attributes = ArgReduceAttributes;
  static constexpr std::string_view name = "ArgReduce";
  template <class S>
  static Status infer(S& s) {
    const auto& attributes = s.template attributes<ArgReduceAttributes>();
    const int rank = s.rank(0);
    const int axis = attributes.axis < 0 ? attributes.axis + rank : attributes.axis;
    if (axis < 0 || axis >= (rank > 0 ? rank : 1)) {
      return s.fail(Code::kIndexOutOfRange, "axis out of range", rank, attributes.axis, 0);
    }
    Shape<typename S::Dim> result;
    for (int i = 0; i < rank; ++i) {
      if (i != axis) {
        result.push(s.dim(0, i));
      } else if (attributes.keepdims != 0) {
        result.push(1);
      }
    }
    return s.set_output(0, DataType::kInt64, result);
  }
};

}  // namespace ops
}  // namespace intarsia
