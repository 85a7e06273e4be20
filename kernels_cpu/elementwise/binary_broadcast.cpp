// SPDX-License-Identifier: Apache-2.0
//
// Merging of axes for broadcasting, and the checks of element-wise kernels. See binary_broadcast.h.
#include "kernels_cpu/elementwise/binary_broadcast.h"

#include <cstring>

#include "core/operators/elementwise/elementwise.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/common/repeat.h"

namespace intarsia::cpu {
namespace {

/// to[k] = from[places[k]]
template <class E>
void pick_elements(std::byte* to, const std::byte* from, const uint8_t* places, int64_t count) {
  for (int64_t k = 0; k < count; ++k) {
    E element;  // of any alignment
    std::memcpy(&element, from + places[k] * sizeof element, sizeof element);
    std::memcpy(to + k * static_cast<int64_t>(sizeof element), &element, sizeof element);
  }
}

bool equal_extents(const TensorView& output, std::span<const TensorView* const> inputs) {
  for (const TensorView* input : inputs) {
    if (input->rank != output.rank) return false;
    for (int axis = 0; axis < output.rank; ++axis) {
      if (input->extents[axis] != output.extents[axis]) return false;
    }
  }
  return true;
}

}  // namespace

// Cold, as the checks are: once a node, in every program with a broadcast, so that size counts.
[[gnu::cold]] BroadcastLoop::BroadcastLoop(const TensorView& output,
                                           std::span<const TensorView* const> inputs) {
  if (INTARSIA_HAS_VECTORS && equal_extents(output, inputs)) {  // most nodes of most networks
    extents[0] = count = output.count();
    for (size_t i = 0; i < inputs.size(); ++i) strides[i][0] = count == 1 ? 0 : 1;
    return;
  }
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

bool BroadcastPieces::joins() const {
  if (kShortRow == 0 || loop_.rank == 1) return false;
  size_t widths = 0;
  for (const BroadcastOperand& operand : operands_) {
    if (operand.bytes > 2) return loop_.row() < kShortRow;
    widths |= operand.bytes;
  }
  // The smaller elements are, the more a vector takes of a row, and of halves also a conversion.
  return loop_.row() < (widths < 2 ? kShortRowOfBytes : 2 * kShortRow);
}

BroadcastPieces::BroadcastPieces(const BroadcastLoop& loop,
                                 std::span<const BroadcastOperand> operands, int64_t begin,
                                 int64_t end)
    : loop_(loop),
      operands_(operands),
      at_(begin),
      end_(end),
      joins_(joins()),
      rank_(loop.rank - (joins_ ? 1 : 0)),
      row_(loop.extents[rank_ - 1] * (joins_ ? loop.row() : 1)),
      gathers_(joins_ && rank_ > 1 && row_ < kShortJoined),
      most_(end - begin) {
  if (begin >= end) return;  // an empty output has no position either
  if (joins_) {
    for (const BroadcastOperand& operand : operands) {
      const int64_t fits = kTileBytes / static_cast<int64_t>(operand.bytes);
      if (fits < most_) most_ = fits;
    }
  }
  index_[rank_ - 1] = begin % row_;
  int64_t rest = begin / row_;
  for (int axis = rank_ - 2; axis >= 0; --axis) {
    index_[axis] = rest % loop.extents[axis];
    rest /= loop.extents[axis];
    for (int i = 0; i < BroadcastLoop::kMaxInputs; ++i) {
      starts_[i] += index_[axis] * loop.strides[i][axis];
    }
  }
}

/// Where the elements of an operand from `position` of a joined row on are.
const void* BroadcastPieces::lay_out(int input, int64_t position, int64_t length) {
  const BroadcastOperand& operand = operands_[static_cast<size_t>(input)];
  const auto bytes = static_cast<int64_t>(operand.bytes);
  const auto* start = static_cast<const std::byte*>(operand.data) + starts_[input] * bytes;
  const int64_t columns = loop_.row();
  const bool across = loop_.strides[input][rank_] != 0;
  const bool down = loop_.strides[input][rank_ - 1] != 0;
  if (across && down) return start + position * bytes;
  if (!across && !down) return start;
  std::byte* tile = tiles_[input].bytes;
  const int64_t phase = position % columns;
  if (down) {
    repeat_each(tile, start + position / columns * bytes, (phase + length + columns - 1) / columns,
                columns, operand.bytes);
  } else if (laid_out_[input] != starts_[input]) {
    laid_out_[input] = starts_[input];
    const int64_t row = columns * bytes;
    std::memcpy(tile, start, static_cast<size_t>(row));
    // As far as a piece goes, which may begin within the row.
    const int64_t needed = (most_ < row_ ? most_ : row_) * bytes + row;
    if (row <= kMostBytes && (row & (row - 1)) == 0) {  // one element, as it were
      alignas(kMostBytes) std::byte first[kMostBytes];
      std::memcpy(first, tile, kMostBytes);
      repeat_each(tile, first, 1, (needed + row - 1) / row, static_cast<size_t>(row));
    } else {
      repeat_row(tile, row, needed);
    }
  }
  return tile + phase * bytes;
}

/// Where the operands have the elements of a block: of the last axes, and of as many steps along
/// the one before as there is room for. Cold: every program with a broadcast has this code, few
/// such shapes.
[[gnu::noinline, gnu::cold]] void BroadcastPieces::find_places() {
  int64_t inner = 1;
  cut_ = loop_.rank - 1;
  while (cut_ > 0 && inner * loop_.extents[cut_] <= kMostPlaces) inner *= loop_.extents[cut_--];
  steps_ = kMostPlaces / inner;
  block_ = inner * steps_;
  for (size_t i = 0; i < operands_.size(); ++i) {
    for (int64_t k = 0; k < block_; ++k) {
      int64_t rest = k, place = 0;
      for (int axis = loop_.rank - 1; axis >= cut_; --axis) {
        const int64_t extent = axis > cut_ ? loop_.extents[axis] : block_;
        place += rest % extent * loop_.strides[i][axis];
        rest /= extent;
      }
      places_[i][k] = static_cast<uint8_t>(place);  // an operand has no more elements than a block
    }
  }
}

/// The operands of a piece, in their tiles but those that are dense.
[[gnu::noinline, gnu::cold]] void BroadcastPieces::gather(BroadcastPiece& piece) {
  if (block_ == 0) find_places();
  const int64_t row = block_ / steps_ * loop_.extents[cut_];  // elements of the axis that is cut
  for (size_t i = 0; i < operands_.size(); ++i) {
    const int64_t* strides = loop_.strides[i];
    const auto bytes = static_cast<int64_t>(operands_[i].bytes);
    const auto* data = static_cast<const std::byte*>(operands_[i].data);
    piece.advances[i] = true;
    bool dense = true;
    for (int axis = 0; axis < loop_.rank; ++axis) dense = dense && strides[axis] != 0;
    if (dense) {
      piece.data[i] = data + piece.first * bytes;
      continue;
    }
    std::byte* to = tiles_[i].bytes;
    piece.data[i] = to;
    for (int64_t left = piece.length, at = piece.first, count; left > 0; left -= count) {
      const int64_t column = at % row, first = column % block_;
      count = block_ - first;
      if (count > row - column) count = row - column;
      if (count > left) count = left;
      int64_t start = column / block_ * steps_ * strides[cut_], rest = at / row;
      for (int axis = cut_ - 1; axis >= 0; --axis) {
        start += rest % loop_.extents[axis] * strides[axis];
        rest /= loop_.extents[axis];
      }
      const std::byte* from = data + start * bytes;
      const uint8_t* places = places_[i] + first;
      switch (bytes) {
        case 1:
          pick_elements<uint8_t>(to, from, places, count);
          break;
        case 2:
          pick_elements<uint16_t>(to, from, places, count);
          break;
        case 4:
          pick_elements<uint32_t>(to, from, places, count);
          break;
        case 8:
          pick_elements<uint64_t>(to, from, places, count);
          break;
        default:
          pick_elements<Width<128>::Element>(to, from, places, count);
          break;
      }
      to += count * bytes;
      at += count;
    }
  }
}

bool BroadcastPieces::next(BroadcastPiece& piece) {
  if (at_ >= end_) return false;
  if (INTARSIA_HAS_VECTORS && gathers_) {
    piece.first = at_;
    piece.length = most_ < end_ - at_ ? most_ : end_ - at_;
    at_ += piece.length;
    gather(piece);
    return true;
  }
  const int last = rank_ - 1;
  if (index_[last] == row_) {  // the row is complete: on to the next
    index_[last] = 0;
    for (int axis = last - 1; axis >= 0; --axis) {
      for (int i = 0; i < BroadcastLoop::kMaxInputs; ++i) {
        starts_[i] += loop_.strides[i][axis];
      }
      if (++index_[axis] < loop_.extents[axis]) break;
      for (int i = 0; i < BroadcastLoop::kMaxInputs; ++i) {
        starts_[i] -= loop_.extents[axis] * loop_.strides[i][axis];
      }
      index_[axis] = 0;
    }
  }
  piece.first = at_;
  piece.length = row_ - index_[last];
  if (piece.length > end_ - at_) piece.length = end_ - at_;
  if (piece.length > most_) piece.length = most_;
  for (size_t i = 0; i < operands_.size(); ++i) {
    const auto input = static_cast<int>(i);
    if (joins_) {
      piece.data[i] = lay_out(input, index_[last], piece.length);
      piece.advances[i] = loop_.strides[i][last] != 0 || loop_.strides[i][rank_] != 0;
    } else {
      const int64_t at = starts_[i] + index_[last] * loop_.strides[i][last];
      piece.data[i] = static_cast<const std::byte*>(operands_[i].data) +
                      at * static_cast<int64_t>(operands_[i].bytes);
      piece.advances[i] = loop_.strides[i][last] != 0;
    }
  }
  index_[last] += piece.length;
  at_ += piece.length;
  return true;
}

Status check_elementwise(const KernelContext& context, const OperandTypes& types) {
  return check_operands<ops::SameShape>(context, types);
}

[[gnu::cold]] Status check_broadcast(const KernelContext& context, const OperandTypes& types) {
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
