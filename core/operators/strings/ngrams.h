// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rule of counting n-grams, which the converter makes of TfIdfVectorizer:
// there tokens are numbers already, and the pool is a trie.
//
// A row of `edges` says: from this node of the trie, by this token, to that node. The rows are a
// hash table over the first two (lookup.h); rows that are not taken begin with -1. Node 0 is the
// root. `ngrams` has, for each node, the column that counts the n-gram which ends there, or -1;
// `weights` what it counts, by default 1.
#pragma once

#include "core/operators/strings/lookup.h"

namespace intarsia {

struct NgramAttributes {
  int32_t columns = 0;
  int32_t min_gram_length = 1;
  int32_t max_gram_length = 1;
  int32_t max_skip_count = 0;
  /// Only whether an n-gram is there counts (IDF), not how often.
  int32_t once = 0;
  template <class V>
  void fields(V& v) {
    v("columns", columns);
    v("min_gram_length", min_gram_length, at_least(1));
    v("max_gram_length", max_gram_length, at_least(1));
    v("max_skip_count", max_skip_count, at_least(0));
    v("once", once, kFlag);
  }
};
static_assert(is_plan_struct<NgramAttributes>);

/// Numbers in a row of `edges`.
inline constexpr int kEdgeNumbers = 3;

/// The hash of an edge.
constexpr uint64_t edge_hash(int32_t node, int32_t token) {
  return spread_bits(uint64_t{static_cast<uint32_t>(node)} << 32 | static_cast<uint32_t>(token));
}

namespace ops {

/// The counts of n-grams in each row of X; an X of rank 1 or 0 is one row.
struct NgramCounts {
  using Attributes = NgramAttributes;
  static constexpr std::string_view name = "NgramCounts";
  template <class S>
  static Status infer(S& s) {
    using Dim = typename S::Dim;
    const int rank = s.rank(0);
    if (rank > 2) return s.fail(Code::kWrongRank, "rank of X", 2, rank, 0);
    if (s.rank(1) != 2) return s.fail(Code::kWrongRank, "rank of edges", 2, s.rank(1), 1);
    if (s.rank(2) != 1) return s.fail(Code::kWrongRank, "rank of ngrams", 1, s.rank(2), 2);
    const Dim columns(int64_t{s.template attributes<Attributes>().columns});
    if (Status t = s.require_equal(Dim(int64_t{kEdgeNumbers}), s.dim(1, 1), "edges", 1, 1); !t) {
      return t;
    }
    const Dim least(int64_t{1});
    if (Status t = s.require_at_least(least, s.dim(1, 0), "edges", 1, 0); !t) return t;
    if (Status t = s.require_at_least(Dim(int64_t{0}), columns, "columns", 0); !t) return t;
    if (s.has_input(3)) {
      if (s.rank(3) != 1) return s.fail(Code::kWrongRank, "rank of weights", 1, s.rank(3), 3);
      if (Status t = s.require_equal(s.dim(2, 0), s.dim(3, 0), "weights", 3, 0); !t) return t;
    }
    Shape<Dim> y;
    if (rank == 2) y.push(s.dim(0, 0));
    y.push(columns);
    return s.set_output(0, DataType::kFloat, y);
  }
};

}  // namespace ops
}  // namespace intarsia
