// SPDX-License-Identifier: Apache-2.0
//
// Shape rules of Expand and Tile, which repeat elements as a list says.
#pragma once

#include "core/operators/common/lists.h"

namespace intarsia {

namespace ops {

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

}  // namespace ops
}  // namespace intarsia
