// SPDX-License-Identifier: Apache-2.0
//
// The depthwise micro-kernel of microkernel.h as a template.
//
// Channel vectors outside, then output rows, then groups of pixels: the weights of a vector stay in
// registers, and its input rows, one cache line for each pixel, in the first cache level. Where
// taps and stride are compile-time constants, the pixels of a group share the columns under their
// windows. Columns outside the image are left out. Included by kernels_<isa>.cpp only; `Vec`
// is an IsaVector (vector.h).
#pragma once

#include <type_traits>

#include "kernels_cpu/gemm/tile.h"

namespace intarsia::cpu {

/// Columns [begin, end) under the windows of a group, counted from its first, that are in the
/// image.
struct DepthwiseColumns {
  int begin;
  int end;
};

/// The part inside [0, width) of `count` columns, `dilation` apart, the first at `start`.
template <class Vec>
INTARSIA_INLINE DepthwiseColumns columns_inside(ptrdiff_t start, int count, ptrdiff_t dilation,
                                                ptrdiff_t width) {
  DepthwiseColumns c{0, count};
  while (c.begin < c.end && start + c.begin * dilation < 0) ++c.begin;
  while (c.begin < c.end && start + (c.end - 1) * dilation >= width) --c.end;
  return c;
}

/// One channel vector of all pixels of `s`, loaded and stored by the given functions. Rows and Cols
/// taps, Stride columns from pixel to pixel; 0: known at run time only. `OnePlane` spares short
/// windows a loop. `s` is passed by value: with a reference each store would make the compiler load
/// its fields again.
template <class Vec, int Rows, int Cols, int Stride, bool OnePlane>
struct DepthwiseVector {
  using F = typename Vec::F;
  using M = VecMath<Vec>;
  static constexpr int kPixels = 4;

  // A plane of the window's taps: pixels p < Pixels start at input + p * pixel_step. With Edge, or
  // if Cols is 0, only the given columns exist.
  template <int Pixels, bool Edge, class Load, class LoadInput>
  INTARSIA_INLINE static void accumulate(const DepthwiseBlock& s, const float* row,
                                         const float* weights, const F (&held)[Rows * Cols + 1],
                                         DepthwiseColumns columns, Load load, LoadInput load_input,
                                         F (&acc)[Pixels]) {
    const ptrdiff_t col_pitch = s.dilation * s.pixel_pitch;
    if constexpr (Cols == 0) {
      const ptrdiff_t pixel_step = s.stride * s.pixel_pitch;
      for (int i = 0; i < s.rows; ++i, row += s.row_pitch, weights += s.weights_row_pitch) {
        for (int j = columns.begin; j < columns.end; ++j) {
          const F w = load(weights + j * s.weights_pitch);
          INTARSIA_UNROLL
          for (int p = 0; p < Pixels; ++p) {
            acc[p] += load_input(row + p * pixel_step + j * col_pitch) * w;
          }
        }
      }
    } else {
      const auto kernel_row = [&](const F* w) {
        // Column q is under tap j of pixel p where q = p * Stride + j.
        INTARSIA_UNROLL
        for (int q = 0; q < (Pixels - 1) * Stride + Cols; ++q) {
          if (Edge && (q < columns.begin || q >= columns.end)) continue;
          F v = load_input(row + q * col_pitch);
          Vec::keep(v);
          INTARSIA_UNROLL
          for (int p = 0; p < Pixels; ++p) {
            const int j = q - p * Stride;
            if (j >= 0 && j < Cols) acc[p] += v * w[j];
          }
        }
      };
      if constexpr (Rows > 0) {
        INTARSIA_UNROLL
        for (int i = 0; i < Rows; ++i, row += s.row_pitch) kernel_row(held + i * Cols);
      } else {
        for (int i = 0; i < s.rows; ++i, row += s.row_pitch, weights += s.weights_row_pitch) {
          F w[Cols];
          INTARSIA_UNROLL
          for (int j = 0; j < Cols; ++j) w[j] = load(weights + j * s.weights_pitch);
          kernel_row(w);
        }
      }
    }
  }

