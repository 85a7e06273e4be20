// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rules of operators that give the same elements other extents: Reshape,
// Squeeze, Unsqueeze, Flatten. ONNX specification of operator set 24.
#pragma once

#include "core/operators/common/attributes.h"
#include "core/operators/common/lists.h"

namespace intarsia {

struct ReshapeAttributes {
  /// 1: an extent of 0 means 0; 0: it means the input's extent of that axis.
  int32_t allowzero = 0;
  template <class V>
  void fields(V& v) {
    v("allowzero", allowzero, kFlag);
  }
};
static_assert(is_plan_struct<ReshapeAttributes>);

struct FlattenAttributes {
  int32_t axis = 1;
  template <class V>
  void fields(V& v) {
    v("axis", axis);
  }
};
static_assert(is_plan_struct<FlattenAttributes>);

struct BitCastAttributes {
  /// A DataType.
  int32_t to = 0;
  template <class V>
  void fields(V& v) {
    v.required("to", to, kElementType);
  }
};
static_assert(is_plan_struct<BitCastAttributes>);

namespace ops {

/// The extents of input 0, another element type of the same width. Strings have no bits.
struct BitCast {
  using Attributes = BitCastAttributes;
  static constexpr std::string_view name = "BitCast";
  template <class S>
  static Status infer(S& s) {
    const int32_t to = s.template attributes<Attributes>().to;
    const auto type = static_cast<DataType>(to);
    const int bits = element_bits(s.type(0));
    if (to <= 0 || to > kLastDataType || type == DataType::kString || element_bits(type) != bits) {
      return s.fail(Code::kInvalidValue, "bits of the type that attribute to names", bits,
                    to > 0 && to <= kLastDataType ? element_bits(type) : 0);
    }
    return s.set_output(0, type, s.shape(0));
  }
};

/// The same bytes as narrower elements, or elements below a byte as bytes: the last extent is
/// larger or smaller by the ratio. Never as wider ones than bytes: nothing says that they lie
/// aligned.
struct Reinterpret {
  using Attributes = BitCastAttributes;
  static constexpr std::string_view name = "Reinterpret";
  template <class S>
  static Status infer(S& s) {
    using Dim = typename S::Dim;
    const int32_t to = s.template attributes<Attributes>().to;
    const auto type = static_cast<DataType>(to);
    const int from_bits = element_bits(s.type(0));
    const int to_bits = to > 0 && to <= kLastDataType ? element_bits(type) : 0;
    const bool narrows = to_bits > 0 && from_bits >= to_bits && from_bits % to_bits == 0;
    const bool widens = from_bits > 0 && to_bits == 8 && to_bits % from_bits == 0;
    if (!(narrows || widens) || type == DataType::kString || s.type(0) == DataType::kString) {
      return s.fail(Code::kInvalidValue, "bits of the type that attribute to names", from_bits,
                    to_bits);
    }
    const int rank = s.rank(0);
    if (rank == 0) return s.fail(Code::kWrongRank, "rank of the input", 1, 0, 0);
    Shape<Dim> shape = s.shape(0);
    Dim& last = shape[rank - 1];
    if (narrows) {
      last = last * Dim(int64_t{from_bits / to_bits});
    } else {
      const Dim ratio = int64_t{to_bits / from_bits};
      const Dim whole = floor_div(last, ratio);
      Status t = s.require_equal(whole * ratio, last,
                                 "elements that fill bytes along the last axis", 0, rank - 1);
      if (!t) return t;
      last = whole;
    }
    return s.set_output(0, type, shape);
  }
};

/// For axes that only the run tells: output 0 with `rank` extents, each at most the input's
/// largest.
template <class S>
Status set_unknown_axes(S& s, int64_t rank) {
  if (rank < 0 || rank > kMaxRank) {
    return s.fail(Code::kWrongRank, "rank of the output", kMaxRank, rank, 1);
  }
  typename S::Dim largest = 1;
  for (int axis = 0; axis < s.rank(0); ++axis) largest = dim_max(largest, s.dim(0, axis));
  Shape<typename S::Dim> result;
  for (int axis = 0; axis < rank; ++axis) {
    result.push(at_most(largest));
  }
  return s.set_output(0, s.type(0), result);
}

struct Reshape {
  using Attributes = ReshapeAttributes;
  static constexpr std::string_view name = "Reshape";
  template <class S>
  static Status infer(S& s) {
    using Dim = typename S::Dim;
    Shape<Dim> result;
    if (Status status = read_rank(s, 1, result.rank); !status) return status;
    const bool copies = s.template attributes<ReshapeAttributes>().allowzero == 0;
    const int inferred = inferred_axis(s, result.rank);
    // Equal extents of input and output cancel before the division, so that no quotient is left
    // where one is 0.
    bool used[kMaxRank] = {};
    Dim others = 1;
    for (int axis = 0; axis < result.rank; ++axis) {
      if (axis == inferred) continue;
      Dim extent = s.value(1, axis);
      if (copies && extent == Dim(0)) {
        if (axis >= s.rank(0)) {
          return s.fail(Code::kWrongExtent, "extent 0 beyond the input's axes", s.rank(0) - 1, axis,
                        1, axis);
        }
        extent = s.dim(0, axis);
      } else if (!is_at_least(extent, 0)) {
        if (is_constant(extent)) {
          return s.fail(Code::kInvalidValue, "listed extent", 0, constant_value(extent), 1, axis);
        }
        extent = dim_max(extent, Dim(0));
      }
      if (!copies && extent == Dim(0) && inferred >= 0 && s.value(1, inferred) == Dim(-1)) {
        // Nothing says what the other one is.
        return s.fail(Code::kInvalidValue, "listed extent beside -1", 1, 0, 1, axis);
      }
      result[axis] = extent;
      if (inferred < 0 || !cancel(s, extent, used)) others = others * extent;
    }
    Dim total = 1;
    for (int axis = 0; axis < s.rank(0); ++axis) {
      if (!used[axis]) total = total * s.dim(0, axis);
    }
    if (inferred >= 0) {
      result[inferred] = floor_div(total, others);
      others = others * result[inferred];
    }
    if (Status status = s.require_equal(total, others, "number of elements", 0); !status) {
      return status;
    }
    return s.set_output(0, s.type(0), result);
  }

