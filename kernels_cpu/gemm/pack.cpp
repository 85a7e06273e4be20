// SPDX-License-Identifier: Apache-2.0
//
// See pack.h. The two functions that also run at run time move 16 columns at a time: rows of B as
// they are, its transpose through 4 x 4 blocks in registers.
#include "kernels_cpu/gemm/pack.h"

#include <array>
#include <cstring>
#include <type_traits>

namespace intarsia::cpu {
namespace {

using Quad = float __attribute__((vector_size(16)));

Quad load_quad(const float* p) {
  Quad v;
  std::memcpy(&v, p, sizeof v);
  return v;
}

void store_quad(float* p, Quad v) {
  std::memcpy(p, &v, sizeof v);
}

// to[i * to_pitch + j] = from[j * pitch + i] for i, j < 4.
void transpose_quad(const float* from, int64_t pitch, float* to, int64_t to_pitch) {
  const Quad a = load_quad(from);
  const Quad b = load_quad(from + pitch);
  const Quad c = load_quad(from + 2 * pitch);
  const Quad d = load_quad(from + 3 * pitch);
  const Quad ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  const Quad ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  const Quad cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const Quad cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  store_quad(to, __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5));
  store_quad(to + to_pitch, __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7));
  store_quad(to + 2 * to_pitch, __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5));
  store_quad(to + 3 * to_pitch, __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7));
}

// One panel of `columns` columns, column j at from + j * column_pitch, element k at + k * k_pitch.
template <class E>
void pack_panel(const E* from, int64_t column_pitch, int64_t k_pitch, int64_t k, int64_t columns,
                E* to) {
  for (int64_t i = 0; i < k; ++i, to += kPanel) {
    for (int64_t j = 0; j < columns; ++j) to[j] = from[j * column_pitch + i * k_pitch];
    for (int64_t j = columns; j < kPanel; ++j) to[j] = 0;
  }
}

/// The last panel of B, of 4 * quads + kRest columns.
template <int kRest>
void pack_columns_left(const float* from, int64_t pitch, int64_t k, int64_t quads, float* to) {
  for (int64_t i = 0; i < k; ++i, from += pitch, to += kPanel) {
    int64_t quad = 0;
    for (; quad < quads; ++quad) store_quad(to + 4 * quad, load_quad(from + 4 * quad));
    if constexpr (kRest > 0) {
      Quad last{};
      std::memcpy(&last, from + 4 * quad, kRest * sizeof(float));
      store_quad(to + 4 * quad++, last);
    }
    for (; quad < kPanel / 4; ++quad) store_quad(to + 4 * quad, Quad{});
  }
}

}  // namespace

void pack_b(const float* b, int64_t pitch, int64_t k, int64_t n, float* packed) {
  // Eight panels at a time: long enough runs of a row, few enough streams to write.
  constexpr int64_t kStripe = 8 * kPanel;
  const int64_t whole = n / kPanel * kPanel;
  for (int64_t n0 = 0; n0 < whole; n0 += kStripe) {
    const int64_t n1 = n0 + kStripe < whole ? n0 + kStripe : whole;
    for (int64_t i = 0; i < k; ++i) {
      for (int64_t j = n0; j < n1; j += kPanel) {
        std::memcpy(packed + j * k + i * kPanel, b + i * pitch + j, kPanel * sizeof(float));
      }
    }
  }
  constexpr auto kLeft = std::array{&pack_columns_left<0>, &pack_columns_left<1>,
                                    &pack_columns_left<2>, &pack_columns_left<3>};
  const int64_t left = n - whole;
  if (left == 0) return;
  kLeft[static_cast<size_t>(left % 4)](b + whole, pitch, k, left / 4, packed + whole * k);
}

template <class E>
void pack_b_transposed(const E* b, int64_t pitch, int64_t k, int64_t n, E* packed) {
  for (int64_t j = 0; j < n; j += kPanel, packed += k * kPanel) {
    const E* from = b + j * pitch;
    int64_t i = 0;
    if constexpr (std::is_same_v<E, float>) {
      for (; n - j >= kPanel && i + 4 <= k; i += 4) {
        for (int q = 0; q < kPanel; q += 4) {
          transpose_quad(from + q * pitch + i, pitch, packed + i * kPanel + q, kPanel);
        }
      }
    }
    const int64_t columns = n - j < kPanel ? n - j : kPanel;
    pack_panel(from + i, pitch, 1, k - i, columns, packed + i * kPanel);
  }
}

template <class E>
void transpose(const E* from, int64_t from_pitch, int64_t rows, int64_t columns, E* to,
               int64_t to_pitch) {
  int64_t whole_rows = 0, whole_columns = 0;
  if constexpr (std::is_same_v<E, float>) {
    whole_rows = rows / 4 * 4, whole_columns = columns / 4 * 4;
    for (int64_t i = 0; i < whole_rows; i += 4) {
      for (int64_t j = 0; j < whole_columns; j += 4) {
        transpose_quad(from + i * from_pitch + j, from_pitch, to + j * to_pitch + i, to_pitch);
      }
    }
  }
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = i < whole_rows ? whole_columns : 0; j < columns; ++j) {
      to[j * to_pitch + i] = from[i * from_pitch + j];
    }
  }
}

template <class E>
void pack_conv(const E* weights, int64_t groups, int64_t n, int64_t channels, int64_t taps,
               E* packed) {
  const int64_t column_pitch = channels * taps;
  for (int64_t g = 0; g < groups; ++g) {
    for (int64_t j = 0; j < n; j += kPanel) {
      const int64_t columns = n - j < kPanel ? n - j : kPanel;
      const E* from = weights + (g * n + j) * column_pitch;
      for (int64_t tap = 0; tap < taps; ++tap, packed += channels * kPanel) {
        pack_panel(from + tap, column_pitch, taps, channels, columns, packed);
      }
    }
  }
}

template <class E>
void pack_depthwise(const E* weights, int64_t channels, int64_t taps, E* packed) {
  for (int64_t tap = 0; tap < taps; ++tap) {
    for (int64_t c = 0; c < channels; ++c) *packed++ = weights[c * taps + tap];
  }
}

template void pack_b_transposed(const float*, int64_t, int64_t, int64_t, float*);
template void pack_b_transposed(const uint16_t*, int64_t, int64_t, int64_t, uint16_t*);
template void transpose(const float*, int64_t, int64_t, int64_t, float*, int64_t);
template void transpose(const uint16_t*, int64_t, int64_t, int64_t, uint16_t*, int64_t);
template void pack_conv(const float*, int64_t, int64_t, int64_t, int64_t, float*);
template void pack_conv(const uint16_t*, int64_t, int64_t, int64_t, int64_t, uint16_t*);
template void pack_depthwise(const float*, int64_t, int64_t, float*);
template void pack_depthwise(const uint16_t*, int64_t, int64_t, uint16_t*);

}  // namespace intarsia::cpu
