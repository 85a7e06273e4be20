// SPDX-License-Identifier: Apache-2.0
//
// The tiles of thin_bytes.h as templates over instruction set and groups of bytes.
//
// Four rows of B are interleaved in registers, so that each 32 bits are four bytes of a column.
// Quads are multiplied as they lie, with the bytes of A; the zero points of A are taken off with
// the sums of the columns. Elsewhere they become two of pairs, of the bytes at even and at odd
// places, and those of A are differences to the zero point.
//
// Included by typed_<isa>.cpp only, as typed_tile.h is.
#pragma once

#include <utility>

#include "kernels_cpu/gemm/thin_bytes.h"
#include "kernels_cpu/gemm/typed_tile.h"

namespace intarsia::cpu {

/// Rows of B of a pass, between which sums wait in C.
inline constexpr ptrdiff_t kThinByteDepth = 512;

/// Elements of two vectors in turn, from the lower (First = 0) or the upper halves of each 16
/// bytes.
template <int First, class X, int... E>
INTARSIA_INLINE void zip_halves(const X& a, const X& b, std::integer_sequence<int, E...>, X& to) {
  constexpr int kAll = sizeof...(E), kPart = 16 / sizeof(a[0]);
  to = __builtin_shufflevector(
      a, b, (E / kPart * kPart + First * kPart / 2 + E % kPart / 2 + E % 2 * kAll)...);
}

/// Four rows of W bytes as W quads: quads[i] has the columns 4 i to 4 i + 3 of each sixteen.
template <int W>
struct QuadsOfRows {
  using Bytes = typename VectorOfType<uint8_t, W>::Type;
  using Shorts = typename VectorOfType<uint16_t, W / 2>::Type;
  using X = typename VectorOfType<uint32_t, W / 4>::Type;

  INTARSIA_INLINE static void interleave(const Bytes (&rows)[4], X (&quads)[4]) {
    constexpr auto kBytes = std::make_integer_sequence<int, W>();
    constexpr auto kShorts = std::make_integer_sequence<int, W / 2>();
    Bytes halves[4];
    zip_halves<0>(rows[0], rows[1], kBytes, halves[0]);
    zip_halves<0>(rows[2], rows[3], kBytes, halves[1]);
    zip_halves<1>(rows[0], rows[1], kBytes, halves[2]);
    zip_halves<1>(rows[2], rows[3], kBytes, halves[3]);
    INTARSIA_UNROLL
    for (int i = 0; i < 4; i += 2) {
      const Shorts a = (Shorts)halves[i], b = (Shorts)halves[i + 1];
      Shorts low, high;
      zip_halves<0>(a, b, kShorts, low);
      zip_halves<1>(a, b, kShorts, high);
      quads[i] = (X)low;
      quads[i + 1] = (X)high;
    }
  }
};

/// A pass: of up to R rows of A, kThinByteDepth bytes as groups.
template <class S, int R>
struct ThinBytePass {
  static constexpr int kWords = kQuads<S> ? 1 : 2;
  uint32_t a[R][kWords]
            [kThinByteDepth / 4 + 16];  ///< Quads, or the pairs of even and of odd places.
  uint32_t zeros[R];                    ///< Of quads.
  ptrdiff_t k0, quads;

