// SPDX-License-Identifier: Apache-2.0
//
// The micro-kernels of winograd.h: a window of the input on its way in, a tile of the output on its
// way out, a vector of channels at a time.
//
// Included by kernels_<isa>.cpp only; `Vec` is an IsaVector (vector.h).
#pragma once

#include "kernels_cpu/gemm/microkernel.h"
#include "kernels_cpu/gemm/tile.h"
#include "kernels_cpu/gemm/vec_math.h"
#include "kernels_cpu/gemm/winograd_transform.h"

namespace intarsia::cpu {

template <class Vec, class W>
struct WinogradVector {
  using F = typename Vec::F;
  static constexpr int kIn = W::kIn, kOut = W::kOut;

  template <class Load, class Store>
  INTARSIA_INLINE static void input(const WinogradWindow& s, const Load& load, const Store& store) {
    F half[kIn][kIn];  // [row of the transform][column of the window]
    INTARSIA_UNROLL
    for (int j = 0; j < kIn; ++j) {
      F d[kIn], v[kIn];
      INTARSIA_UNROLL
      for (int i = 0; i < kIn; ++i) d[i] = load(s.pixels[i * kIn + j]);
      W::input(d, v);
      INTARSIA_UNROLL
      for (int i = 0; i < kIn; ++i) half[i][j] = v[i];
    }
    INTARSIA_UNROLL
    for (int i = 0; i < kIn; ++i) {
      F v[kIn];
      W::input(half[i], v);
      INTARSIA_UNROLL
      for (int j = 0; j < kIn; ++j) store(s.v + (i * kIn + j) * s.v_pitch, v[j]);
    }
  }

  template <class Load, class Store>
  INTARSIA_INLINE static void output(const WinogradTile& s, ptrdiff_t o, const Load& load,
                                     const Store& store) {
    using M = VecMath<Vec>;
    F half[kOut][kIn];
    INTARSIA_UNROLL
    for (int j = 0; j < kIn; ++j) {
      F p[kIn], y[kOut];
      INTARSIA_UNROLL
      for (int i = 0; i < kIn; ++i) p[i] = load(s.p + (i * kIn + j) * s.p_pitch + o);
      W::output(p, y);
      INTARSIA_UNROLL
      for (int i = 0; i < kOut; ++i) half[i][j] = y[i];
    }
    const F bias = s.bias != nullptr ? load(s.bias + o) : F{};
    const F lower = M::splat(s.epilogue.lower), upper = M::splat(s.epilogue.upper);
    INTARSIA_UNROLL
    for (int i = 0; i < kOut; ++i) {
      if (i >= s.rows) break;
      F y[kOut];
      W::output(half[i], y);
      INTARSIA_UNROLL
      for (int j = 0; j < kOut; ++j) {
        if (j >= s.columns) break;
        F sum = y[j] + bias;
        if (s.residual != nullptr) {
          sum += load(s.residual + i * s.residual_row_pitch + j * s.residual_pitch + o);
        }
        store(s.output + i * s.output_row_pitch + j * s.output_pitch + o,
              M::min(M::max(sum, lower), upper));
      }
    }
  }
};

template <class Vec, class W>
void window_in(const WinogradWindow& s) {
  for (ptrdiff_t c = 0; c < s.channels; c += Vec::kWidth) {
    const int count = static_cast<int>(s.channels - c);
    if (count >= Vec::kWidth) {
      WinogradVector<Vec, W>::input(
          s, [=](const float* p) { return Vec::load(p + c); },
          [=](float* p, typename Vec::F v) { Vec::store(p + c, v); });
    } else {
      WinogradVector<Vec, W>::input(
          s, [=](const float* p) { return Vec::load_part(p + c, count); },
          [=](float* p, typename Vec::F v) { Vec::store_part(p + c, v, count); });
    }
  }
}

template <class Vec, class W>
void tile_out(const WinogradTile& s) {
  for (ptrdiff_t o = 0; o < s.filters; o += Vec::kWidth) {
    const int count = static_cast<int>(s.filters - o);
    if (count >= Vec::kWidth) {
      WinogradVector<Vec, W>::output(
          s, o, [](const float* p) { return Vec::load(p); },
          [](float* p, typename Vec::F v) { Vec::store(p, v); });
    } else {
      WinogradVector<Vec, W>::output(
          s, o, [=](const float* p) { return Vec::load_part(p, count); },
          [=](float* p, typename Vec::F v) { Vec::store_part(p, v, count); });
    }
  }
  for (int i = 0; s.epilogue.activate != nullptr && i < s.rows; ++i) {
    s.epilogue.activate(s.epilogue.spec, s.output + i * s.output_row_pitch, s.output_pitch,
                        s.columns, s.filters);
  }
}

template <Isa I>
void Microkernels<I>::winograd_input(Winograd<2>, const WinogradWindow& s) {
  window_in<IsaVector<I>, Winograd<2>>(s);
}
template <Isa I>
void Microkernels<I>::winograd_input(Winograd<4>, const WinogradWindow& s) {
  window_in<IsaVector<I>, Winograd<4>>(s);
}
template <Isa I>
void Microkernels<I>::winograd_output(Winograd<2>, const WinogradTile& s) {
  tile_out<IsaVector<I>, Winograd<2>>(s);
}
template <Isa I>
void Microkernels<I>::winograd_output(Winograd<4>, const WinogradTile& s) {
  tile_out<IsaVector<I>, Winograd<4>>(s);
}

}  // namespace intarsia::cpu
