// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rules of the converter's own operators for support vector machines.
//
// SupportVectors: how near the rows of X [rows, columns] (or one row [columns]) are to each of the
// `vectors` [columns, count], summed up with the weights `coefficients` [sums, count] over groups
// of neighbouring vectors, of which `starts` [groups + 1] has the bounds: [rows, groups, sums].
// PairwiseProbabilities: the probabilities of classes [rows, classes] from the scores of all pairs
// of them [rows, pairs], in the order (0, 1), (0, 2), ..., (1, 2), ...
#pragma once

#include "intarsia/attributes.h"
#include "intarsia/shape.h"

namespace intarsia {

struct SupportVectorsAttributes {
  enum Kernel : int32_t { kLinear = 0, kPoly = 1, kRbf = 2, kSigmoid = 3 };
  int32_t kernel = kLinear;
  float gamma = 0;
  float coef0 = 0;
  float degree = 0;
  template <class V>
  void fields(V& v) {
    v.choice("kernel", kernel, {"LINEAR", "POLY", "RBF", "SIGMOID"});
    v("gamma", gamma);
    v("coef0", coef0);
    v("degree", degree);
  }
};
static_assert(is_plan_struct<SupportVectorsAttributes>);

struct PairwiseAttributes {
  int32_t classes = 2;
  template <class V>
  void fields(V& v) {
    v("classes", classes, between(2, kMostClasses));
  }
  /// Pairs of more are no extent.
  static constexpr int32_t kMostClasses = 65536;
};
static_assert(is_plan_struct<PairwiseAttributes>);

namespace ops {

struct SupportVectors {
  using Attributes = SupportVectorsAttributes;
  static constexpr std::string_view name = "SupportVectors";
  template <class S>
  static Status infer(S& s) {
    using Dim = typename S::Dim;
    const int rank = s.rank(0);
    if (rank != 1 && rank != 2) return s.fail(Code::kWrongRank, "rank of X", 2, rank, 0);
    if (s.rank(1) != 2) return s.fail(Code::kWrongRank, "rank of vectors", 2, s.rank(1), 1);
    if (s.rank(2) != 2) return s.fail(Code::kWrongRank, "rank of coefficients", 2, s.rank(2), 2);
    if (s.rank(3) != 1) return s.fail(Code::kWrongRank, "rank of starts", 1, s.rank(3), 3);
    Status t = s.require_equal(s.dim(1, 0), s.dim(0, rank - 1), "columns of X", 0, rank - 1);
    if (t.ok()) t = s.require_equal(s.dim(1, 1), s.dim(2, 1), "coefficients", 2, 1);
    if (t.ok()) t = s.require_at_least(1, s.dim(3, 0), "starts", 3, 0);
    if (!t) return t;
    Shape<Dim> y;
    y.push(rank == 2 ? s.dim(0, 0) : Dim(1));
    y.push(s.dim(3, 0) - Dim(1));
    y.push(s.dim(2, 0));
    return s.set_output(0, DataType::kDouble, y);
  }
};

struct PairwiseProbabilities {
  using Attributes = PairwiseAttributes;
  static constexpr std::string_view name = "PairwiseProbabilities";
  template <class S>
  static Status infer(S& s) {
    using Dim = typename S::Dim;
    const int64_t classes = s.template attributes<Attributes>().classes;
    if (classes < 2 || classes > PairwiseAttributes::kMostClasses) {
      return s.fail(Code::kInvalidValue, "classes", 2, classes);
    }
    if (s.rank(0) != 2) return s.fail(Code::kWrongRank, "rank of scores", 2, s.rank(0), 0);
    const Dim pairs = classes * (classes - 1) / 2;
    Status t = s.require_equal(pairs, s.dim(0, 1), "scores of pairs", 0, 1);
    for (int i = 1; i <= 2 && t.ok(); ++i) {
      if (s.rank(i) != 1) return s.fail(Code::kWrongRank, "rank", 1, s.rank(i), i);
      t = s.require_equal(pairs, s.dim(i, 0), "numbers of pairs", i, 0);
    }
    if (!t) return t;
    Shape<Dim> y;
    y.push(s.dim(0, 0));
    y.push(Dim(classes));
    return s.set_output(0, DataType::kFloat, y);
  }
};

}  // namespace ops
}  // namespace intarsia
