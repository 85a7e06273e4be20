// SPDX-License-Identifier: Apache-2.0
//
// The micro-kernel of depthwise_bytes.h as a template.
//
// A pair is two pixels, one below the other, as differences to the zero point, 16 bits each: the
// window's columns of pairs are shared by the outputs of a group. A row that is missing, at the
// image's edge or below an odd number of taps, has no weights. Blocks of rows that the first cache
// level holds, then channel vectors, whose weights are made once, then rows, then groups of
// outputs.
//
// Included by typed_<isa>.cpp only, as typed_tile.h is.
#pragma once

#include "kernels_cpu/gemm/depthwise_bytes.h"
#include "kernels_cpu/gemm/depthwise_tile.h"
#include "kernels_cpu/gemm/typed_tile.h"

namespace intarsia::cpu {

/// Two rows of the image under a window, or one twice, and the bits of the weights that count.
struct DepthwiseRowPair {
  const uint8_t *low, *high;
  uint32_t there;
  int64_t first;  ///< Of its weights.
};

/// The pairs of rows that the window at (z, y) of an image meets; returns how many.
INTARSIA_INLINE int depthwise_row_pairs(const ConvShape& s, const uint8_t* image, int64_t z,
                                        int64_t y, DepthwiseRowPair* pairs) {
  const auto inside = [](int64_t at, int64_t extent) { return at >= 0 && at < extent; };
  int count = 0;
  int64_t first = 0;
  for (int64_t h = 0; h < s.kernel_d; ++h) {
    const int64_t plane = z * s.stride_d - s.pad_front + h * s.dilation_d;
    for (int64_t i = 0; i < s.kernel_h; i += 2, first += s.kernel_w) {
      if (!inside(plane, s.in_d)) continue;
      const int64_t low = y * s.stride_h - s.pad_top + i * s.dilation_h, high = low + s.dilation_h;
      const bool has_low = inside(low, s.in_h);
      const bool has_high = i + 1 < s.kernel_h && inside(high, s.in_h);
      if (!has_low && !has_high) continue;
      const auto row = [&](int64_t at) { return image + (plane * s.in_h + at) * s.in_w * s.in_c; };
      pairs[count++] = {row(has_low ? low : high), row(has_high ? high : low),
                        (has_low ? 0xffffu : 0u) | (has_high ? 0xffff0000u : 0u), first};
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

/// Some rows of a channel vector. Cols taps and Stride columns from output to output; 0: known at
/// run time only.
template <Isa I, int Cols, int Stride>
struct DepthwiseByteVector {
  static constexpr int kWidth = TypedVector<I, uint32_t>::kWidth, kPixels = 4;
  using X = typename TypedVector<I, uint32_t>::X;
  using Shorts = typename VectorOfType<uint16_t, 2 * kWidth>::Type;

  const DepthwiseBytes& job;
  ptrdiff_t channel;
  X flips, zeros;
  X weights[kMostDepthwisePairs + 1];

  INTARSIA_INLINE static void make_pair(const uint8_t* low, const uint8_t* high, const X& flips,
                                        const X& zeros, X& pair) {
    X a, b;
    load_widened(low, a);
    load_widened(high, b);
    pair = (X)((Shorts)((a | b << 16) ^ flips) - (Shorts)zeros);
  }

  INTARSIA_INLINE DepthwiseByteVector(const DepthwiseBytes& all, ptrdiff_t c)
      : job(all), channel(c) {
    const ConvShape& s = job.shape;
    flips = 0x00010001u * job.flip - X{};
    zeros = 0x00010001u * static_cast<uint8_t>(*job.zero ^ job.flip) - X{};
    const X filter_flips = 0x00010001u * job.filter_flip - X{};
    X filter_zeros;
    for (int i = 0; i < kWidth; ++i) {
      const uint8_t zero = job.filter_zeros[(c + i) * job.filter_zero_step];
      filter_zeros[i] = 0x00010001u * static_cast<uint8_t>(zero ^ job.filter_flip);
    }
    const uint8_t* tap = job.filter + c;
    X* to = weights;
    const ptrdiff_t row = s.kernel_w * s.in_c;
    for (int64_t h = 0; h < s.kernel_d; ++h) {
      for (int64_t i = 0; i < s.kernel_h; i += 2) {
        const bool pair = i + 1 < s.kernel_h;
        for (int64_t j = 0; j < s.kernel_w; ++j, tap += s.in_c, ++to) {
          make_pair(tap, pair ? tap + row : tap, filter_flips, filter_zeros, *to);
        }
        if (pair) tap += row;
      }
    }
  }

  /// Outputs of one row, the first of which has its first column at `start`.
  template <int Pixels, bool Edge>
  INTARSIA_INLINE void group(const DepthwiseRowPair* pairs, const DepthwiseRowPair* end,
                             ptrdiff_t start, DepthwiseColumns columns, uint32_t* to) const {
    const ptrdiff_t pitch = job.shape.in_c;
    const X flip = flips, zero = zeros;
    X acc[Pixels] = {};
    for (; pairs < end; ++pairs) {
      const ptrdiff_t at = start * pitch + channel;
      const X there = pairs->there - X{};
      const X* held = weights + pairs->first;
      if constexpr (Cols == 0) {
        const ptrdiff_t column = job.shape.dilation_w * pitch, step = job.shape.stride_w * pitch;
        for (int j = columns.begin; j < columns.end; ++j) {
          const X w = held[j] & there;
          INTARSIA_UNROLL
          for (int p = 0; p < Pixels; ++p) {
            const ptrdiff_t place = at + p * step + j * column;
            X v;
            make_pair(pairs->low + place, pairs->high + place, flip, zero, v);
            PairProducts::add(acc[p], v, w);
          }
        }
      } else {
        X w[Cols];
        INTARSIA_UNROLL
        for (int j = 0; j < Cols; ++j) w[j] = held[j] & there;
        // Column q is under tap j of output p where q = p * Stride + j.
        INTARSIA_UNROLL
        for (int q = 0; q < (Pixels - 1) * Stride + Cols; ++q) {
          if (Edge && (q < columns.begin || q >= columns.end)) continue;
          X v;
          make_pair(pairs->low + at + q * pitch, pairs->high + at + q * pitch, flip, zero, v);
          INTARSIA_UNROLL
          for (int p = 0; p < Pixels; ++p) {
            const int j = q - p * Stride;
            if (j >= 0 && j < Cols) PairProducts::add(acc[p], v, w[j]);
          }
        }
      }
    }
    INTARSIA_UNROLL
    for (int p = 0; p < Pixels; ++p) std::memcpy(to + p * pitch, &acc[p], sizeof acc[p]);
  }

  void single(const DepthwiseRowPair* pairs, const DepthwiseRowPair* end, int64_t x,
              uint32_t* to) const {
    const ConvShape& s = job.shape;
    const ptrdiff_t start = x * s.stride_w - s.pad_left;
    group<1, true>(pairs, end, start,
                   columns_inside<X>(start, static_cast<int>(s.kernel_w), s.dilation_w, s.in_w),
                   to);
  }

  void row(const DepthwiseRowPair* pairs, const DepthwiseRowPair* end, uint32_t* y) const {
    const ConvShape& s = job.shape;
    if (s.out_w < kPixels) {
      for (int64_t x = 0; x < s.out_w; ++x) single(pairs, end, x, y + x * s.in_c);
      return;
    }
    const ptrdiff_t reach = (kPixels - 1) * s.stride_w + (s.kernel_w - 1) * s.dilation_w;
    for (int64_t next = 0; next < s.out_w; next += kPixels) {
      // The last group may overlap the one before: it stores the same results again.
      const int64_t x = next + kPixels <= s.out_w ? next : s.out_w - kPixels;
      const ptrdiff_t start = x * s.stride_w - s.pad_left;
      uint32_t* to = y + x * s.in_c;
      if (start >= 0 && start + reach < s.in_w) {
        group<kPixels, false>(pairs, end, start, {0, static_cast<int>(s.kernel_w)}, to);
      } else if constexpr (Cols > 0) {
        constexpr int kColumns = (kPixels - 1) * Stride + Cols;
        group<kPixels, true>(pairs, end, start, columns_inside<X>(start, kColumns, 1, s.in_w), to);
      } else {
        for (int64_t i = x; i < x + kPixels; ++i) single(pairs, end, i, y + i * s.in_c);
      }
    }
  }
};

template <Isa I, int Cols, int Stride>
void depthwise_byte_rows(const DepthwiseBytes& job, int64_t begin, int64_t end) {
  using Vector = DepthwiseByteVector<I, Cols, Stride>;
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
        DepthwiseRowPair pairs[kMostDepthwisePairs + 1];
        const int count =
            depthwise_row_pairs(s, job.input + unit / s.out_h / s.out_d * in_image, z, y, pairs);
        vector.row(pairs, pairs + count, job.output + (unit - first) * s.out_w * s.in_c + c);
      }
    }
  }
}

template <Isa I>
void DepthwiseByteTiles<I>::rows(const DepthwiseBytes& job, int64_t begin, int64_t end) {
  const ConvShape& s = job.shape;
  const bool dense = s.dilation_w == 1;
  const auto is = [&](int64_t columns, int64_t stride) {
    return dense && s.kernel_w == columns && s.stride_w == stride;
  };
  if (is(3, 1)) return depthwise_byte_rows<I, 3, 1>(job, begin, end);
  if (is(3, 2)) return depthwise_byte_rows<I, 3, 2>(job, begin, end);
  if (is(5, 1)) return depthwise_byte_rows<I, 5, 1>(job, begin, end);
  if (is(5, 2)) return depthwise_byte_rows<I, 5, 2>(job, begin, end);
  depthwise_byte_rows<I, 0, 0>(job, begin, end);
}

}  // namespace intarsia::cpu
