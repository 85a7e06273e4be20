// SPDX-License-Identifier: Apache-2.0
//
// What the shape rules of operators with a tensor of indices share. That the indices lie in range
// is for the kernels to check.
#pragma once

#include "core/operators/common/lists.h"

namespace intarsia {

namespace ops {

/// `indices` has the rank of `data` and, but for the axis, extents no larger.
template <class S>
Status require_indices_within(const S& s, int axis) {
  if (s.rank(1) != s.rank(0)) {
    return s.fail(Code::kWrongRank, "rank of indices", s.rank(0), s.rank(1), 1);
  }
  for (int i = 0; i < s.rank(0); ++i) {
    if (i == axis) continue;
    if (Status t = s.require_at_least(s.dim(1, i), s.dim(0, i), "extent, for indices", 0, i); !t) {
      return t;
    }
  }
  return {};
}

/// Number of axes that one tuple of indices (input 1, last axis) names.
template <class S>
Status index_tuple(const S& s, int batch, int& tuple) {
  const int rank = s.rank(1);
  if (rank < 1) return s.fail(Code::kWrongRank, "rank of indices", 1, rank, 1);
  const typename S::Dim last = s.dim(1, rank - 1);
  if (!is_constant(last)) {
    return s.fail(Code::kUnsupported, "last extent of indices that varies", 0, 0, 1, rank - 1);
  }
  if (constant_value(last) < 0 || constant_value(last) > s.rank(0) - batch) {
    return s.fail(Code::kWrongExtent, "last extent of indices", s.rank(0) - batch,
                  constant_value(last), 1, rank - 1);
  }
  tuple = static_cast<int>(constant_value(last));
  return {};
}

}  // namespace ops
}  // namespace intarsia
