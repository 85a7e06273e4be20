// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rules of operators that change, read or make extents: Reshape, Squeeze,
// Unsqueeze, Flatten, Shape, Size, ConstantOfShape, Range, Expand, Tile, Dropout, EyeLike.
// ONNX specification of operator set 24.
//
// A rule decides "this extent is at least k" by `dim_max(extent, k) == extent`: exact for numbers,
// and for expressions true where it holds for every assignment.
#pragma once

#include "core/operators/common/attributes.h"
#include "core/operators/common/unknown_extent.h"
#include "intarsia/shape.h"

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

struct ShapeAttributes {
  int32_t start = 0;
  int32_t end = INT32_MAX;
  template <class V>
  void fields(V& v) {
    v("start", start);
    v("end", end);
  }
};
static_assert(is_plan_struct<ShapeAttributes>);

/// ONNX's attribute `value`, a tensor of one element, as its bits and type.
struct ConstantOfShapeAttributes {
  int64_t value_bits = 0;  ///< The element in the low bytes, little endian.
  int32_t value_type = static_cast<int32_t>(DataType::kFloat);
  int32_t reserved = 0;
  template <class V>
  void fields(V& v) {
    v.scalar("value", value_bits, value_type);
  }
};
static_assert(is_plan_struct<ConstantOfShapeAttributes>);

struct DropoutAttributes {
  int32_t seed = 0;
  template <class V>
  void fields(V& v) {
    v("seed", seed);
  }
};
static_assert(is_plan_struct<DropoutAttributes>);

struct RangeAttributes {
  /// Type in which 16-bit elements are computed; kFloat is the only one.
  int32_t stash_type = static_cast<int32_t>(DataType::kFloat);
  template <class V>
  void fields(V& v) {
    v("stash_type", stash_type, between(1, 1));
  }
};
static_assert(is_plan_struct<RangeAttributes>);

struct EyeLikeAttributes {
  int32_t dtype = 0;  ///< 0: the input's type.
  int32_t k = 0;      ///< Which diagonal.
  template <class V>
  void fields(V& v) {
    v("dtype", dtype, kElementType);
    v("k", k);
  }
};
static_assert(is_plan_struct<EyeLikeAttributes>);

/// The axes that Shape reads: [start, end) after counting from the end and clamping.
struct AxisRange {
  int start = 0;
  int end = 0;
  constexpr AxisRange(const ShapeAttributes& attributes, int rank)
      : start(clamp(attributes.start, rank)), end(clamp(attributes.end, rank)) {
    if (end < start) end = start;
  }
  static constexpr int clamp(int32_t axis, int rank) {
    if (axis < 0) axis = axis < -rank ? 0 : axis + rank;
    return axis > rank ? rank : axis;
  }
};

namespace ops {

template <class Dim>
bool is_at_least(const Dim& extent, int64_t minimum) {
  return dim_max(extent, Dim(minimum)) == extent;
}

/// Product of the extents of axes [first, last).
template <class Dim>
Dim product_of(const Shape<Dim>& shape, int first, int last) {
  Dim product = 1;
  for (int axis = first; axis < last; ++axis) product = product * shape[axis];
  return product;
}

/// True if input `input`, a list of axes, is known. Always so at run time.
template <class S>
bool axes_are_known(S& s, int input) {
  bool known = s.has_values(input);
  for (int64_t i = 0; known && i < s.value_count(input); ++i)
    known = is_constant(s.value(input, i));
  return known;
}

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

/// Reads input `input` as a list of axes of a tensor of rank `rank` into `selected`. The axes must
/// be distinct and in range. REQUIRES: they are known.
template <class S>
Status read_axes(S& s, int input, int rank, bool (&selected)[kMaxRank]) {
  for (bool& axis : selected) axis = false;
  const int64_t count = s.value_count(input);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t listed = constant_value(s.value(input, i));
    const int64_t axis = listed < 0 ? listed + rank : listed;
    if (axis < 0 || axis >= rank) {
      return s.fail(Code::kIndexOutOfRange, "axis", rank - 1, listed, input);
    }
    if (selected[axis]) return s.fail(Code::kInvalidValue, "axis given twice", 0, axis, input);
    selected[axis] = true;
  }
  return {};
}