 private:
  /// The axis that the others leave over: where -1 is listed, else, unless the input may be empty,
  /// where a value is listed that may turn out to be -1; -1 if there is none.
  template <class S>
  static int inferred_axis(S& s, int rank) {
    const bool divisible = is_at_least(product_of(s.shape(0), 0, s.rank(0)), 1);
    int candidate = -1;
    for (int axis = rank - 1; axis >= 0; --axis) {
      const typename S::Dim extent = s.value(1, axis);
      if (extent == typename S::Dim(-1)) return axis;
      if (divisible && !is_constant(extent) && !is_at_least(extent, 0)) candidate = axis;
    }
    return candidate;
  }
  /// Marks an input axis of that extent as used; false if none is left.
  template <class S>
  static bool cancel(S& s, const typename S::Dim& extent, bool (&used)[kMaxRank]) {
    for (int axis = 0; axis < s.rank(0); ++axis) {
      if (!used[axis] && s.dim(0, axis) == extent) return used[axis] = true;
    }
    return false;
  }
};

struct Squeeze {
  static constexpr std::string_view name = "Squeeze";
  template <class S>
  static Status infer(S& s) {
    bool selected[kMaxRank] = {};
    if (s.has_input(1)) {
      const int64_t count = s.value_count(1);
      if (!axes_are_known(s, 1)) return set_unknown_axes(s, count < 0 ? -1 : s.rank(0) - count);
      if (Status status = read_axes(s, 1, s.rank(0), selected); !status) return status;
    }
    Shape<typename S::Dim> result;
    for (int axis = 0; axis < s.rank(0); ++axis) {
      const typename S::Dim extent = s.dim(0, axis);
      if (!s.has_input(1)) {
        selected[axis] = extent == typename S::Dim(1);
        if (!selected[axis] && !is_constant(extent) && !is_at_least(extent, 2)) {
          return s.fail(Code::kUnsupported, "extent that may or may not be 1, and no axes given", 0,
                        0, 0, axis);
        }
      } else if (selected[axis]) {
        if (Status status = s.require_equal(1, extent, "squeezed extent", 0, axis); !status) {
          return status;
        }
      }
      if (!selected[axis]) result.push(extent);
    }
    return s.set_output(0, s.type(0), result);
  }
};

struct Unsqueeze {
  static constexpr std::string_view name = "Unsqueeze";
  template <class S>
  static Status infer(S& s) {
    const int64_t rank = s.value_count(1) < 0 ? kMaxRank + 1 : s.rank(0) + s.value_count(1);
    if (rank > kMaxRank) return s.fail(Code::kWrongRank, "rank of the output", kMaxRank, rank, 1);
    if (!axes_are_known(s, 1)) return set_unknown_axes(s, rank);
    bool inserted[kMaxRank] = {};
    if (Status status = read_axes(s, 1, static_cast<int>(rank), inserted); !status) return status;
    Shape<typename S::Dim> result;
    for (int axis = 0, source = 0; axis < rank; ++axis) {
      result.push(inserted[axis] ? typename S::Dim(1) : s.dim(0, source++));
    }
    return s.set_output(0, s.type(0), result);
  }
};

struct Flatten {
  using Attributes = FlattenAttributes;
  static constexpr std::string_view name = "Flatten";
  template <class S>
  static Status infer(S& s) {
    const int rank = s.rank(0);
    const int32_t given = s.template attributes<FlattenAttributes>().axis;
    const int32_t axis = given < 0 && given >= -rank ? given + rank : given;
    if (axis < 0 || axis > rank) return s.fail(Code::kIndexOutOfRange, "axis", rank, given, 0);
    Shape<typename S::Dim> result;
    result.push(product_of(s.shape(0), 0, axis));
    result.push(product_of(s.shape(0), axis, rank));
    return s.set_output(0, s.type(0), result);
  }
};

}  // namespace ops
}  // namespace intarsia
