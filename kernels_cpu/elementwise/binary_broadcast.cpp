// SPDX-License-Identifier: Apache-2.0
//
// Merging of axes for broadcasting, and the checks of element-wise kernels. See binary_broadcast.h.
#include "kernels_cpu/elementwise/binary_broadcast.h"

#include "core/operators/elementwise/elementwise.h"

namespace intarsia::cpu {
BroadcastLoop::BroadcastLoop(const TensorView& output, std::span<const TensorView* const> inputs) {
  int merged = 0;                         // axes so far, innermost first
  int64_t dense[kMaxInputs] = {1, 1, 1};  // elements of each input inside the current axis
  for (int axis = output.rank - 1; axis >= 0; --axis) {
    const int64_t extent = output.extents[axis];
    count *= extent;
    if (extent == 1) continue;
    int64_t steps[kMaxInputs] = {};
    bool joins = merged > 0;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const int own = axis - (output.rank - inputs[i]->rank);
      const bool moves = own >= 0 && inputs[i]->extents[own] != 1;
      steps[i] = moves ? dense[i] : 0;
      if (moves) dense[i] *= extent;
      if (joins) joins = steps[i] == strides[i][merged - 1] * extents[merged - 1];
    }
    if (joins) {
      extents[merged - 1] *= extent;
      continue;
    }
    extents[merged] = extent;
    for (int i = 0; i < kMaxInputs; ++i) strides[i][merged] = steps[i];
    ++merged;
  }
  rank = merged > 0 ? merged : 1;
  for (int low = 0, high = rank - 1; low < high; ++low, --high) {  // outermost first
    const int64_t extent = extents[low];
    extents[low] = extents[high];
    extents[high] = extent;
    for (auto& stride : strides) {
      const int64_t step = stride[low];
      stride[low] = stride[high];
      stride[high] = step;
    }
  }
}

Status check_elementwise(const KernelContext& context, const OperandTypes& types) {
  return check_operands<ops::SameShape>(context, types);
}

Status check_broadcast(const KernelContext& context, const OperandTypes& types) {
  if (Status status = check_operand_types(context, types); !status) return status;
  const TensorView& y = context.output(0);
  for (int i = 0; i < context.input_count(); ++i) {
    const TensorView& x = context.input(i);
    if (!x.present()) continue;
    if (x.rank > y.rank) {
      return context.fail(Code::kWrongRank, "rank of an input that is broadcast", y.rank, x.rank,
                          i);
    }
    for (int axis = 0; axis < x.rank; ++axis) {
      const int32_t extent = y.extents[y.rank - x.rank + axis];
      if (x.extents[axis] != extent && x.extents[axis] != 1) {
        return context.fail(Code::kWrongExtent, "extent does not broadcast to the output", extent,
                            x.extents[axis], i, axis);
      }
    }
  }
  return {};
}

}  // namespace intarsia::cpu
