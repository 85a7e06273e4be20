// SPDX-License-Identifier: Apache-2.0
//
// Weights of MatMulBlocks as they lie, for kernels that do not have them packed: a row of codes,
// whose parts become floats. Sums are kept in as many lanes on every instruction set, so that they
// are the same bits.
#pragma once

#include <algorithm>
#include <cstring>

#include "core/operators/quantization/matmul_blocks.h"
#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/common/strided_copy.h"
#include "kernels_cpu/gemm/vector.h"
#include "kernels_cpu/math/small_element.h"

namespace intarsia::cpu {

inline constexpr int64_t kWeightPart = 512;  // floats at a time; whole bytes of codes
inline constexpr int kWeightLanes = 16;
inline constexpr int kWeightRows = 4;  // of A that share a load of the weights

/// Codes [0, count) from `bytes` on as floats; up to a byte's worth more are written.
template <int kBits>
INTARSIA_INLINE void load_codes(const uint8_t* bytes, int64_t count, float* to) {
  constexpr int kEach = 8 / kBits;
  constexpr unsigned kMask = (1u << kBits) - 1;
  for (int64_t i = 0; i < (count + kEach - 1) / kEach; ++i) {
    for (int part = 0; part < kEach; ++part) {
      to[i * kEach + part] = static_cast<float>((bytes[i] >> (part * kBits)) & kMask);
    }
  }
}

/// A sum for each lane; registers of every width hold them as one or several.
using WeightLanes [[gnu::vector_size(kWeightLanes * sizeof(float))]] = float;

/// y[r * distance] += the sum of a[r * stride + i] * w[i], for kCount rows r.
template <int kCount>
INTARSIA_INLINE void add_products(const float* a, int64_t stride, const float* w, int64_t count,
                                  float* y, int64_t distance) {
  WeightLanes sums[kCount] = {};
  int64_t i = 0;
  for (; i + kWeightLanes <= count; i += kWeightLanes) {
    WeightLanes weights, numbers;
    std::memcpy(&weights, w + i, sizeof weights);
    for (int row = 0; row < kCount; ++row) {
      std::memcpy(&numbers, a + row * stride + i, sizeof numbers);
      sums[row] += numbers * weights;
    }
  }
  for (int row = 0; row < kCount; ++row) {
    float lanes[kWeightLanes];
    std::memcpy(lanes, &sums[row], sizeof lanes);
    for (int lane = 0; i + lane < count; ++lane) {
      lanes[lane] += a[row * stride + i + lane] * w[i + lane];
    }
    for (int half = kWeightLanes / 2; half > 0; half /= 2) {
      for (int lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
    }
    y[row * distance] += lanes[0];
  }
}

/// The weights of a column of the result.
template <int kBits>
struct WeightRow {
  const uint8_t* codes;
  const float* scales;
  const uint8_t* zeros;  // null: the middle of the codes
  int64_t block, terms;

  WeightRow(const KernelContext& context, int64_t column, int64_t all_terms)
      : block(context.attributes<MatMulBlocksAttributes>().block_size), terms(all_terms) {
    const TensorView &all = context.input(1), &zero = context.input(3);
    const int64_t padded = all.extents[1], blocks = padded / block;
    codes = all.as<const uint8_t>() + column * padded * kBits / 8;
    scales = context.input(2).as<const float>() + column * blocks;
    zeros = zero.present() ? zero.as<const uint8_t>() + column * blocks : nullptr;
  }

  /// Those from `first` on, which begin a byte; up to a byte's worth more are written.
  INTARSIA_INLINE void load(int64_t first, int64_t count, float* w) const {
    load_codes<kBits>(codes + first * kBits / 8, count, w);
    for (int64_t begin = 0; begin < count;) {
      const int64_t b = (first + begin) / block;
      const int64_t end = std::min(count, (b + 1) * block - first);
      const float scale = scales[b];
      const float zero = zeros != nullptr ? static_cast<float>(zeros[b]) : float{1 << (kBits - 1)};
      for (int64_t i = begin; i < end; ++i) w[i] = (w[i] - zero) * scale;
      begin = end;
    }
  }

  /// A column of the result, whose elements are `distance` apart.
  INTARSIA_INLINE void multiply(const float* a, int64_t rows, float* y, int64_t distance) const {
    for (int64_t m = 0; m < rows; ++m) y[m * distance] = 0;
    float w[kWeightPart];
    for (int64_t first = 0; first < terms; first += kWeightPart) {
      const int64_t count = std::min(kWeightPart, terms - first);
      load(first, count, w);
      int64_t m = 0;
      for (; m + kWeightRows <= rows; m += kWeightRows) {
        add_products<kWeightRows>(a + m * terms + first, terms, w, count, y + m * distance,
                                  distance);
      }
      for (; m < rows; ++m) {
        add_products<1>(a + m * terms + first, terms, w, count, y + m * distance, distance);
      }
    }
  }
};

/// All columns of the result, shared out over the threads. REQUIRES: one at least.
template <int kBits>
void multiply_rows(const KernelContext& context) {
  const TensorView &a = context.input(0), &y = context.output(0);
  const int64_t terms = a.extents[a.rank - 1], columns = context.input(1).extents[0];
  const int64_t rows = y.count() / columns;
  for_items(context, columns, (terms + 1) * static_cast<int64_t>(sizeof(float)),
            [&](int64_t begin, int64_t end) {
              on_widest_isa(context.isa(), [&] {
                for (int64_t n = begin; n < end; ++n) {
                  WeightRow<kBits>(context, n, terms)
                      .multiply(a.as<const float>(), rows, y.as<float>() + n, columns);
                }
              });
            });
}

}  // namespace intarsia::cpu