  /// Channels from `first` on: those of a vector; one float at a time, all, for which what a group
  /// of pixels needs is found once. `input_of(c)` loads what channel c and its vector multiply.
  template <class Load, class InputOf, class Store>
  INTARSIA_INLINE static void run(const DepthwiseBlock s, ptrdiff_t first, Load load,
                                  InputOf input_of, Store store) {
    constexpr bool kScalar = Vec::kWidth == 1;
    const ptrdiff_t last = kScalar ? s.channels : first + Vec::kWidth;
    F held[Rows * Cols + 1];
    if constexpr (Rows > 0) {
      INTARSIA_UNROLL
      for (int i = 0; i < Rows * Cols; ++i) {
        held[i] =
            load(s.weights + first + i / Cols * s.weights_row_pitch + i % Cols * s.weights_pitch);
      }
    }
    const auto bias_of = [&](ptrdiff_t c) { return s.bias ? load(s.bias + c) : F{}; };
    const F held_bias = bias_of(first);
    const auto held_input = input_of(first);
    const F lower = M::splat(s.epilogue.lower);
    const F upper = M::splat(s.epilogue.upper);
    // Pixels from x on; with `edge`, which may be a constant, only the given columns exist.
    const auto group = [&](auto pixels, auto edge, ptrdiff_t y, ptrdiff_t x,
                           DepthwiseColumns columns) {
      constexpr int kCount = decltype(pixels)::value;
      const ptrdiff_t at = y * s.output_row_pitch + x * s.output_pitch;
      const float* const input =
          s.input + y * s.input_step + (x * s.stride - s.pad_left) * s.pixel_pitch;
      for (ptrdiff_t c = first; c < last; c += Vec::kWidth) {
        const F bias = kScalar ? bias_of(c) : held_bias;
        F acc[kCount];
        INTARSIA_UNROLL
        for (int p = 0; p < kCount; ++p) acc[p] = bias;
        if (s.residual != nullptr) {
          const float* residual = s.residual + at + c;
          INTARSIA_UNROLL
          for (int p = 0; p < kCount; ++p, residual += s.output_pitch) acc[p] += load(residual);
        }
        const auto load_input = kScalar ? input_of(c) : held_input;
        const float* row = input;
        const float* weights = s.weights + c;
        for (int planes = OnePlane || !INTARSIA_HAS_VECTORS ? 1 : s.planes; planes > 0; --planes) {
          if (edge) {
            accumulate<kCount, true>(s, row, weights, held, columns, load, load_input, acc);
          } else {
            accumulate<kCount, false>(s, row, weights, held, columns, load, load_input, acc);
          }
          row += s.plane_pitch;
          weights += s.weights_plane_pitch;
        }
        INTARSIA_UNROLL
        for (int p = 0; p < kCount; ++p) {
          store(s.output + at + c + p * s.output_pitch, M::min(M::max(acc[p], lower), upper));
        }
      }
    };
    const auto columns_from = [&](ptrdiff_t start, int count) {
      return columns_inside<Vec>(start, count, s.dilation, s.width);
    };
    const auto single_pixels = [&](ptrdiff_t y, ptrdiff_t begin, ptrdiff_t end) {
      for (ptrdiff_t x = begin; x < end; ++x) {
        group(Count<1>{}, std::true_type{}, y, x, columns_from(x * s.stride - s.pad_left, s.cols));
      }
    };
    for (ptrdiff_t y = 0; y < s.height; ++y) {
      if (s.pixels < kPixels) single_pixels(y, 0, s.pixels);
      for (ptrdiff_t next = 0; s.pixels >= kPixels && next < s.pixels; next += kPixels) {
        // The last group may overlap the one before: it stores the same results again.
        const ptrdiff_t x = next + kPixels <= s.pixels ? next : s.pixels - kPixels;
        const ptrdiff_t start = x * s.stride - s.pad_left;
        const ptrdiff_t reach = (kPixels - 1) * s.stride + (s.cols - 1) * s.dilation;
        constexpr int kColumns = (kPixels - 1) * Stride + Cols;
        if constexpr (kScalar && Cols > 0) {  // less code than a group with edges and one without
          const DepthwiseColumns columns = columns_from(start, kColumns);
          group(Count<kPixels>{}, columns.end - columns.begin < kColumns, y, x, columns);
        } else if (start >= 0 && start + reach < s.width) {
          group(Count<kPixels>{}, std::false_type{}, y, x, {0, s.cols});
        } else if constexpr (Cols > 0) {
          group(Count<kPixels>{}, std::true_type{}, y, x, columns_from(start, kColumns));
        } else {
          single_pixels(y, x, x + kPixels);
        }
      }
    }
  }

