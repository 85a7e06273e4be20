// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rules of operators that rearrange, cut and join tensors.
//
// Where an extent depends on elements that only the run knows, the rule gives the largest extent
// possible (`at_most`); the kernel, or this rule with the elements at hand, gives the actual one.
#pragma once

#include <limits>

#include "core/operators/common/attributes.h"
#include "core/operators/common/unknown_extent.h"
#include "intarsia/shape.h"

namespace intarsia {

/// Value of an optional `axis` that the model leaves out.
inline constexpr int32_t kNoAxis = std::numeric_limits<int32_t>::min();

struct ConcatAttributes {
  int32_t axis = 0;
  template <class V>
  void fields(V& v) {
    v.required("axis", axis);
  }
};
static_assert(is_plan_struct<ConcatAttributes>);

struct SplitAttributes {
  int32_t axis = 0;
  /// Parts of equal extent, the last one smaller; 0: input `split`, or one part per output.
  int32_t num_outputs = 0;
  template <class V>
  void fields(V& v) {
    v("axis", axis);
    v("num_outputs", num_outputs, at_least(1));
  }
};
static_assert(is_plan_struct<SplitAttributes>);

struct TransposeAttributes {
  /// Axis i of the output is axis perm[i] of the input; empty: the axes in reverse.
  IntList perm;
  template <class V>
  void fields(V& v) {
    v("perm", perm);
  }
};
static_assert(is_plan_struct<TransposeAttributes>);

struct PadAttributes {
  enum Mode : int32_t { kConstant = 0, kReflect = 1, kEdge = 2, kWrap = 3 };
  int32_t mode = kConstant;
  template <class V>
  void fields(V& v) {
    v.choice("mode", mode, {"constant", "reflect", "edge", "wrap"});
  }
};
static_assert(is_plan_struct<PadAttributes>);

/// DepthToSpace, SpaceToDepth.
struct BlockAttributes {
  enum Mode : int32_t { kDcr = 0, kCrd = 1 };
  int32_t blocksize = 0;
  int32_t mode = kDcr;
  template <class V>
  void fields(V& v) {
    v.required("blocksize", blocksize, at_least(1));
    v.choice("mode", mode, {"DCR", "CRD"});
  }
};
static_assert(is_plan_struct<BlockAttributes>);

struct TriluAttributes {
  int32_t upper = 1;
  template <class V>
  void fields(V& v) {
    v("upper", upper, kFlag);
  }
};
static_assert(is_plan_struct<TriluAttributes>);

struct ReverseSequenceAttributes {
  int32_t batch_axis = 1;
  int32_t time_axis = 0;
  template <class V>
  void fields(V& v) {
    v("batch_axis", batch_axis, between(0, 1));
    v("time_axis", time_axis, between(0, 1));
  }
};
static_assert(is_plan_struct<ReverseSequenceAttributes>);

namespace ops {

/// Beyond every extent: larger values mean the same to a rule that clamps to an axis.
inline constexpr int64_t kBeyondExtents = int64_t{1} << 31;

/// `axis`, counted from the back if negative, to an index below `rank`.
template <class S>
Status normalize_axis(const S& s, int64_t axis, int rank, int& result, int operand = 0) {
  if (axis < -rank || axis >= rank) {
    return s.fail(Code::kIndexOutOfRange, "axis out of range", rank, axis, operand);
  }
  result = static_cast<int>(axis < 0 ? axis + rank : axis);
  return {};
}

/// Reads the optional list of axes in input `input`: `count` different axes, without it 0, 1, ...
/// `known` is false if an axis is only known at run time.
template <class S>
Status read_axes(const S& s, int input, int64_t count, int rank, int (&axes)[kMaxRank],
                 bool& known) {
  known = true;
  if (count < 0) return s.fail(Code::kUnsupported, "number of axes that varies", 0, 0, input);
  if (count > rank) return s.fail(Code::kWrongExtent, "number of axes", rank, count, input);
  bool seen[kMaxRank] = {};
  for (int64_t i = 0; i < count; ++i) {
    axes[i] = static_cast<int>(i);
    if (s.has_input(input)) {
      const typename S::Dim axis = s.value(input, i);
      if (!is_constant(axis)) {
        known = false;
        return {};
      }
      if (Status t = normalize_axis(s, constant_value(axis), rank, axes[i], input); !t) return t;
    }
    if (seen[axes[i]]) return s.fail(Code::kInvalidValue, "axis given twice", 0, axes[i], input);
    seen[axes[i]] = true;
  }
  return {};
}

/// Fails unless list `input`, if present, has `count` elements.
template <class S>
Status require_length(const S& s, int input, int64_t count, const char* what) {
  if (!s.has_input(input) || s.value_count(input) == count) return {};
  return s.fail(Code::kWrongExtent, what, count, s.value_count(input), input);
}

struct Concat {
  using Attributes = ConcatAttributes;
  static constexpr std::string_view name = "Concat";
  template <class S>
  static Status infer(S& s) {
    const int rank = s.rank(0);
    int axis = 0;
    if (Status t = normalize_axis(s, s.template attributes<Attributes>().axis, rank, axis); !t) {
      return t;
    }
    Shape<typename S::Dim> y = s.shape(0);
    for (int input = 1; input < s.input_count(); ++input) {
      if (s.rank(input) != rank) {
        return s.fail(Code::kWrongRank, "rank", rank, s.rank(input), input);
      }
      for (int i = 0; i < rank; ++i) {
        if (i == axis) {
          y[i] = y[i] + s.dim(input, i);
        } else if (Status t = s.require_equal(y[i], s.dim(input, i), "extent", input, i); !t) {
          return t;
        } else if (!is_constant(y[i]) && is_constant(s.dim(input, i))) {
          y[i] = s.dim(input, i);
        }
      }
    }
    return s.set_output(0, s.type(0), y);
  }
};

struct Split {
  using Attributes = SplitAttributes;
  static constexpr std::string_view name = "Split";

