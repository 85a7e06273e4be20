// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rules of operators on strings. How many there are afterwards only the run
// knows: the extents given here are bounds.
#pragma once

#include "core/operators/common/attributes.h"
#include "core/operators/common/unknown_extent.h"
#include "intarsia/shape.h"

namespace intarsia {

struct StringNormalizerAttributes {
  enum CaseChange : int32_t { kLower = 0, kUpper = 1, kNone = 2 };
  int32_t case_change_action = kNone;
  int32_t is_case_sensitive = 0;
  /// Ignored: letters have the case that Unicode gives them, wherever they are.
  StringAttribute locale;
  ListAttribute<StringAttribute> stopwords;
  template <class V>
  void fields(V& v) {
    v.choice("case_change_action", case_change_action, {"LOWER", "UPPER", "NONE"});
    v("is_case_sensitive", is_case_sensitive, kFlag);
    v("locale", locale);
    v("stopwords", stopwords);
  }
};
static_assert(is_plan_struct<StringNormalizerAttributes>);

struct StringSplitAttributes {
  /// Empty: any run of white space, and none at the ends counts.
  StringAttribute delimiter;
  /// Negative: any number.
  int32_t maxsplit = -1;
  template <class V>
  void fields(V& v) {
    v("delimiter", delimiter);
    v("maxsplit", maxsplit);
  }
};
static_assert(is_plan_struct<StringSplitAttributes>);

namespace ops {

/// The strings that are no stop words; one empty string if none is left.
struct StringNormalizer {
  using Attributes = StringNormalizerAttributes;
  static constexpr std::string_view name = "StringNormalizer";
  template <class S>
  static Status infer(S& s) {
    using Dim = typename S::Dim;
    const int rank = s.rank(0);
    if (rank != 1 && rank != 2) return s.fail(Code::kWrongRank, "rank of X", 1, rank, 0);
    if (rank == 2) {
      if (Status t = s.require_equal(s.dim(0, 0), Dim(int64_t{1}), "rows of X", 0, 0); !t) return t;
    }
    Shape<Dim> y = s.shape(0);
    const Dim most = dim_max(y[rank - 1], Dim(int64_t{1}));
    y[rank - 1] = s.template attributes<Attributes>().stopwords.size() != 0 ? at_most(most) : most;
    return s.set_output(0, s.type(0), y);
  }
};

/// The parts of each string along a new last axis, filled with empty strings; and their numbers.
struct StringSplit {
  using Attributes = StringSplitAttributes;
  static constexpr std::string_view name = "StringSplit";
  template <class S>
  static Status infer(S& s) {
    using Dim = typename S::Dim;
    Shape<Dim> y = s.shape(0);
    if (y.rank == kMaxRank) {
      return s.fail(Code::kWrongRank, "rank of X", kMaxRank - 1, y.rank, 0);
    }
    const int32_t most = s.template attributes<Attributes>().maxsplit;
    y.push(most < 0 ? any_extent<Dim>() : at_most(Dim(int64_t{most} + 1)));
    if (Status t = s.set_output(0, s.type(0), y); !t) return t;
    return s.set_output(1, DataType::kInt64, s.shape(0));
  }
};

}  // namespace ops
}  // namespace intarsia