/// Number of extents that input `input` lists, if it may be a rank.
template <class S>
Status read_rank(S& s, int input, int& rank) {
  const int64_t count = s.rank(input) == 1 ? s.value_count(input) : -1;
  if (count < 0 || count > kMaxRank) {
    return s.fail(Code::kWrongRank, "number of listed extents", kMaxRank, count, input);
  }
  rank = static_cast<int>(count);
  return {};
}

/// Output 0 is input 0; a second output, Dropout's mask, has the same extents.
struct Dropout {
  using Attributes = DropoutAttributes;
  static constexpr std::string_view name = "Dropout";
  template <class S>
  static Status infer(S& s) {
    if (Status status = s.set_output(0, s.type(0), s.shape(0)); !status) return status;
    return s.set_output(1, DataType::kBool, s.shape(0));
  }
};

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
    // Equal extents of input and output cancel, so that no quotient is left where one is 0.
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
      result[axis] = extent;
      if (!cancel(s, extent, used)) others = others * extent;
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

struct ShapeOf {
  using Attributes = ShapeAttributes;
  static constexpr std::string_view name = "Shape";
  template <class S>
  static Status infer(S& s) {
    const AxisRange axes(s.template attributes<ShapeAttributes>(), s.rank(0));
    Shape<typename S::Dim> result;
    result.push(axes.end - axes.start);
    return s.set_output(0, DataType::kInt64, result);
  }
};

struct Size {
  static constexpr std::string_view name = "Size";
  template <class S>
  static Status infer(S& s) {
    return s.set_output(0, DataType::kInt64, {});
  }
};

struct ConstantOfShape {
  using Attributes = ConstantOfShapeAttributes;
  static constexpr std::string_view name = "ConstantOfShape";
  template <class S>
  static Status infer(S& s) {
    const auto& attributes = s.template attributes<ConstantOfShapeAttributes>();
    Shape<typename S::Dim> result;
    if (Status status = read_rank(s, 0, result.rank); !status) return status;
    for (int axis = 0; axis < result.rank; ++axis) {
      result[axis] = s.value(0, axis);
      if (Status status = s.require_at_least(0, result[axis], "listed extent", 0, axis); !status) {
        return status;
      }
    }
    return s.set_output(0, static_cast<DataType>(attributes.value_type), result);
  }
};

/// Number of elements of Range over reals; -1 if there is no such number.
inline int64_t real_range_count(double start, double limit, double delta) {
  const double count = (limit - start) / delta;
  if (!(count < 9.0e15) || delta == 0) return -1;  // NaN included
  if (count <= 0) return 0;
  const auto whole = static_cast<int64_t>(count);
  return whole + (static_cast<double>(whole) < count ? 1 : 0);
}

/// Number of elements of Range over integers. REQUIRES: delta is not 0.
template <class Dim>
Dim range_count(const Dim& start, const Dim& limit, const Dim& delta) {
  return dim_max(Dim(0), ceil_div(limit - start, delta));
}
inline CheckedInt range_count(CheckedInt from, CheckedInt to, CheckedInt by) {
  const int64_t start = from.value(), limit = to.value(), delta = by.value();
  if (delta > 0 ? limit <= start : limit >= start) return 0;
  // The distance of two int64 may need 64 bits.
  const uint64_t distance =
      delta > 0 ? uint64_t(limit) - uint64_t(start) : uint64_t(start) - uint64_t(limit);
  const uint64_t step = delta > 0 ? uint64_t(delta) : uint64_t{0} - uint64_t(delta);
  const uint64_t count = (distance - 1) / step + 1;
  return count > uint64_t{INT64_MAX} ? CheckedInt::kBeyond : static_cast<int64_t>(count);
}