  /// Extent of part `index` out of `parts` along an axis of extent `whole` without input `split`.
  template <class Dim>
  static Dim even_part(const Dim& whole, int parts, int index) {
    const Dim count = int64_t{parts};
    Dim part = ceil_div(whole, count);
    if (is_constant(whole) && constant_value(whole) % parts == 0) return part;
    const Dim zero = int64_t{0};
    return dim_max(zero, dim_min(part, whole - part * Dim(int64_t{index})));
  }

  template <class S>
  static Status infer(S& s) {
    using Dim = typename S::Dim;
    const auto& a = s.template attributes<Attributes>();
    const int parts = a.num_outputs != 0 ? a.num_outputs : s.output_count();
    int axis = 0;
    if (Status t = normalize_axis(s, a.axis, s.rank(0), axis); !t) return t;
    if (Status t = require_length(s, 1, parts, "elements of split"); !t) return t;
    if (parts < 1 || parts < s.output_count()) {
      return s.fail(Code::kInvalidValue, "num_outputs", s.output_count(), a.num_outputs);
    }
    const Dim whole = s.dim(0, axis);
    const Dim zero = int64_t{0};
    Dim sum = zero;
    // Attribute num_outputs may be any number: what is walked are outputs, and the listed extents.
    for (int i = 0; i < (s.has_input(1) ? parts : s.output_count()); ++i) {
      Shape<Dim> y = s.shape(0);
      if (s.has_input(1)) {
        y[axis] = s.value(1, i);
        if (!is_constant(y[axis])) {
          y[axis] = dim_max(zero, dim_min(y[axis], whole));
        } else if (constant_value(y[axis]) < 0 || constant_value(y[axis]) > kBeyondExtents) {
          return s.fail(Code::kInvalidValue, "element of split", 0, constant_value(y[axis]), 1);
        }
      } else {
        y[axis] = even_part(whole, parts, i);
      }
      sum = sum + y[axis];
      if (Status t = s.set_output(i, s.type(0), y); !t) return t;
    }
    return s.has_input(1) ? s.require_equal(whole, sum, "sum of split", 1) : Status();
  }
};

struct Slice {
  static constexpr std::string_view name = "Slice";

  /// First index, number of indices, and step along one axis.
  template <class Dim>
  struct Range {
    Dim first = int64_t{0};
    Dim extent = int64_t{0};
    int64_t step = 1;
  };

