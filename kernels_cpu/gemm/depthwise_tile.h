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

  template <class Load, class LoadInput, class Store>
  INTARSIA_INLINE static void run(const DepthwiseBlock s, ptrdiff_t c, Load load,
                                  LoadInput load_input, Store store) {
    F held[Rows * Cols + 1];
    if constexpr (Rows > 0) {
      INTARSIA_UNROLL
      for (int i = 0; i < Rows * Cols; ++i) {
        held[i] = load(s.weights + c + i / Cols * s.weights_row_pitch + i % Cols * s.weights_pitch);
      }
    }
    const F bias = s.bias ? load(s.bias + c) : F{};
    const F lower = M::splat(s.epilogue.lower);
    const F upper = M::splat(s.epilogue.upper);
    const auto group = [&](auto pixels, auto edge, ptrdiff_t y, ptrdiff_t x,
                           DepthwiseColumns columns) {
      constexpr int kCount = decltype(pixels)::value;
      F acc[kCount];
      INTARSIA_UNROLL
      for (int p = 0; p < kCount; ++p) acc[p] = bias;
      const ptrdiff_t at = y * s.output_row_pitch + x * s.output_pitch + c;
      if (s.residual != nullptr) {
        INTARSIA_UNROLL
        for (int p = 0; p < kCount; ++p) acc[p] += load(s.residual + at + p * s.output_pitch);
      }
      const float* row = s.input + y * s.input_step + (x * s.stride - s.pad_left) * s.pixel_pitch;
      const float* weights = s.weights + c;
      for (int planes = OnePlane || !INTARSIA_HAS_VECTORS ? 1 : s.planes; planes > 0; --planes) {
        accumulate<kCount, decltype(edge)::value>(s, row, weights, held, columns, load, load_input,
                                                  acc);
        row += s.plane_pitch;
        weights += s.weights_plane_pitch;
      }
      INTARSIA_UNROLL
      for (int p = 0; p < kCount; ++p) {
        store(s.output + at + p * s.output_pitch, M::min(M::max(acc[p], lower), upper));
      }
    };
    const auto single_pixels = [&](ptrdiff_t y, ptrdiff_t begin, ptrdiff_t end) {
      for (ptrdiff_t x = begin; x < end; ++x) {
        const ptrdiff_t start = x * s.stride - s.pad_left;
        group(Constant<1>{}, Constant<1>{}, y, x,
              columns_inside<Vec>(start, s.cols, s.dilation, s.width));
      }
    };
    for (ptrdiff_t y = 0; y < s.height; ++y) {
      if (s.pixels < kPixels) single_pixels(y, 0, s.pixels);
      for (ptrdiff_t next = 0; s.pixels >= kPixels && next < s.pixels; next += kPixels) {
        // The last group may overlap the one before: it stores the same results again.
        const ptrdiff_t x = next + kPixels <= s.pixels ? next : s.pixels - kPixels;
        const ptrdiff_t start = x * s.stride - s.pad_left;
        const ptrdiff_t reach = (kPixels - 1) * s.stride + (s.cols - 1) * s.dilation;
        if (start >= 0 && start + reach < s.width) {
          group(Constant<kPixels>{}, Constant<0>{}, y, x, {0, s.cols});
        } else if constexpr (Cols > 0) {
          constexpr int kColumns = (kPixels - 1) * Stride + Cols;
          group(Constant<kPixels>{}, Constant<1>{}, y, x,
                columns_inside<Vec>(start, kColumns, s.dilation, s.width));
        } else {
          single_pixels(y, x, x + kPixels);
        }
      }
    }
  }

  template <int Value>
  struct Constant {
    static constexpr int value = Value;
  };
};

template <class Vec, int Rows, int Cols, int Stride, bool OnePlane = (Rows > 0)>
void depthwise_block(const DepthwiseBlock& s) {
  using Vector = DepthwiseVector<Vec, Rows, Cols, Stride, OnePlane>;
  using F = typename Vec::F;
  for (ptrdiff_t c = 0; c < s.channels; c += Vec::kWidth) {
    const int count = static_cast<int>(s.channels - c);
    const auto load = [](const float* p) { return Vec::load(p); };
    const auto store = [](float* p, F v) { Vec::store(p, v); };
    const auto load_part = [=](const float* p) { return Vec::load_part(p, count); };
    const auto store_part = [=](float* p, F v) { Vec::store_part(p, v, count); };
    if (Cols == 0 && s.multiplier != 1) {
      const ptrdiff_t first = s.lead + c;
      const ptrdiff_t channel = first / s.multiplier;
      const auto spread = Vec::spread(first % s.multiplier, s.multiplier,
                                      count < Vec::kWidth ? count : Vec::kWidth);
      const auto repeated = [=](const float* p) { return Vec::load_spread(p + channel, spread); };
      if (count >= Vec::kWidth) {
        Vector::run(s, c, load, repeated, store);
      } else {
        Vector::run(s, c, load_part, repeated, store_part);
      }
    } else if (count >= Vec::kWidth) {
      Vector::run(
          s, c, load, [=](const float* p) { return Vec::load(p + c); }, store);
    } else {
      Vector::run(
          s, c, load_part, [=](const float* p) { return Vec::load_part(p + c, count); },
          store_part);
    }
    for (ptrdiff_t y = 0; s.epilogue.activate != nullptr && y < s.height; ++y) {
      s.epilogue.activate(s.epilogue.spec, s.output + y * s.output_row_pitch + c, s.output_pitch,
                          s.pixels, count < Vec::kWidth ? count : Vec::kWidth);
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
