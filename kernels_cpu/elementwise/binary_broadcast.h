// SPDX-License-Identifier: Apache-2.0
//
// Broadcasting (ONNX, "Multidirectional Broadcasting") as a walk over rows.
//
// Axes of extent 1 are dropped, and neighbouring axes along which every operand is either dense or
// broadcast are merged. What is left of an innermost axis is a row, along which each operand either
// advances element by element (stride 1) or stands still (stride 0): kernels run plain loops over
// rows. Short rows are joined: what an operand holds for many of them is laid out on the stack
// first, pair of axes by pair, or row by row where two axes still make a short row. Also here: the
// checks that element-wise kernels share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/gemm/vector.h"

namespace intarsia::cpu {

/// Elements that one unit of parallel work covers.
inline constexpr int64_t kPointwiseGrain = 256;

/// The merged axes of an output and of up to three inputs that are broadcast to it.
struct BroadcastLoop {
  static constexpr int kMaxInputs = 3;
  int rank = 1;  ///< At least 1.
  int64_t count = 1;
  int64_t extents[kMaxRank] = {1};
  int64_t strides[kMaxInputs][kMaxRank] = {};

  /// REQUIRES: each input broadcasts to the output (`check_broadcast`).
  BroadcastLoop(const TensorView& output, std::span<const TensorView* const> inputs);

  int64_t row() const { return extents[rank - 1]; }
  bool advances(int input) const { return strides[input][rank - 1] != 0; }

  /// Calls `body(first, length, offsets)` for each piece of a row within the elements [begin, end)
  /// of the output: `first` is its first element there, `offsets[i]` that of input i.
  template <class Body>
  void for_rows(int64_t begin, int64_t end, const Body& body) const {
    if (begin >= end) return;  // an empty output has no position either
    int64_t index[kMaxRank] = {};
    int64_t offsets[kMaxInputs] = {};
    int64_t rest = begin;
    for (int axis = rank - 1; axis >= 0; --axis) {
      index[axis] = rest % extents[axis];
      rest /= extents[axis];
      for (int i = 0; i < kMaxInputs; ++i) offsets[i] += index[axis] * strides[i][axis];
    }
    const int last = rank - 1;
    for (int64_t first = begin; first < end;) {
      const int64_t left = extents[last] - index[last];
      const int64_t length = left < end - first ? left : end - first;
      body(first, length, offsets);
      first += length;
      if (first >= end) return;
      // The row is complete: back to its start, then on to the next.
      for (int i = 0; i < kMaxInputs; ++i) offsets[i] -= index[last] * strides[i][last];
      index[last] = 0;
      for (int axis = last - 1; axis >= 0; --axis) {
        for (int i = 0; i < kMaxInputs; ++i) offsets[i] += strides[i][axis];
        if (++index[axis] < extents[axis]) break;
        for (int i = 0; i < kMaxInputs; ++i) offsets[i] -= extents[axis] * strides[i][axis];
        index[axis] = 0;
      }
    }
  }
};

/// An array of which a BroadcastPieces reads.
struct BroadcastOperand {
  BroadcastOperand() = default;
  template <class T>
  BroadcastOperand(const T* array) : data(array), bytes(sizeof(T)) {}  // NOLINT: as it is written
  const void* data = nullptr;
  size_t bytes = 0;  ///< Of an element.
};

/// `length` elements of the output from `first` on. Operand i has element k of them at k if it
/// advances, else all of them at 0.
struct BroadcastPiece {
  int64_t first = 0, length = 0;
  bool advances[BroadcastLoop::kMaxInputs] = {};
  const void* data[BroadcastLoop::kMaxInputs] = {};
  template <class T>
  const T* at(int input) const {
    return static_cast<const T*>(data[input]);
  }
};

/// The elements [begin, end) of a loop's output, in order, in pieces for plain loops. A piece's
/// data stays until the next one.
class BroadcastPieces {
 public:
  BroadcastPieces(const BroadcastLoop& loop, std::span<const BroadcastOperand> operands,
                  int64_t begin, int64_t end);
  /// False when there are no more.
  bool next(BroadcastPiece& piece);

 private:
  /// Rows of fewer elements are joined, but where code counts for more than time.
  static constexpr int64_t kShortRow = INTARSIA_HAS_VECTORS ? 48 : 0;
  static constexpr int64_t kShortRowOfBytes = 3 * kShortRow;
  static constexpr int64_t kShortJoined = 40;  ///< Joined rows of fewer are gathered.
  static constexpr int64_t kTileBytes = INTARSIA_HAS_VECTORS ? 1024 : 0;
  static constexpr int64_t kMostBytes = 16;  ///< Of an element.

  static constexpr int64_t kMostPlaces = INTARSIA_HAS_VECTORS ? 256 : 1;

  bool joins() const;
  void find_places();
  void gather(BroadcastPiece& piece);
  const void* lay_out(int input, int64_t position, int64_t length);

  const BroadcastLoop& loop_;
  const std::span<const BroadcastOperand> operands_;
  int64_t at_;
  const int64_t end_;
  bool joins_;    ///< The innermost two axes are one.
  int rank_;      ///< Of what is left.
  int64_t row_;   ///< Extent of its last axis.
  bool gathers_;  ///< All axes are one.
  int64_t most_;  ///< Elements of a piece.
  int64_t index_[kMaxRank] = {};
  int64_t starts_[BroadcastLoop::kMaxInputs] = {};  ///< Of the operands, where the row starts.
  /// Start of the row that lies in the tile, for operands that repeat it.
  int64_t laid_out_[BroadcastLoop::kMaxInputs] = {-1, -1, -1};
  struct Tile {  // begins and ends with parts of rows
    alignas(kMostBytes) std::byte bytes[kTileBytes + 2 * kShortRow * kMostBytes + 1];
  };
  Tile tiles_[BroadcastLoop::kMaxInputs];
  // Of gathered pieces: an axis that a block ends in, its steps along it, a block's elements, and
  // where the operands have them.
  int cut_;
  int64_t steps_, block_ = 0;
  uint8_t places_[BroadcastLoop::kMaxInputs][kMostPlaces];
};

/// Calls `body(begin, end)` over [0, count) in units that do not depend on the number of threads.
template <class Body>
void for_elements(const KernelContext& context, int64_t count, const Body& body) {
  const int64_t units = (count + kPointwiseGrain - 1) / kPointwiseGrain;
  context.parallel_for(units, [&](int64_t begin, int64_t end, int) {
    const int64_t stop = end * kPointwiseGrain;
    body(begin * kPointwiseGrain, stop < count ? stop : count);
  });
}

/// The same with the body compiled for each instruction set: for loops that become vector code. A
/// loop should run over arguments and locals alone: what a closure holds, stores might change.
template <class Body>
void compute_elements(const KernelContext& context, int64_t count, const Body& body) {
  for_elements(context, count, [&](int64_t begin, int64_t end) {
    on_isa(context.isa(), [&] { body(begin, end); });
  });
}

/// `check` of an element-wise kernel: these operands, and one extent for all of them.
Status check_elementwise(const KernelContext& context, const OperandTypes& types);

/// `check` of a kernel that broadcasts: these operands, and each present input broadcasts to the
/// extents of output 0.
Status check_broadcast(const KernelContext& context, const OperandTypes& types);

}  // namespace intarsia::cpu
