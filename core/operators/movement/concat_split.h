// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rules of Concat, which joins tensors along an axis, and Split, which undoes
// it.
#pragma once

#include "core/operators/common/attributes.h"
#include "core/operators/common/lists.h"

namespace intarsia {

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

namespace ops {

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

}  // namespace ops
}  // namespace intarsia
