// SPDX-License-Identifier: Apache-2.0
//
// The product of matrices in memory: rows x columns per batch, dense in the output; A and B at any
// strides.
#pragma once

#include "kernels_cuda/common/strided.h"
#include "kernels_cuda/linear_algebra/product.h"

namespace intarsia::cuda {

template <class T>
struct MatrixProblem {
  struct Batch {
    int a = 0, b = 0, out = 0;
  };
  struct Row {
    int a = 0;
  };
  struct Tap {
    int a = 0;
  };
  int rows = 0, columns = 0, depth = 0;
  int a_row = 0, a_depth = 0, b_depth = 0, b_column = 0;
  static constexpr int output_column = 1;
  StridedAxes<2> matrices;  // where each batch's A and B begin
  Global<const T> left, right;

  INTARSIA_DEVICE Batch batch(int index) const {
    int64_t starts[2];
    matrices.locate(index, starts);
    return {static_cast<int>(starts[0]), static_cast<int>(starts[1]), index * rows * columns};
  }
  INTARSIA_DEVICE Row row(const Batch& batch, int row) const { return {batch.a + row * a_row}; }
  INTARSIA_DEVICE Tap tap(int k) const { return {k * a_depth}; }
  INTARSIA_DEVICE int a(const Row& row, const Tap& tap) const { return row.a + tap.a; }
  INTARSIA_DEVICE int output(const Batch& batch, int row) const {
    return batch.out + row * columns;
  }
  INTARSIA_DEVICE int channel(const Batch&) const { return 0; }

  /// Matrices of a batch begin at multiples of their rows' length.
  ProductPacks packs(const ProductExtents& extents) const {
    constexpr int kWide = kPack<T>;
    return {a_depth == 1 && extents.depth % kWide == 0,
            b_column == 1 && extents.columns % kWide == 0, extents.columns % kWide == 0};
  }
};

}  // namespace intarsia::cuda
