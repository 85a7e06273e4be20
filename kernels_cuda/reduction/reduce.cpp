// SPDX-License-Identifier: Apache-2.0
//
// Which axes were reduced, from extents alone.
#include "kernels_cuda/reduction/reduce.h"

namespace intarsia::cuda {
namespace {

/// Finds the extents of y that are not 1 among those of x, in order, from either end; false if they
/// are not there. `kept` are the axes that were taken.
bool match(const TensorView& x, const TensorView& y, bool from_end, bool (&kept)[kMaxRank]) {
  const auto at = [=](const TensorView& view, int i) { return from_end ? view.rank - 1 - i : i; };
  int j = 0;
  const auto skip_ones = [&] {
    while (j < y.rank && y.extents[at(y, j)] == 1) ++j;
  };
  skip_ones();
  for (int i = 0; i < x.rank; ++i) {
    const int axis = at(x, i);
    kept[axis] = x.extents[axis] == 1;
    if (kept[axis] || j == y.rank || x.extents[axis] != y.extents[at(y, j)]) continue;
    kept[axis] = true;
    ++j;
    skip_ones();
  }
  return j == y.rank;
}

}  // namespace

ReducedAxes::ReducedAxes(const TensorView& x, const TensorView& y, bool keeps) {
  if (keeps) {
    known = x.rank == y.rank;
    for (int i = 0; known && i < x.rank; ++i) {
      reduced[i] = x.extents[i] != y.extents[i];
      known = !reduced[i] || y.extents[i] == 1;
    }
    return;
  }
  bool kept[kMaxRank] = {}, other[kMaxRank] = {};
  if (x.rank < y.rank || !match(x, y, false, kept)) return;
  match(x, y, true, other);
  known = true;
  for (int i = 0; i < x.rank; ++i) {
    known = known && kept[i] == other[i];  // taken from both ends they are the same, or several
    reduced[i] = !kept[i];
  }
}

}  // namespace intarsia::cuda
