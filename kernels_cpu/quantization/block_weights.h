// SPDX-License-Identifier: Apache-2.0
//
// Constant weights of MatMulBlocks, packed in panels of 16 columns: in lines of 32 bits for each of
// them, which hold its next codes, the first in the lowest bits, so that a line becomes rows of a
// panel of floats by shifts and masks. Scales and zeros are [panel][block][16].
#pragma once

#include <algorithm>
#include <cstring>

#include "core/operators/quantization/matmul_blocks.h"
#include "kernels_cpu/common/unrolled.h"
#include "kernels_cpu/gemm/pack.h"
#include "kernels_cpu/gemm/vector.h"

namespace intarsia::cpu {

/// Vectors of so many bytes, some of which are the lanes of a panel.
template <int kBytes>
struct PanelVectors {
  static constexpr int kWidth = kBytes / 4, kParts = kPanel / kWidth;
  typedef float Floats __attribute__((vector_size(kBytes)));        // NOLINT(modernize-use-using)
  typedef int32_t Signed __attribute__((vector_size(kBytes)));      // NOLINT(modernize-use-using)
  typedef uint32_t Words __attribute__((vector_size(kBytes)));      // NOLINT(modernize-use-using)
  typedef int16_t Shorts __attribute__((vector_size(2 * kWidth)));  // NOLINT(modernize-use-using)
  typedef uint8_t Codes __attribute__((vector_size(kWidth)));       // NOLINT(modernize-use-using)

  template <class T, class V>
  INTARSIA_INLINE static void load(const T* from, V& v) {
    std::memcpy(&v, from, sizeof v);
  }
};

/// The packed weights. Vector v of a row of panels is part v % kParts of panel v / kParts.
struct Blocks {
  const uint32_t* lines;
  const float* scales;
  const uint8_t* zeros;  // null: the middle of the codes
  int64_t size, padded, terms;

  Blocks(const KernelContext& context, int64_t all_terms)
      : lines(context.input(1).as<const uint32_t>()),
        scales(context.input(2).as<const float>()),
        zeros(context.input(3).present() ? context.input(3).as<const uint8_t>() : nullptr),
        size(context.attributes<MatMulBlocksAttributes>().block_size),
        padded(context.input(1).extents[1]),
        terms(all_terms) {}

  /// Scales and zeros of the block of term k.
  template <class V, int kBits>
  INTARSIA_INLINE void parameters(int64_t vector, int64_t k, typename V::Floats& scale,
                                  typename V::Floats& zero) const {
    const int64_t block = vector / V::kParts * (padded / size) + k / size;
    const int64_t place = block * kPanel + vector % V::kParts * V::kWidth;
    V::load(scales + place, scale);
    if (zeros == nullptr) {
      zero = float{1 << (kBits - 1)} - typename V::Floats{};
      return;
    }
    typename V::Codes bytes;
    V::load(zeros + place, bytes);
    // In two steps: GCC takes four times the width apart.
    zero = __builtin_convertvector(__builtin_convertvector(bytes, typename V::Shorts),
                                   typename V::Floats);
  }
  /// The line of term k.
  template <class V, int kBits>
  INTARSIA_INLINE const uint32_t* line(int64_t vector, int64_t k) const {
    return lines + (vector / V::kParts * padded + k) / (32 / kBits) * kPanel +
           vector % V::kParts * V::kWidth;
  }
};

/// Code `part` of each lane of a line.
template <class V, int kBits>
INTARSIA_INLINE void codes_of(const typename V::Words& line, int part, typename V::Floats& codes) {
  const auto code = (line >> (part * kBits)) & ((1u << kBits) - 1);
  codes = __builtin_convertvector((typename V::Signed)code, typename V::Floats);
}

/// Rows [first, first + count) of a vector, kPanel floats apart; what lies behind, up to a whole
/// line, is overwritten.
template <class V, int kBits>
INTARSIA_INLINE void unpack(const Blocks& w, int64_t vector, int64_t first, int64_t count,
                            float* to) {
  constexpr int kEach = 32 / kBits;
  for (int64_t k = first; k < first + count;) {
    typename V::Floats scale, zero;
    w.parameters<V, kBits>(vector, k, scale, zero);
    const int64_t end = std::min(first + count, (k / w.size + 1) * w.size);
    const uint32_t* from = w.line<V, kBits>(vector, k);
    for (; k < end; k += kEach, from += kPanel) {
      typename V::Words line;
      V::load(from, line);
      INTARSIA_UNROLLED
      for (int part = 0; part < kEach; ++part, to += kPanel) {
        typename V::Floats row;
        codes_of<V, kBits>(line, part, row);
        row = (row - zero) * scale;
        std::memcpy(to, &row, sizeof row);
      }
    }
  }
}

/// The sum of a[k].
template <class V>
INTARSIA_INLINE float sum_of(const float* a, int64_t count) {
  typename V::Floats some, all{};
  int64_t i = 0;
  for (; i + V::kWidth <= count; i += V::kWidth) {
    V::load(a + i, some);
    all += some;
  }
  float lanes[V::kWidth];
  std::memcpy(lanes, &all, sizeof lanes);
  for (int half = V::kWidth / 2; half > 0; half /= 2) {
    for (int lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  }
  float sum = lanes[0];
  for (; i < count; ++i) sum += a[i];
  return sum;
}

/// One row of A by N vectors. Codes are multiplied as they are; the sum of a block then loses its
/// zero, and is scaled.
template <class V, int kBits, int N>
INTARSIA_INLINE void multiply_row(const Blocks& w, const float* a, int64_t vector, float* y) {
  constexpr int kEach = 32 / kBits;
  typename V::Floats totals[N] = {};
  for (int64_t k = 0; k < w.terms;) {
    const int64_t first = k, end = std::min(w.terms, k + w.size);
    typename V::Floats sums[N] = {};
    typename V::Words lines[N];
    const auto load_lines = [&]() __attribute__((always_inline)) {
      INTARSIA_UNROLLED
      for (int n = 0; n < N; ++n) V::load(w.line<V, kBits>(vector + n, k), lines[n]);
    };
    const auto add = [&](int part) __attribute__((always_inline)) {
      INTARSIA_UNROLLED
      for (int n = 0; n < N; ++n) {
        typename V::Floats codes;
        codes_of<V, kBits>(lines[n], part, codes);
        sums[n] += a[k + part] * codes;
      }
    };
    for (; k + kEach <= end; k += kEach) {
      load_lines();
      INTARSIA_UNROLLED
      for (int part = 0; part < kEach; ++part) add(part);
    }
    if (k < end) load_lines();
    for (int part = 0; k + part < end; ++part) add(part);
    k = end;
    const float sum = sum_of<V>(a + first, end - first);
    INTARSIA_UNROLLED
    for (int n = 0; n < N; ++n) {
      typename V::Floats scale, zero;
      w.parameters<V, kBits>(vector + n, first, scale, zero);
      totals[n] += (sums[n] - zero * sum) * scale;
    }
  }
  std::memcpy(y, totals, sizeof totals);
}

}  // namespace intarsia::cpu
