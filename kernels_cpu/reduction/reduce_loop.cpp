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
  bool inner_kept = false;
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
  if (reduced.rank == 0) prepend(reduced, 1, 1);
  if (kept.count == 0) return;
  if (inner_kept) row = kept.extents[kept.rank - 1];
  set_blocks();
}

void ReduceLoop::set_blocks() {
  // Wide blocks read memory in long pieces; but there shall be enough of them for several threads.
  constexpr int64_t kManyBlocks = 16;
  const int64_t share = kept.count / kManyBlocks;
  constexpr int64_t kMostLanes = 4 * kRowLanes;
  width = share < kRowLanes ? kRowLanes : share > kMostLanes ? kMostLanes : share;
  width -= width % fold;
  in_row = (row + width - 1) / width;
  blocks = kept.count / row * in_row;
}

void ReduceLoop::take_side_by_side() {
  constexpr int64_t kShort = kRowLanes < 16 ? kRowLanes : 16;
  const int last = kept.rank - 1;
  if (blocks == 0 || row != 1 || last < 0 || reduced.rank < 2 || stride() != 1) return;
  const int64_t inner = reduced.extents[reduced.rank - 1];
  if (inner < 2 || inner > kShort || kept.strides[last] != inner) return;
  --reduced.rank;
  reduced.count /= inner;
  kept.strides[last] = 1;
  kept.count *= inner;
  row = kept.extents[last] *= inner;
  fold = inner;
  set_blocks();
}

ReduceLoop::Block ReduceLoop::block(int64_t index, int64_t most) const {
  int64_t start = 0, count = 1;
  if (in_row > 1) {
    const int64_t place = index % in_row, room = kReduceLanes / width;
    count = in_row - place < room ? in_row - place : room;
    if (count > most) count = most;
    start = place * width;
    index /= in_row;
  }
  const int64_t first = index * row + start, lanes = count * width;
  return {first, row - start < lanes ? row - start : lanes, kept.offset(first), count};
}

ReduceLoop::Runs::Runs(const Axes& reduced, int64_t begin, int64_t end)
    : axes_(reduced), left_(end - begin) {
  for (int axis = reduced.rank - 1; axis > 0; --axis) {
    index_[axis] = begin % reduced.extents[axis];
    begin /= reduced.extents[axis];
    offset += index_[axis] * reduced.strides[axis];
  }
  index_[0] = begin;
  offset += begin * reduced.strides[0];
  const int inner = reduced.rank - 1;
  length = reduced.extents[inner] - index_[inner];
  if (length > left_) length = left_;
}

bool ReduceLoop::Runs::next() {
  left_ -= length;
  if (left_ == 0) return false;
  const int inner = axes_.rank - 1;
  offset -= index_[inner] * axes_.strides[inner];
  index_[inner] = 0;
  for (int axis = inner - 1; axis >= 0; --axis) {
    offset += axes_.strides[axis];
    if (++index_[axis] < axes_.extents[axis]) break;
    offset -= axes_.extents[axis] * axes_.strides[axis];
    index_[axis] = 0;
  }
  length = axes_.extents[inner] < left_ ? axes_.extents[inner] : left_;
  return true;
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

Status check_reduction(const KernelContext& context, KernelType type, KernelType result) {
  const OperandTypes types{.inputs = {type, DataType::kInt64}, .outputs = {result}};
  if (Status s = check_operand_types<ops::Reduce>(context, types); !s) return s;
  if (context.input(1).rank > 1) {
    return context.fail(Code::kWrongRank, "rank of the axes", 1, context.input(1).rank, 1);
  }
  return {};
}

}  // namespace intarsia::cpu
