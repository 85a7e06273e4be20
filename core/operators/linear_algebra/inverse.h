// SPDX-License-Identifier: Apache-2.0
//
// Shape rules of operators on matrices. Texts are those of ONNX Runtime, whose users search for
// them.
#pragma once

#include <string_view>

#include "intarsia/shape.h"

namespace intarsia::ops {

/// [*, M, M] to the same extents.
struct Inverse {
  static constexpr std::string_view name = "com.microsoft:Inverse";

  template <class S>
  static Status infer(S& s) {
    const int rank = s.rank(0);
    if (rank < 2) return s.fail(Code::kWrongRank, "Input rank must be >= 2.");
    if (Status status = s.require_equal(s.dim(0, rank - 2), s.dim(0, rank - 1),
                                        "The inner-most 2 dimensions must have the same size "
                                        "(mat_w:{} mat_h:{expected}).",
                                        -1);
        !status) {
      return status;
    }
    return s.set_output(0, s.type(0), s.shape(0));
  }
};

/// [*, M, M] to [*].
struct Det {
  static constexpr std::string_view name = "Det";

  template <class S>
  static Status infer(S& s) {
    const int rank = s.rank(0);
    if (rank < 2) return s.fail(Code::kWrongRank, "rank of matrices", 2, rank, 0);
    Status status =
        s.require_equal(s.dim(0, rank - 2), s.dim(0, rank - 1), "columns of a matrix", 0, rank - 1);
    if (!status) return status;
    Shape<typename S::Dim> y;
    for (int axis = 0; axis < rank - 2; ++axis) y.push(s.dim(0, axis));
    return s.set_output(0, s.type(0), y);
  }
};

}  // namespace intarsia::ops
