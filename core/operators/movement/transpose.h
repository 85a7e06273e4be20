// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rule of Transpose.
#pragma once

#include "core/operators/common/attributes.h"
#include "core/operators/common/lists.h"

namespace intarsia {

struct TransposeAttributes {
  /// Axis i of the output is axis perm[i] of the input; empty: the axes in reverse.
  IntList perm;
  template <class V>
  void fields(V& v) {
    v("perm", perm);
  }
};
static_assert(is_plan_struct<TransposeAttributes>);

namespace ops {

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

}  // namespace ops
}  // namespace intarsia
