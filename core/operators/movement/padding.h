// SPDX-License-Identifier: Apache-2.0
//
// What a Pad does along each axis, as kernels read it in `run`.
#pragma once

#include "core/operators/movement/pad.h"
#include "intarsia/kernel.h"

namespace intarsia {

/// Where an axis has negative pads on one side and is continued (reflect, edge, wrap) on the other,
/// what is left of it is continued: elements that were cut do not come back.
struct Pads {
  int64_t before[kMaxRank] = {};  ///< positions in front of the input; negative: elements cut
  int64_t first[kMaxRank] = {};   ///< where the input, or what is left of it, begins
  int64_t extent[kMaxRank] = {};  ///< of that

  /// Reads the inputs of `context`; `values` has the elements of pads and axes. Fails if there is
  /// nothing to be continued.
  Status read(const KernelContext& context, const ShapeContext& values) {
    const TensorView& x = context.input(0);
    const TensorView& y = context.output(0);
    const bool continues = context.attributes<PadAttributes>().mode != PadAttributes::kConstant;
    for (int axis = 0; axis < x.rank; ++axis) extent[axis] = x.extents[axis];
    const int64_t count = values.value_count(1) / 2;
    for (int64_t i = 0; i < count; ++i) {
      int64_t axis = values.has_input(3) ? values.value(3, i).value() : i;
      if (axis < 0) axis += x.rank;
      before[axis] = values.value(1, i).value();
      const int64_t behind = values.value(1, count + i).value();
      if (!continues) continue;
      if (before[axis] < 0 && behind > 0) {
        first[axis] = -before[axis];
        extent[axis] -= first[axis];
        before[axis] = 0;
      } else if (before[axis] > 0 && behind < 0) {
        extent[axis] += behind;
      }
      if (extent[axis] <= 0 && y.extents[axis] > 0) {
        return context.fail(Code::kInvalidValue, "padding that continues an empty axis", 0,
                            y.extents[axis], 0, static_cast<int>(axis));
      }
    }
    return {};
  }
};

}  // namespace intarsia