  template <class X>
  INTARSIA_INLINE void load(const ThinBytes& t, ptrdiff_t from) {
    using Unsigned = typename VectorOfType<uint16_t, sizeof(X) / 2>::Type;
    const ptrdiff_t left = t.a.k - from, depth = left < kThinByteDepth ? left : kThinByteDepth;
    k0 = from;
    quads = (depth + 3) / 4;
    for (int r = 0; r < R; ++r) {
      const ByteFactor x = t.a.at(r, 0);
      const auto zero = static_cast<uint8_t>(*x.zeros ^ x.flip);
      zeros[r] = zero;
      std::memset(a[r][0] + depth / 4, 0, sizeof(X));
      std::memcpy(a[r][0], x.data + from, static_cast<size_t>(depth));
      const X flips = 0x01010101u * x.flip - X{};
      const Unsigned zero_points = zero - Unsigned{};
      for (ptrdiff_t i = 0; i < quads; i += sizeof(X) / 4) {
        X v;
        std::memcpy(&v, a[r][0] + i, sizeof v);
        v ^= flips;
        if constexpr (!kQuads<S>) {
          const X odd = (X)(((Unsigned)v >> 8) - zero_points);
          std::memcpy(a[r][kWords - 1] + i, &odd, sizeof odd);
          v = (X)(((Unsigned)v & 0xff) - zero_points);
        }
        std::memcpy(a[r][0] + i, &v, sizeof v);
      }
    }
  }
};

/// A strip of `columns` columns, W of them or fewer; B begins at its first one.
template <Isa I, class S, int R, int W>
void thin_byte_strip(const ThinBytePass<S, R>& pass, const ByteFactor& b, ptrdiff_t columns,
                     uint32_t* c, ptrdiff_t c_pitch) {
  using Rows = QuadsOfRows<W>;
  using Bytes = typename Rows::Bytes;
  using X = typename Rows::X;
  using Signed = typename VectorOfType<int16_t, W / 2>::Type;
  const Bytes flips = static_cast<uint8_t>(b.flip ^ 0x80) - Bytes{};
  X acc[R][4] = {}, sums[4] = {};
  const ptrdiff_t step = b.k_step;
  const auto add = [&](const Bytes(&rows)[4], ptrdiff_t i) __attribute__((always_inline)) {
    X quads[4];
    Rows::interleave(rows, quads);
    INTARSIA_UNROLL
    for (int part = 0; part < 4; ++part) {
      const X quad = quads[part] ^ (X)flips;
      if constexpr (kQuads<S>) {
        const X ones = 0x01010101u - X{};
        QuadProducts::add(sums[part], ones, quad);
        INTARSIA_UNROLL
        for (int r = 0; r < R; ++r) QuadProducts::add(acc[r][part], pass.a[r][0][i] - X{}, quad);
      } else {
        const X even = (X)((Signed)(quad << 8) >> 8), odd = (X)((Signed)quad >> 8);
        INTARSIA_UNROLL
        for (int r = 0; r < R; ++r) {
          PairProducts::add(acc[r][part], pass.a[r][0][i] - X{}, even);
          PairProducts::add(acc[r][part], pass.a[r][pass.kWords - 1][i] - X{}, odd);
        }
      }
    }
  };
  // Whole vectors are read where that ends within B.
  const ptrdiff_t beyond = W - columns, last = b.k - (beyond + step - 1) / step;
  const uint8_t* from = b.data + pass.k0 * step;
  ptrdiff_t i = 0;
  for (; i < pass.quads && pass.k0 + 4 * i + 4 <= last; ++i, from += 4 * step) {
    Bytes rows[4];
    INTARSIA_UNROLL
    for (int r = 0; r < 4; ++r) std::memcpy(&rows[r], from + r * step, sizeof rows[r]);
    add(rows, i);
  }
  for (; i < pass.quads; ++i, from += 4 * step) {
    const Bytes none = flips;  // numbers of 0
    Bytes rows[4] = {none, none, none, none};
    const ptrdiff_t left = b.k - pass.k0 - 4 * i;
    for (ptrdiff_t r = 0; r < 4 && r < left; ++r) {
      std::memcpy(&rows[r], from + r * step, static_cast<size_t>(columns));
    }
    add(rows, i);
  }
  for (int r = 0; r < R; ++r, c += c_pitch) {
    uint32_t line[W];
    INTARSIA_UNROLL
    for (int part = 0; part < 4; ++part) {
      X sum = acc[r][part];
      if constexpr (kQuads<S>) sum -= pass.zeros[r] * sums[part];
      Quad<uint32_t> parts[W / 16];
      std::memcpy(parts, &sum, sizeof sum);
      INTARSIA_UNROLL
      for (int p = 0; p < W / 16; ++p) {
        std::memcpy(line + 16 * p + 4 * part, &parts[p], sizeof parts[p]);
      }
    }
    for (ptrdiff_t j = 0; j < columns; ++j) c[j] = pass.k0 == 0 ? line[j] : c[j] + line[j];
  }
}

/// Strips of W columns, as long as half of them would not do for what is left.
template <Isa I, class S, int R, int W>
void thin_byte_strips(const ThinBytePass<S, R>& pass, const ThinBytes& t, ptrdiff_t first) {
  constexpr int kHalf = W > 16 ? W / 2 : 0;
  while (t.columns - first > kHalf) {
    const ptrdiff_t left = t.columns - first, columns = left < W ? left : W;
    thin_byte_strip<I, S, R, W>(pass, t.b.at(first, 0), columns, t.c + first, t.c_pitch);
    first += columns;
  }
  if constexpr (W > 16) {
    if (first < t.columns) thin_byte_strips<I, S, R, kHalf>(pass, t, first);
  }
}

template <Isa I, class S, int R>
void thin_byte_rows(const ThinBytes& t) {
  using X = typename TypedVector<I, uint32_t>::X;
  ThinBytePass<S, R> pass;
  ptrdiff_t k0 = 0;
  do {
    pass.template load<X>(t, k0);
    thin_byte_strips<I, S, R, sizeof(X)>(pass, t, 0);
    k0 += kThinByteDepth;
  } while (k0 < t.a.k);
}

template <Isa I, class S>
void ThinByteTiles<I, S>::multiply(const ThinBytes& product) {
  for (ptrdiff_t row = 0; row < product.rows; row += 3) {
    ThinBytes t = product;
    t.a = product.a.at(row, 0);
    t.c += row * t.c_pitch;
    const ptrdiff_t left = product.rows - row;
    if (left == 1) {
      thin_byte_rows<I, S, 1>(t);
    } else if (left == 2) {
      thin_byte_rows<I, S, 2>(t);
    } else {
      thin_byte_rows<I, S, 3>(t);
    }
  }
}

}  // namespace intarsia::cpu