  template <int Value>
  using Count = std::integral_constant<int, Value>;
};

template <class Vec, int Rows, int Cols, int Stride, bool OnePlane = (Rows > 0)>
void depthwise_block(const DepthwiseBlock& s) {
  using Vector = DepthwiseVector<Vec, Rows, Cols, Stride, OnePlane>;
  using F = typename Vec::F;
  constexpr bool kScalar = Vec::kWidth == 1;
  for (ptrdiff_t c = 0; c < s.channels; c += kScalar ? s.channels : Vec::kWidth) {
    const int left = static_cast<int>(s.channels - c);
    const int count = kScalar || left < Vec::kWidth ? left : Vec::kWidth;
    const auto load = [](const float* p) { return Vec::load(p); };
    const auto store = [](float* p, F v) { Vec::store(p, v); };
    const auto load_part = [=](const float* p) { return Vec::load_part(p, count); };
    const auto store_part = [=](float* p, F v) { Vec::store_part(p, v, count); };
    if (Cols == 0 && s.multiplier != 1) {
      const auto repeated = [=, &s](ptrdiff_t at) {
        const ptrdiff_t channel = (s.lead + at) / s.multiplier;
        const auto spread = Vec::spread((s.lead + at) % s.multiplier, s.multiplier, count);
        return [=](const float* p) { return Vec::load_spread(p + channel, spread); };
      };
      if (kScalar || count == Vec::kWidth) {
        Vector::run(s, c, load, repeated, store);
      } else {
        Vector::run(s, c, load_part, repeated, store_part);
      }
    } else if (kScalar || count == Vec::kWidth) {
      const auto dense = [](ptrdiff_t at) {
        return [=](const float* p) { return Vec::load(p + at); };
      };
      Vector::run(s, c, load, dense, store);
    } else {
      const auto dense = [=](ptrdiff_t at) {
        return [=](const float* p) { return Vec::load_part(p + at, count); };
      };
      Vector::run(s, c, load_part, dense, store_part);
    }
    for (ptrdiff_t y = 0; s.epilogue.activate != nullptr && y < s.height; ++y) {
      s.epilogue.activate(s.epilogue.spec, s.output + y * s.output_row_pitch + c, s.output_pitch,
                          s.pixels, count);
    }
  }
}

// Blocks of whole windows of one plane of 3 rows hold all weights in registers. One float at a time
// there are few enough loads without that.
template <class Vec, int Stride>
void depthwise_block_3(const DepthwiseBlock& s) {
  if constexpr (Vec::kWidth > 1) {
    if (s.rows == 3 && s.planes == 1) return depthwise_block<Vec, 3, 3, Stride>(s);
  }
  depthwise_block<Vec, 0, 3, Stride>(s);
}

template <Isa I>
void Microkernels<I>::depthwise(DepthwiseWindow<3, 1>, const DepthwiseBlock& s) {
  depthwise_block_3<IsaVector<I>, 1>(s);
}
template <Isa I>
void Microkernels<I>::depthwise(DepthwiseWindow<3, 2>, const DepthwiseBlock& s) {
  depthwise_block_3<IsaVector<I>, 2>(s);
}
template <Isa I>
void Microkernels<I>::depthwise(DepthwiseWindow<5, 1>, const DepthwiseBlock& s) {
  depthwise_block<IsaVector<I>, 0, 5, 1>(s);
}
template <Isa I>
void Microkernels<I>::depthwise(DepthwiseWindow<5, 2>, const DepthwiseBlock& s) {
  depthwise_block<IsaVector<I>, 0, 5, 2>(s);
}
template <Isa I>
void Microkernels<I>::depthwise(DepthwiseWindow<7, 1>, const DepthwiseBlock& s) {
  depthwise_block<IsaVector<I>, 0, 7, 1>(s);
}
template <Isa I>
void Microkernels<I>::depthwise(DepthwiseWindow<0, 0>, const DepthwiseBlock& s) {
  if constexpr (IsaVector<I>::kWidth > 1) {
    if (s.planes == 1) return depthwise_block<IsaVector<I>, 0, 0, 0, true>(s);
  }
  depthwise_block<IsaVector<I>, 0, 0, 0>(s);
}

}  // namespace intarsia::cpu
