// SPDX-License-Identifier: Apache-2.0
//
// Device code that turns indices from data into places.
#pragma once

#include "core/runtime/operand_check.h"
#include "kernels_cuda/common/launch.h"
#include "kernels_cuda/common/report.h"
#include "kernels_cuda/common/strided.h"

namespace intarsia::cuda {

/// Whom an index out of range is reported for.
struct Reporter {
  Global<Report> report;
  int node;

  explicit Reporter(const KernelContext& context)
      : report(report_of(context)), node(context.node()) {}
};

/// `index`, counted from the front; -1, and a report, if it lies outside the axis.
INTARSIA_DEVICE int64_t place_of(int64_t index, int64_t extent, int axis,
                                 const Reporter& reporter) {
  const int64_t place = index < 0 ? index + extent : index;
  if (place >= 0 && place < extent) return place;
  report_index(reporter.report, reporter.node, axis, index);
  return -1;
}

/// The axes that a tuple of indices names.
struct TupleAxes {
  int count = 0;
  int first = 0;  // of the operand's axes
  int64_t extents[kMaxRank] = {};
};
/// The number of the slice that the tuple at `tuple` names, among those of `slice`; -1 as above.
INTARSIA_DEVICE int64_t slice_of(const TupleAxes& axes, const Global<const int64_t>& indices,
                                 int64_t tuple, int64_t slice, const Reporter& reporter) {
  for (int i = 0; i < kMaxRank; ++i) {
    if (i >= axes.count) break;  // the bound of the loop is a constant: extents stay where they are
    const int64_t place =
        place_of(indices[tuple * axes.count + i], axes.extents[i], axes.first + i, reporter);
    slice = place < 0 || slice < 0 ? -1 : slice * axes.extents[i] + place;
  }
  return slice;
}

/// Product of the extents of axes [begin, end).
inline int64_t span_count(const TensorView& view, int begin, int end) {
  int64_t count = 1;
  for (int axis = begin; axis < end; ++axis) count *= view.extents[axis];
  return count;
}

}  // namespace intarsia::cuda