struct Range {
  using Attributes = RangeAttributes;
  static constexpr std::string_view name = "Range";
  template <class S>
  static Status infer(S& s) {
    using Dim = typename S::Dim;
    for (int input = 0; input < 3; ++input) {
      if (Status status = s.require_equal(1, s.value_count(input), "number of elements", input);
          !status) {
        return status;
      }
    }
    Shape<Dim> result;
    const bool real = s.type(0) == DataType::kFloat || s.type(0) == DataType::kDouble ||
                      s.type(0) == DataType::kFloat16 || s.type(0) == DataType::kBfloat16;
    if (real && s.has_values(0) && s.has_values(1) && s.has_values(2)) {
      const int64_t count =
          real_range_count(s.real_value(0, 0), s.real_value(1, 0), s.real_value(2, 0));
      if (count < 0)
        return s.fail(Code::kInvalidValue, "delta, or the number of elements", 0, 0, 2);
      result.push(count);
    } else {
      const Dim delta = s.value(2, 0);
      if (delta == Dim(0)) return s.fail(Code::kInvalidValue, "delta 0", 0, 0, 2);
      // A real step that is not known may be a fraction: no bound of the others bounds the count.
      const bool open = real && !is_constant(delta);
      result.push(open ? any_extent<Dim>() : range_count(s.value(0, 0), s.value(1, 0), delta));
    }
    return s.set_output(0, s.type(0), result);
  }
};

struct Expand {
  static constexpr std::string_view name = "Expand";
  template <class S>
  static Status infer(S& s) {
    Shape<typename S::Dim> listed;
    if (Status status = read_rank(s, 1, listed.rank); !status) return status;
    Shape<typename S::Dim> result;
    result.rank = listed.rank > s.rank(0) ? listed.rank : s.rank(0);
    for (int axis = 0; axis < result.rank; ++axis) {
      const int own = axis - (result.rank - s.rank(0));
      const int other = axis - (result.rank - listed.rank);
      const typename S::Dim a = own >= 0 ? s.dim(0, own) : typename S::Dim(1);
      const typename S::Dim b = other >= 0 ? s.value(1, other) : typename S::Dim(1);
      if (Status status = s.require_at_least(0, b, "listed extent", 1, other); !status)
        return status;
      if (Status status = s.broadcast(a, b, result[axis], 1, other); !status) return status;
    }
    return s.set_output(0, s.type(0), result);
  }
};

struct Tile {
  static constexpr std::string_view name = "Tile";
  template <class S>
  static Status infer(S& s) {
    int count = 0;
    if (Status status = read_rank(s, 1, count); !status) return status;
    if (count != s.rank(0)) {
      return s.fail(Code::kWrongExtent, "number of repeats", s.rank(0), count, 1);
    }
    Shape<typename S::Dim> result;
    for (int axis = 0; axis < count; ++axis) {
      const typename S::Dim repeats = s.value(1, axis);
      if (Status status = s.require_at_least(0, repeats, "repeats", 1, axis); !status)
        return status;
      result.push(s.dim(0, axis) * repeats);
    }
    return s.set_output(0, s.type(0), result);
  }
};

struct EyeLike {
  using Attributes = EyeLikeAttributes;
  static constexpr std::string_view name = "EyeLike";
  template <class S>
  static Status infer(S& s) {
    if (s.rank(0) != 2) return s.fail(Code::kWrongRank, "rank", 2, s.rank(0), 0);
    const int32_t dtype = s.template attributes<EyeLikeAttributes>().dtype;
    return s.set_output(0, dtype == 0 ? s.type(0) : static_cast<DataType>(dtype), s.shape(0));
  }
};

}  // namespace ops
}  // namespace intarsia
