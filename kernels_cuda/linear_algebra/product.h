// SPDX-License-Identifier: Apache-2.0
//
// Tiled matrix product over shared memory, the device code behind Gemm, MatMul and convolution:
//
//     out = activation(alpha * A * B + beta * addend + residual)
//
// A Problem says where the elements of A, B and the output are, so that a convolution is a product
// whose A is read through the window (implicit GEMM). A block of Side * Side threads computes a
// tile of 4 Side rows and 4 Side columns, a thread 4 x 4 of its elements; per step both operands'
// parts of depth 16 pass through shared memory. Sums are float, in a fixed order.
//
// A Problem has: rows, columns, depth, batches; Row row(batch, row); Tap tap(batch, k);
// float a(Row, Tap); float b(batch, k, column); int64_t output(Row, batch, column);
// int64_t channel(batch, column). The residual may be the same memory as the output.
#pragma once

#include "core/operators/common/activation.h"
#include "core/operators/common/fused_activation.h"
#include "kernels_cuda/common/device.h"
#include "kernels_cuda/common/launch.h"

namespace intarsia::cuda {

struct Epilogue {
  float alpha = 1;
  float beta = 1;
  Global<const float> addend;  // at row * addend_row + channel * addend_column
  int64_t addend_row = 0;
  int64_t addend_column = 0;
  Global<const float> residual;
  Global<float> out;
  ActivationSpec activation;

  INTARSIA_DEVICE void store(int64_t at, int64_t row, int64_t channel, float sum) const {
    float value = alpha * sum;
    if (addend.present()) value += beta * addend[row * addend_row + channel * addend_column];
    if (residual.present()) value += residual[at];
    out[at] = activate(activation, value);
  }
};

/// That of a node whose bias per column and residual are inputs 2 and 3; either may be absent.
template <class Attributes>
Epilogue epilogue_of(const KernelContext& context, const Attributes& attributes) {
  Epilogue epilogue;
  epilogue.addend = elements<float>(context.input(2));
  epilogue.addend_column = 1;
  epilogue.residual = elements<float>(context.input(3));
  epilogue.out = writable<float>(context.output(0));
  epilogue.activation = activation_of(attributes);
  return epilogue;
}

inline constexpr int kTileDepth = 16;
inline constexpr int kThreadTile = 4;

template <class Problem, int Side>
INTARSIA_GLOBAL product_kernel(Problem problem, Epilogue epilogue) {
  constexpr int kTile = kThreadTile * Side;
  constexpr int kBlock = Side * Side;
  constexpr int kPitch = kTile + 1;  // lanes that store one column meet different banks
  constexpr int kRowsAtOnce = kBlock / kTileDepth;
  constexpr int kLoads = kTile / kRowsAtOnce;
  INTARSIA_SHARED(float, a, kTileDepth* kPitch);
  INTARSIA_SHARED(float, b, kTileDepth* kPitch);

  const int thread = static_cast<int>(thread_x());
  const int64_t column_tiles = (problem.columns + kTile - 1) / kTile;
  const int64_t row_tiles = (problem.rows + kTile - 1) / kTile;
  const int64_t block = block_x();
  const int64_t first_column = block % column_tiles * kTile;
  const int64_t first_row = block / column_tiles % row_tiles * kTile;
  const int64_t batch = block / column_tiles / row_tiles;

  // The part of A that this thread brings: one depth, several rows.
  const int a_depth = thread % kTileDepth;
  const int a_row = thread / kTileDepth;
  typename Problem::Row rows[kLoads];
  for (int i = 0; i < kLoads; ++i) {
    const int64_t row = first_row + a_row + i * kRowsAtOnce;
    rows[i] = problem.row(batch, row < problem.rows ? row : problem.rows - 1);
  }
  const int tile_row = thread / Side;
  const int tile_column = thread % Side;
  float sums[kThreadTile][kThreadTile] = {};

  INTARSIA_ROLLED
  for (int64_t first = 0; first < problem.depth; first += kTileDepth) {
    // The step before must have been read before it is overwritten.
    if (first != 0) sync_threads();
    const int64_t k = first + a_depth;
    const bool inside = k < problem.depth;
    const typename Problem::Tap tap = problem.tap(batch, inside ? k : 0);
    for (int i = 0; i < kLoads; ++i) {
      a[a_depth * kPitch + a_row + i * kRowsAtOnce] = inside ? problem.a(rows[i], tap) : 0.0f;
    }
    INTARSIA_ROLLED
    for (int i = thread; i < kTileDepth * kTile; i += kBlock) {
      const int depth = i / kTile;
      const int64_t column = first_column + i % kTile;
      const bool there = first + depth < problem.depth && column < problem.columns;
      b[depth * kPitch + i % kTile] = there ? problem.b(batch, first + depth, column) : 0.0f;
    }
    sync_threads();
    for (int depth = 0; depth < kTileDepth; ++depth) {
      float left[kThreadTile];
      float right[kThreadTile];
      for (int i = 0; i < kThreadTile; ++i) {
        left[i] = a[depth * kPitch + tile_row + i * Side];
        right[i] = b[depth * kPitch + tile_column + i * Side];
      }
      for (int i = 0; i < kThreadTile; ++i) {
        for (int j = 0; j < kThreadTile; ++j) sums[i][j] += left[i] * right[j];
      }
    }
  }

  for (int i = 0; i < kThreadTile; ++i) {
    const int64_t row = first_row + tile_row + i * Side;
    if (row >= problem.rows) continue;
    const typename Problem::Row place = problem.row(batch, row);
    for (int j = 0; j < kThreadTile; ++j) {
      const int64_t column = first_column + tile_column + j * Side;
      if (column >= problem.columns) continue;
      epilogue.store(problem.output(place, batch, column), row, problem.channel(batch, column),
                     sums[i][j]);
    }
  }
}

/// Blocks of a launch with tiles of 4 Side rows and columns.
template <class Problem>
int64_t product_blocks(const Problem& problem, int side) {
  const int64_t tile = int64_t{kThreadTile} * side;
  return (problem.columns + tile - 1) / tile * ((problem.rows + tile - 1) / tile) * problem.batches;
}

/// Launches the product: in large tiles where these give every multiprocessor work, else in small
/// ones. REQUIRES: fewer than 2^31 blocks (`check_product`), and an output that is not empty.
template <class Problem>
[[nodiscard]] int launch_product(const Problem& problem, const Epilogue& epilogue, void* stream) {
  constexpr int64_t kMultiprocessors = 128;  // of a large device
  if (product_blocks(problem, 16) >= kMultiprocessors) {
    return launch(static_cast<unsigned>(product_blocks(problem, 16)), 256, stream,
                  product_kernel<Problem, 16>, problem, epilogue);
  }
  return launch(static_cast<unsigned>(product_blocks(problem, 8)), 64, stream,
                product_kernel<Problem, 8>, problem, epilogue);
}

}  // namespace intarsia::cuda