  /// `bound` as an index: counted from the back if negative, then clamped to [low, high].
  template <class Dim>
  static Dim clamp_index(const Dim& bound, const Dim& extent, int64_t low, const Dim& high) {
    Dim index = bound;
    if (is_constant(bound)) {
      const int64_t value = constant_value(bound);
      if (value >= kBeyondExtents) return high;
      if (value <= -kBeyondExtents) {
        index = low;
      } else if (value < 0) {
        index = extent + bound;
      }
    } else {
      // 1 if the bound is not negative, else 0.
      const Dim from_front = dim_max(Dim(int64_t{0}), dim_min(bound + Dim(int64_t{1}), int64_t{1}));
      index = bound + extent - extent * from_front;
    }
    return dim_min(dim_max(index, Dim(low)), high);
  }

  /// REQUIRES: step != 0.
  template <class Dim>
  static Range<Dim> range(const Dim& start, const Dim& end, int64_t step, const Dim& extent) {
    const Dim zero = int64_t{0};
    const Dim last = extent - Dim(int64_t{1});
    Range<Dim> result;
    if (step > 0) {
      result.step = step < kBeyondExtents ? step : kBeyondExtents;
      result.first = clamp_index(start, extent, 0, extent);
      const Dim stop = clamp_index(end, extent, 0, extent);
      result.extent = ceil_div(stop - result.first, Dim(result.step));
    } else {
      result.step = step > -kBeyondExtents ? step : -kBeyondExtents;
      result.first = clamp_index(start, extent, 0, last);
      const Dim stop = clamp_index(end, extent, -1, last);
      result.extent = ceil_div(result.first - stop, Dim(-result.step));
    }
    result.extent = dim_max(zero, result.extent);
    const bool exact = is_constant(start) && is_constant(end);
    if (!exact) result.extent = dim_min(result.extent, extent);
    return result;
  }

  template <class S>
  static Status infer(S& s) {
    using Dim = typename S::Dim;
    const int rank = s.rank(0);
    const int64_t count = s.value_count(1);
    int axes[kMaxRank] = {};
    bool known = true;
    if (Status t = read_axes(s, 3, count, rank, axes, known); !t) return t;
    if (Status t = require_length(s, 2, count, "elements of ends"); !t) return t;
    if (Status t = require_length(s, 3, count, "elements of axes"); !t) return t;
    if (Status t = require_length(s, 4, count, "elements of steps"); !t) return t;
    Shape<Dim> y = s.shape(0);
    for (int i = 0; !known && i < rank; ++i) y[i] = at_most(y[i]);
    for (int i = 0; known && i < count; ++i) {
      Dim& extent = y[axes[i]];
      const Dim step = s.has_input(4) ? s.value(4, i) : Dim(int64_t{1});
      if (!is_constant(step)) {
        extent = at_most(extent);
      } else if (constant_value(step) == 0) {
        return s.fail(Code::kInvalidValue, "step", 1, 0, 4, axes[i]);
      } else {
        extent = range(s.value(1, i), s.value(2, i), constant_value(step), extent).extent;
      }
    }
    return s.set_output(0, s.type(0), y);
  }
};

struct Transpose {
  using Attributes = TransposeAttributes;
  static constexpr std::string_view name = "Transpose";

  /// The input's axis that becomes axis `axis` of the output.
  static int source(const Attributes& a, int rank, int axis) {
    return a.perm.count == 0 ? rank - 1 - axis : a.perm[axis];
  }

