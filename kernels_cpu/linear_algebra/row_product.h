// SPDX-License-Identifier: Apache-2.0
//
// One row of a matrix times a matrix, at any strides: what the reference products share. Several
// columns are summed side by side, each in the order of k; where the columns of B lie dense, with
// several partial sums.
#pragma once

#include "kernels_cpu/common/accumulate.h"

namespace intarsia::cpu {

/// One row of A times a matrix B: where the elements lie.
template <class T>
struct RowProduct {
  const T* a;       // the row
  int64_t a_inner;  // elements from one of its elements to the next
  const T* b;
  int64_t b_inner, b_column;
  int64_t inner, columns;

  /// sums[j] = the row times column first + j. The products of a type share one copy.
  [[gnu::noinline]] void columns_at(int64_t first, int64_t lanes, Accumulator<T>* sums) const {
    const T* start = b + first * b_column;
    for (int64_t j = 0; j < lanes; ++j) sums[j] = {};
    if (b_column == 1) {
      for (int64_t k = 0; k < inner; ++k) {
        const auto factor = accumulable<T>(a[k * a_inner]);
        const T* row = start + k * b_inner;
        for (int64_t j = 0; j < lanes; ++j) sums[j] += factor * accumulable<T>(row[j]);
      }
    } else {
      for (int64_t j = 0; j < lanes; ++j) sums[j] = dot(start + j * b_column);
    }
  }

 private:
  Accumulator<T> dot(const T* column) const {
    constexpr int kParts = 8;
    Accumulator<T> parts[kParts] = {};
    int64_t k = 0;
    if (a_inner == 1 && b_inner == 1) {
      for (; k + kParts <= inner; k += kParts) {
        for (int p = 0; p < kParts; ++p) {
          parts[p] += accumulable<T>(a[k + p]) * accumulable<T>(column[k + p]);
        }
      }
    }
    for (; k < inner; ++k) {
      parts[0] += accumulable<T>(a[k * a_inner]) * accumulable<T>(column[k * b_inner]);
    }
    Accumulator<T> sum = parts[0];
    for (int p = 1; p < kParts; ++p) sum += parts[p];
    return sum;
  }
};

/// Computes one output row; `finish(column, sum)` stores.
template <class T, class Finish>
void multiply_row(const RowProduct<T>& product, const Finish& finish) {
  for (int64_t first = 0; first < product.columns; first += kLanes) {
    const int64_t left = product.columns - first;
    const int64_t lanes = left < kLanes ? left : kLanes;
    Accumulator<T> sums[kLanes];
    product.columns_at(first, lanes, sums);
    for (int64_t j = 0; j < lanes; ++j) finish(first + j, sums[j]);
  }
}

}  // namespace intarsia::cpu
