// SPDX-License-Identifier: Apache-2.0
//
// The micro-kernel of depthwise_bytes.h as a template.
//
// Pixels below one another are multiplied together: two as differences to the zero point, 16 bits
// each, or three as the bytes that they are, for dot products of AVX512_VNNI; what the zero point
// adds to a row of sums is then known before. The window's columns of them are shared by the
// outputs of a group. A row that is missing, at the image's edge or below the last tap, has no
// weights. Blocks of rows that the first cache level holds, then channel vectors, whose weights are
// made once, then rows, then groups of outputs.
//
// Included by typed_<isa>.cpp only, as typed_tile.h is.
#pragma once

#include "kernels_cpu/gemm/depthwise_bytes.h"
#include "kernels_cpu/gemm/depthwise_tile.h"
#include "kernels_cpu/gemm/typed_tile.h"

namespace intarsia::cpu {

/// Rows of the image that a window meets together, one of them in the place of each that is
/// missing, and the bits of the weights that count.
template <int kRows>
struct DepthwiseRows {
  const uint8_t* row[kRows];
  uint32_t there;
  int64_t first;  ///< Of its weights.
};

/// Those that the window at (z, y) of an image meets, whose weights have `bits` each; returns how
/// many.
template <int kRows>
INTARSIA_INLINE int depthwise_rows(const ConvShape& s, const uint8_t* image, int64_t z, int64_t y,
                                   int bits, DepthwiseRows<kRows>* to) {
  int count = 0;
  int64_t first = 0;
  for (int64_t h = 0; h < s.kernel_d; ++h) {
    const int64_t plane = z * s.stride_d - s.pad_front + h * s.dilation_d;
    for (int64_t i = 0; i < s.kernel_h; i += kRows, first += s.kernel_w) {
      if (plane < 0 || plane >= s.in_d) continue;
      DepthwiseRows<kRows> rows{{}, 0, first};
      const uint8_t* any = nullptr;
      for (int r = 0; r < kRows && i + r < s.kernel_h; ++r) {
        const int64_t at = y * s.stride_h - s.pad_top + (i + r) * s.dilation_h;
        if (at < 0 || at >= s.in_h) continue;
        any = image + (plane * s.in_h + at) * s.in_w * s.in_c;
        rows.row[r] = any;
        rows.there |= ((1u << bits) - 1) << bits * r;
      }
      if (any == nullptr) continue;
      for (const uint8_t*& row : rows.row) row = row != nullptr ? row : any;
      to[count++] = rows;
    }
  }
  return count;
}

/// Bytes as numbers of 32 bits: the compiler's own way is an element at a time.
template <class X>
INTARSIA_INLINE void load_widened(const uint8_t* p, X& x) {
  constexpr int kWidth = sizeof(X) / 4;
#if defined(__AVX512BW__)
  if constexpr (kWidth == 16) {
    x = (X)_mm512_maskz_cvtepu8_epi32(0xffff, _mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    return;
  }
#endif
#if defined(__AVX2__)
  if constexpr (kWidth == 8) {
    x = (X)_mm256_cvtepu8_epi32(_mm_loadu_si64(p));
    return;
  }
#endif
  using Bytes = typename VectorOfType<uint8_t, 2 * kWidth>::Type;
  using Shorts = typename VectorOfType<uint16_t, 2 * kWidth>::Type;
  Bytes bytes{};
  std::memcpy(&bytes, p, kWidth);
  const Shorts shorts = __builtin_convertvector(bytes, Shorts);
  typename VectorOfType<uint16_t, kWidth>::Type low;
  std::memcpy(&low, &shorts, sizeof low);
  x = __builtin_convertvector(low, X);
}

/// What is multiplied together: `make` makes it of bytes, `place` from the beginning of each row.
/// Missing ones have no part in pairs, and are zero points in quads.
template <Isa I, class S>
struct DepthwiseTaps {
  static constexpr int kRows = 2, kBits = 16;
  using X = typename TypedVector<I, uint32_t>::X;
  using Shorts = typename VectorOfType<uint16_t, 2 * TypedVector<I, uint32_t>::kWidth>::Type;

  INTARSIA_INLINE static void make(const uint8_t* const (&rows)[kRows], ptrdiff_t place,
                                   const X& flips, const X& zeros, X& taps) {
    X a, b;
    load_widened(rows[0] + place, a);
    load_widened(rows[1] + place, b);
    taps = (X)((Shorts)((a | b << 16) ^ flips) - (Shorts)zeros);
  }
  static constexpr uint32_t everywhere(uint32_t byte) { return 0x00010001u * byte; }
  INTARSIA_INLINE static void add(X& sum, const X& x, const X& w) { PairProducts::add(sum, x, w); }
};

#if defined(__AVX512BW__)
template <Isa I>
struct DepthwiseTaps<I, ByteQuad> {
  static constexpr int kRows = 3, kBits = 8;
  using X = typename TypedVector<I, uint32_t>::X;

  INTARSIA_INLINE static void make(const uint8_t* const (&rows)[kRows], ptrdiff_t place,
                                   const X& flips, const X&, X& taps) {
    X a, b, c;
    load_widened(rows[0] + place, a);
    load_widened(rows[1] + place, b);
    load_widened(rows[2] + place, c);
    taps = (a | b << 8 | c << 16) ^ flips;
  }
  static constexpr uint32_t everywhere(uint32_t byte) { return 0x00010101u * byte; }
  INTARSIA_INLINE static void add(X& sum, const X& x, const X& w) { QuadProducts::add(sum, x, w); }
};
#endif

/// Some rows of a channel vector. Cols taps and Stride columns from output to output; 0: known at
/// run time only.
template <Isa I, class S, int Cols, int Stride>
struct DepthwiseByteVector {
  static constexpr int kWidth = TypedVector<I, uint32_t>::kWidth, kPixels = 4;
  using X = typename TypedVector<I, uint32_t>::X;
  using Taps = DepthwiseTaps<I, S>;
  using Rows = DepthwiseRows<Taps::kRows>;

  const DepthwiseBytes& job;
  ptrdiff_t channel;
  X flips, zeros;
  X weights[kMostDepthwisePairs + 1];

  INTARSIA_INLINE DepthwiseByteVector(const DepthwiseBytes& all, ptrdiff_t c)
      : job(all), channel(c) {
    const ConvShape& s = job.shape;
    flips = Taps::everywhere(job.flip) - X{};
    zeros = Taps::everywhere(static_cast<uint8_t>(*job.zero ^ job.flip)) - X{};
    // Bytes of quads are signed: their zero points are 0.
    const uint8_t flip = kQuads<S> ? job.filter_flip ^ 0x80 : job.filter_flip;
    const X filter_flips = Taps::everywhere(flip) - X{};
    X filter_zeros;
    for (int i = 0; i < kWidth; ++i) {
      const uint8_t zero = job.filter_zeros[(c + i) * job.filter_zero_step];
      filter_zeros[i] = Taps::everywhere(static_cast<uint8_t>(zero ^ flip));
    }
    const ptrdiff_t row = s.kernel_w * s.in_c;
    X* to = weights;
    for (int64_t h = 0; h < s.kernel_d; ++h) {
      for (int64_t i = 0; i < s.kernel_h; i += Taps::kRows) {
        const uint8_t* rows[Taps::kRows];
        for (int r = 0; r < Taps::kRows; ++r) {
          const int64_t at = i + r < s.kernel_h ? i + r : i;
          rows[r] = job.filter + (h * s.kernel_h + at) * row + c;
        }
        for (int64_t j = 0; j < s.kernel_w; ++j, ++to) {
          Taps::make(rows, j * s.in_c, filter_flips, filter_zeros, *to);
        }
      }
    }
  }

  /// What sums of a row begin with: what the zero point of x takes from all.
  INTARSIA_INLINE void begin_row(const Rows* rows, const Rows* end, X& first) const {
    first = X{};
    if constexpr (kQuads<S>) {
      X sum{};
      for (; rows < end; ++rows) {
        for (int64_t j = 0; j < job.shape.kernel_w; ++j) {
          Taps::add(sum, zeros, weights[rows->first + j] & (rows->there - X{}));
        }
      }
      first -= sum;
    }
  }

  /// Outputs of one row, the first of which has its first column at `start`.
  template <int Pixels, bool Edge>
  INTARSIA_INLINE void group(const Rows* rows, const Rows* end, const X& first, ptrdiff_t start,
                             DepthwiseColumns columns, uint32_t* to) const {
    const ptrdiff_t pitch = job.shape.in_c;
    const X flip = flips, zero = zeros;
    X acc[Pixels];
    INTARSIA_UNROLL
    for (int p = 0; p < Pixels; ++p) acc[p] = first;
    for (; rows < end; ++rows) {
      const ptrdiff_t at = start * pitch + channel;
      const X there = rows->there - X{};
      const X* held = weights + rows->first;
      const auto is_missing = [&](int column) {
        return Edge && (column < columns.begin || column >= columns.end);
      };
      if constexpr (Cols == 0) {
        const ptrdiff_t column = job.shape.dilation_w * pitch, step = job.shape.stride_w * pitch;
        for (int j = 0; j < static_cast<int>(job.shape.kernel_w); ++j) {
          const bool missing = is_missing(j);
          if (missing && !kQuads<S>) continue;
          const X w = held[j] & there;
          INTARSIA_UNROLL
          for (int p = 0; p < Pixels; ++p) {
            X v = zero;
            if (!missing) Taps::make(rows->row, at + p * step + j * column, flip, zero, v);
            Taps::add(acc[p], v, w);
          }
        }
      } else {
        X w[Cols];
        INTARSIA_UNROLL
        for (int j = 0; j < Cols; ++j) w[j] = held[j] & there;
        // Column q is under tap j of output p where q = p * Stride + j.
        INTARSIA_UNROLL
        for (int q = 0; q < (Pixels - 1) * Stride + Cols; ++q) {
          const bool missing = is_missing(q);
          if (missing && !kQuads<S>) continue;
          X v = zero;
          if (!missing) Taps::make(rows->row, at + q * pitch, flip, zero, v);
          INTARSIA_UNROLL
          for (int p = 0; p < Pixels; ++p) {
            const int j = q - p * Stride;
            if (j >= 0 && j < Cols) Taps::add(acc[p], v, w[j]);
          }
        }
      }
    }
    INTARSIA_UNROLL
    for (int p = 0; p < Pixels; ++p) std::memcpy(to + p * pitch, &acc[p], sizeof acc[p]);
  }

  void single(const Rows* rows, const Rows* end, const X& first, int64_t x, uint32_t* to) const {
    const ConvShape& s = job.shape;
    const ptrdiff_t start = x * s.stride_w - s.pad_left;
    group<1, true>(rows, end, first, start,
                   columns_inside<X>(start, static_cast<int>(s.kernel_w), s.dilation_w, s.in_w),
                   to);
  }

  void row(const Rows* rows, const Rows* end, uint32_t* y) const {
    const ConvShape& s = job.shape;
    X first;
    begin_row(rows, end, first);
    if (s.out_w < kPixels) {
      for (int64_t x = 0; x < s.out_w; ++x) single(rows, end, first, x, y + x * s.in_c);
      return;
    }
    const ptrdiff_t reach = (kPixels - 1) * s.stride_w + (s.kernel_w - 1) * s.dilation_w;
    for (int64_t next = 0; next < s.out_w; next += kPixels) {
      // The last group may overlap the one before: it stores the same results again.
      const int64_t x = next + kPixels <= s.out_w ? next : s.out_w - kPixels;
      const ptrdiff_t start = x * s.stride_w - s.pad_left;
      uint32_t* to = y + x * s.in_c;
      if (start >= 0 && start + reach < s.in_w) {
        group<kPixels, false>(rows, end, first, start, {0, static_cast<int>(s.kernel_w)}, to);
      } else if constexpr (Cols > 0) {
        constexpr int kColumns = (kPixels - 1) * Stride + Cols;
        group<kPixels, true>(rows, end, first, start, columns_inside<X>(start, kColumns, 1, s.in_w),
                             to);
      } else {
        for (int64_t i = x; i < x + kPixels; ++i) single(rows, end, first, i, y + i * s.in_c);
      }
    }
  }
};

template <Isa I, class S, int Cols, int Stride>
void depthwise_byte_rows(const DepthwiseBytes& job, int64_t begin, int64_t end) {
  using Vector = DepthwiseByteVector<I, S, Cols, Stride>;
  constexpr int64_t kBlockBytes = 1 << 15;
  const ConvShape& s = job.shape;
  const int64_t fitting = kBlockBytes / (s.in_w * s.stride_h * s.in_c + 1);
  const int64_t block = fitting < 1 ? 1 : fitting;
  const int64_t in_image = s.in_d * s.in_h * s.in_w * s.in_c;
  const int64_t first = begin;
  for (int64_t last; begin < end; begin = last) {
    last = end - begin < block ? end : begin + block;
    for (int64_t next = 0; next < s.in_c; next += Vector::kWidth) {
      // The last vector may overlap the one before.
      const int64_t c = next + Vector::kWidth <= s.in_c ? next : s.in_c - Vector::kWidth;
      const Vector vector(job, c);
      for (int64_t unit = begin; unit < last; ++unit) {
        const int64_t y = unit % s.out_h, z = unit / s.out_h % s.out_d;
        typename Vector::Rows rows[kMostDepthwisePairs + 1];
        const int count = depthwise_rows(s, job.input + unit / s.out_h / s.out_d * in_image, z, y,
                                         Vector::Taps::kBits, rows);
        vector.row(rows, rows + count, job.output + (unit - first) * s.out_w * s.in_c + c);
      }
    }
  }
}

template <Isa I, class S>
void DepthwiseByteTiles<I, S>::rows(const DepthwiseBytes& job, int64_t begin, int64_t end) {
  const ConvShape& s = job.shape;
  const bool dense = s.dilation_w == 1;
  const auto is = [&](int64_t columns, int64_t stride) {
    return dense && s.kernel_w == columns && s.stride_w == stride;
  };
  if (is(3, 1)) return depthwise_byte_rows<I, S, 3, 1>(job, begin, end);
  if (is(3, 2)) return depthwise_byte_rows<I, S, 3, 2>(job, begin, end);
  if (is(5, 1)) return depthwise_byte_rows<I, S, 5, 1>(job, begin, end);
  if (is(5, 2)) return depthwise_byte_rows<I, S, 5, 2>(job, begin, end);
  depthwise_byte_rows<I, S, 0, 0>(job, begin, end);
}

}  // namespace intarsia::cpu