  template <class S>
  static Status infer(S& s) {
    const auto& a = s.template attributes<Attributes>();
    const int rank = s.rank(0);
    if (a.perm.count != 0 && a.perm.count != rank) {
      return s.fail(Code::kInvalidValue, "length of perm", rank, a.perm.count);
    }
    Shape<typename S::Dim> y;
    bool seen[kMaxRank] = {};
    for (int axis = 0; axis < rank; ++axis) {
      const int from = source(a, rank, axis);
      if (from < 0 || from >= rank || seen[from]) {
        return s.fail(Code::kInvalidValue, "perm is no permutation", rank, from, -1, axis);
      }
      seen[from] = true;
      y.push(s.dim(0, from));
    }
    return s.set_output(0, s.type(0), y);
  }
};

struct Pad {
  using Attributes = PadAttributes;
  static constexpr std::string_view name = "Pad";
  template <class S>
  static Status infer(S& s) {
    using Dim = typename S::Dim;
    const int rank = s.rank(0);
    const int32_t mode = s.template attributes<Attributes>().mode;
    const int64_t count = s.has_input(3) ? s.value_count(3) : rank;
    int axes[kMaxRank] = {};
    bool known = true;
    if (mode < 0 || mode > 3) return s.fail(Code::kInvalidValue, "mode", 3, mode);
    if (Status t = read_axes(s, 3, count, rank, axes, known); !t) return t;
    if (Status t = require_length(s, 1, 2 * count, "elements of pads"); !t) return t;
    Shape<Dim> y = s.shape(0);
    for (int i = 0; !known && i < rank; ++i) y[i] = any_extent<Dim>();
    for (int i = 0; known && i < count; ++i) {
      const Dim pads[2] = {s.value(1, i), s.value(1, count + i)};
      for (const Dim& pad : pads) {
        if (is_constant(pad) &&
            (constant_value(pad) > kBeyondExtents || constant_value(pad) < -kBeyondExtents)) {
          return s.fail(Code::kInvalidValue, "pad", 0, constant_value(pad), 1, axes[i]);
        }
        y[axes[i]] = y[axes[i]] + pad;
      }
      if (Status t = s.require_at_least(int64_t{0}, y[axes[i]], "extent", 0, axes[i]); !t) return t;
    }
    return s.set_output(0, s.type(0), y);
  }
};

/// DepthToSpace (`kInwards` false) and SpaceToDepth. The input is N, C, H, W.
template <bool kInwards>
struct BlockRule {
  using Attributes = BlockAttributes;
  static constexpr std::string_view name = kInwards ? "SpaceToDepth" : "DepthToSpace";
  template <class S>
  static Status infer(S& s) {
    using Dim = typename S::Dim;
    const BlockAttributes& a = s.template attributes<Attributes>();
    if (s.rank(0) != 4) return s.fail(Code::kWrongRank, "rank", 4, s.rank(0), 0);
    if (a.blocksize < 1 || a.blocksize > (1 << 15)) {
      return s.fail(Code::kInvalidValue, "blocksize", 1, a.blocksize);
    }
    if (a.mode < 0 || a.mode > 1) return s.fail(Code::kInvalidValue, "mode", 1, a.mode);
    const Dim block = int64_t{a.blocksize};
    Shape<Dim> y = s.shape(0);
    for (int axis = 1; axis < 4; ++axis) {
      const Dim factor = axis == 1 ? block * block : block;
      const bool divide = (axis == 1) != kInwards;
      const Dim x = s.dim(0, axis);
      y[axis] = divide ? floor_div(x, factor) : x * factor;
      if (!divide) continue;
      Status t = s.require_equal(x, y[axis] * factor, "extent that blocksize divides", 0, axis);
      if (!t) return t;
    }
    return s.set_output(0, s.type(0), y);
  }
};
using DepthToSpace = BlockRule<false>;
using SpaceToDepth = BlockRule<true>;

struct Trilu {
  using Attributes = TriluAttributes;
  static constexpr std::string_view name = "Trilu";
  template <class S>
  static Status infer(S& s) {
    if (s.rank(0) < 2) return s.fail(Code::kWrongRank, "rank", 2, s.rank(0), 0);
    if (Status t = require_length(s, 1, 1, "elements of k"); !t) return t;
    return s.set_output(0, s.type(0), s.shape(0));
  }
};

struct ReverseSequence {
  using Attributes = ReverseSequenceAttributes;
  static constexpr std::string_view name = "ReverseSequence";
  template <class S>
  static Status infer(S& s) {
    const auto& a = s.template attributes<Attributes>();
    if (s.rank(0) < 2) return s.fail(Code::kWrongRank, "rank", 2, s.rank(0), 0);
    if (s.rank(1) != 1) return s.fail(Code::kWrongRank, "rank", 1, s.rank(1), 1);
    if (a.time_axis < 0 || a.time_axis > 1) {
      return s.fail(Code::kInvalidValue, "time_axis", 1, a.time_axis);
    }
    if (a.batch_axis != 1 - a.time_axis) {
      return s.fail(Code::kInvalidValue, "batch_axis, next to time_axis", 1 - a.time_axis,
                    a.batch_axis);
    }
    Status t = s.require_equal(s.dim(0, a.batch_axis), s.dim(1, 0), "sequence_lens", 1, 0);
    return t ? s.set_output(0, s.type(0), s.shape(0)) : t;
  }
};

}  // namespace ops
}  // namespace intarsia
