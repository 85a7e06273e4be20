// SPDX-License-Identifier: Apache-2.0
//
// One axis of a tensor, for kernels that treat each line along it by itself (Softmax, ArgMax,
// CumSum): the tensor is [outer][length][inner]. Lines are handled in groups of up to kAxisLanes
// neighbours, so that inner loops run over neighbouring elements and memory is read in long pieces.
#pragma once

#include <cstdint>

#include "intarsia/kernel.h"
#include "kernels_cpu/common/row_steps.h"

namespace intarsia::cpu {

inline constexpr int64_t kAxisLanes = INTARSIA_HAS_VECTORS ? 1024 : 64;

struct AxisLoop {
  int64_t outer = 1;
  int64_t length = 1;
  int64_t inner = 1;

  /// REQUIRES: `axis_in_range`. A tensor of rank 0 is one line of one element.
  AxisLoop(const TensorView& view, int64_t axis) {
    if (axis < 0) axis += view.rank;
    for (int i = 0; i < view.rank; ++i) {
      (i < axis ? outer : i == axis ? length : inner) *= view.extents[i];
    }
    if (length == 1) {  // lines of one element are neighbours
      inner *= outer;
      outer = 1;
    }
  }

  int64_t lines() const { return outer * inner; }

  /// Calls body(first, line, lanes) for all lines, on the context's threads: `lanes` neighbouring
  /// lines, the first of which has index `line` and starts at element `first`; the elements of a
  /// line are `inner` apart.
  template <class Body>
  void for_lines(const KernelContext& context, const Body& body) const {
    if (length == 0) return;  // lines without elements, of which there may be any number
    // Enough groups for several threads; a thread takes neighbours together.
    const int64_t share = lines() / 16;
    const int64_t width = share < kRowLanes ? kRowLanes : share < kAxisLanes ? share : kAxisLanes;
    const int64_t groups = (inner + width - 1) / width, room = kAxisLanes / width;
    context.parallel_for(outer * groups, [&](int64_t begin, int64_t end, int) {
      for (int64_t unit = begin, taken; unit < end; unit += taken) {
        const int64_t place = unit % groups, start = place * width;
        taken = room < groups - place ? room : groups - place;
        if (taken > end - unit) taken = end - unit;
        const int64_t rest = inner - start, lanes = taken * width;
        body(unit / groups * length * inner + start, unit / groups * inner + start,
             rest < lanes ? rest : lanes);
      }
    });
  }
};

/// True if `axis` names an axis of the tensor; of a tensor of rank 0, 0 and -1 do.
inline bool axis_in_range(const TensorView& view, int64_t axis) {
  const int rank = view.rank > 0 ? view.rank : 1;
  return axis >= -rank && axis < rank;
}

}  // namespace intarsia::cpu
