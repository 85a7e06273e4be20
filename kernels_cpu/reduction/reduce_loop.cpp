// SPDX-License-Identifier: Apache-2.0
//
// The part of Reduce* kernels that does not depend on type or operator. See reduce_loop.h.
#include "kernels_cpu/reduction/reduce_loop.h"

#include "core/runtime/operand_check.h"

namespace intarsia::cpu {
namespace {

void prepend(ReduceLoop::Axes& axes, int64_t extent, int64_t stride) {
  for (int axis = axes.rank; axis > 0; --axis) {
    axes.extents[axis] = axes.extents[axis - 1];
    axes.strides[axis] = axes.strides[axis - 1];
  }
  axes.extents[0] = extent;
  axes.strides[0] = stride;
  ++axes.rank;
}

}  // namespace

ReduceLoop::ReduceLoop(const TensorView& input, const bool (&is_reduced)[kMaxRank]) {
  int64_t stride = 1;
  Axes* previous = nullptr;
  for (int axis = input.rank - 1; axis >= 0; --axis) {
    const int64_t extent = input.extents[axis];
    Axes& axes = is_reduced[axis] ? reduced : kept;
    axes.count *= extent;
    if (extent == 1) continue;
    if (previous == nullptr) inner_kept = !is_reduced[axis];
    if (previous == &axes) {
      axes.extents[0] *= extent;
    } else {
      prepend(axes, extent, stride);
    }
    previous = &axes;
    stride *= extent;
  }
}

Status resolve_reduction(const KernelContext& context, bool (&is_reduced)[kMaxRank]) {
  const auto& attributes = context.attributes<ReduceAttributes>();
  const TensorView& x = context.input(0);
  const TensorView& axes = context.input(1);
  const TensorView& y = context.output(0);
  const int64_t listed = axes.present() ? axes.count() : 0;
  for (int axis = 0; axis < kMaxRank; ++axis) {
    is_reduced[axis] = axis < x.rank && listed == 0 && attributes.noop_with_empty_axes == 0;
  }
  for (int64_t i = 0; i < listed; ++i) {
    const int64_t value = axes.as<int64_t>()[i];
    if (value < -x.rank || value >= x.rank) {
      return context.fail(Code::kIndexOutOfRange, "axis out of range", x.rank, value, 1);
    }
    bool& flag = is_reduced[value < 0 ? value + x.rank : value];
    if (flag) return context.fail(Code::kInvalidValue, "axis given twice", 0, value, 1);
    flag = true;
  }
  int32_t extents[kMaxRank] = {};
  int rank = 0;
  bool same = true;
  for (int axis = 0; axis < x.rank; ++axis) {
    if (is_reduced[axis] && attributes.keepdims == 0) continue;
    extents[rank] = is_reduced[axis] ? 1 : x.extents[axis];
    same = same && rank < y.rank && y.extents[rank] == extents[rank];
    ++rank;
  }
  if (same && rank == y.rank) return {};
  if (rank != y.rank) {
    return context.fail(Code::kWrongRank, "rank of the reduced tensor", rank, y.rank,
                        context.input_count());
  }
  return context.resize_output(0, {extents, static_cast<size_t>(rank)});
}

Status check_reduction(const KernelContext& context, KernelType type) {
  const OperandTypes types{.inputs = {type, DataType::kInt64}, .outputs = {type}};
  if (Status s = check_operand_types<ops::Reduce>(context, types); !s) return s;
  if (context.input(1).rank > 1) {
    return context.fail(Code::kWrongRank, "rank of the axes", 1, context.input(1).rank, 1);
  }
  return {};
}

}  // namespace intarsia::cpu
