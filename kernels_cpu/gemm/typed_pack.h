// SPDX-License-Identifier: Apache-2.0
//
// Packing of the factors of products in types other than float32: the lanes of a block in panels,
// as what they are computed in.
//
// Included by typed_tile.h only, which says who may include that.
#pragma once

#include "kernels_cpu/gemm/typed_lanes.h"
#include "kernels_cpu/gemm/typed_pairs.h"
#include "kernels_cpu/gemm/typed_quads.h"

namespace intarsia::cpu {

/// The first n of four elements, the rest zero. Elements before `end` may be read besides.
template <class S>
INTARSIA_INLINE void load_within(const S* p, ptrdiff_t n, const S* end, Quad<S>& v) {
  if (n >= 4 || end - p < 4) return load_some<S>(p, n, v);
  using V = Computed<S>;
  QuadIo<S>::load(p, v);
  v = Quad<S>{0, 1, 2, 3} < static_cast<V>(n) - Quad<S>{} ? v : Quad<S>{};
}

/// At least four numbers as what they are computed in; the last four may overlap.
template <class S>
INTARSIA_INLINE void widen_quads(const S* from, ptrdiff_t n, Computed<S>* to) {
  Quad<S> v;
  for (ptrdiff_t i = 0;; i += 4) {
    const ptrdiff_t at = i < n - 4 ? i : n - 4;
    QuadIo<S>::load(from + at, v);
    std::memcpy(to + at, &v, sizeof v);
    if (at == n - 4) return;
  }
}

/// Rows of memory hold lanes: runs of them are copied.
template <Isa I, class S>
void pack_runs(const TypedPack<S> job) {
  constexpr ptrdiff_t kWidth = panel_width<I, Computed<S>>();
  // Eight panels at a time: longer runs of a row. What is written beyond a row of a panel is
  // written again by the next one; the last one writes nothing beyond.
  const ptrdiff_t stripe = 8 * job.width;
  const S* end = job.k > 0 ? job.from.data + (job.k - 1) * job.from.k_step + job.lanes : nullptr;
  for (ptrdiff_t first = 0; first < job.lanes; first += stripe) {
    const ptrdiff_t left = job.lanes - first;
    const ptrdiff_t lanes = left < stripe ? left : stripe;
    Computed<S>* to = job.to + first * job.k;
    for (ptrdiff_t k = 0; k < job.k; ++k) {
      const S* from = job.from.data + k * job.from.k_step + first;
      ptrdiff_t panel = 0;
      for (; job.padded && panel + kWidth <= lanes; panel += kWidth) {
        INTARSIA_UNROLL
        for (ptrdiff_t q = 0; q < kWidth; q += 4) {
          Quad<S> v;
          QuadIo<S>::load(from + panel + q, v);
          std::memcpy(to + panel * job.k + k * kWidth + q, &v, sizeof v);
        }
      }
      for (; panel < lanes; panel += job.width) {
        const ptrdiff_t here = lanes - panel < job.width ? lanes - panel : job.width;
        const ptrdiff_t stored = job.padded ? kWidth : here;
        if (here == stored && here >= 4) {
          widen_quads<S>(from + panel, here, to + panel * job.k + k * here);
          continue;
        }
        for (ptrdiff_t q = 0; q < stored; q += 4) {
          Quad<S> v{};
          if (q < here) load_within<S>(from + panel + q, left - panel - q, end, v);
          Computed<S>* at = to + panel * job.k + k * stored + q;
          const ptrdiff_t room = (job.k - k) * stored - q;
          if (room >= 4) {
            std::memcpy(at, &v, sizeof v);
          } else {
            std::memcpy(at, &v, static_cast<size_t>(room) * sizeof *at);
          }
        }
      }
    }
  }
}

/// Rows of memory hold a lane each: they are transposed.
template <Isa I, class S>
void pack_transposed(const TypedPack<S> job) {
  for (ptrdiff_t first = 0; first < job.lanes; first += job.width) {
    const ptrdiff_t left = job.lanes - first;
    const ptrdiff_t here = left < job.width ? left : job.width;
    const ptrdiff_t stored = job.padded ? job.width : here;
    // From the last lanes to the first: what is written beyond a row is written again.
    for (ptrdiff_t q = (stored - 1) / 4 * 4; q >= 0; q -= 4) {
      const S* from = job.from.data + (first + q) * job.from.lane_step;
      Computed<S>* to = job.to + first * job.k + q;
      const ptrdiff_t whole = here - q >= 4 ? job.k / 4 * 4 : 0;
      ptrdiff_t k = 0;
      for (; k < whole; k += 4, to += 4 * stored) {
        Quad<S> v[4];
        INTARSIA_UNROLL
        for (int lane = 0; lane < 4; ++lane) {
          QuadIo<S>::load(from + lane * job.from.lane_step + k, v[lane]);
        }
        transpose(v);
        INTARSIA_UNROLL
        for (int i = 0; i < 4; ++i) std::memcpy(to + i * stored, &v[i], sizeof v[i]);
      }
      for (; k < job.k; k += 4, to += 4 * stored) {
        Quad<S> v[4] = {};
        for (ptrdiff_t lane = 0; lane < 4 && lane < here - q; ++lane) {
          load_some<S>(from + lane * job.from.lane_step + k, job.k - k, v[lane]);
        }
        transpose(v);
        for (ptrdiff_t i = 0; i < 4 && i < job.k - k; ++i) {
          std::memcpy(to + i * stored, &v[i], sizeof v[i]);
        }
      }
    }
  }
}

/// n numbers as what they are computed in.
template <Isa I, class S>
INTARSIA_INLINE void widen(const S* from, ptrdiff_t n, Computed<S>* to) {
  using V = Computed<S>;
  constexpr int kWidth = TypedVector<I, V>::kWidth;
  using Io = Lanes<S, kWidth>;
  typename Io::X v;
  for (ptrdiff_t i = 0; n >= kWidth && i < n; i += kWidth) {
    const ptrdiff_t at = i < n - kWidth ? i : n - kWidth;  // the last one overlaps
    Io::load(from + at, v);
    Lanes<V, kWidth>::store(to + at, v);
  }
  for (ptrdiff_t i = 0; n < kWidth && i < n; i += 4) {
    Quad<S> quad;
    load_some<S>(from + i, n - i, quad);
    store_some<V>(to + i, quad, n - i);
  }
}

/// Rows of memory hold a lane each, and stay rows.
template <Isa I, class S>
void pack_rows(const TypedPack<S> job) {
  if (job.from.lane_step == job.k) return widen<I, S>(job.from.data, job.lanes * job.k, job.to);
  for (ptrdiff_t lane = 0; lane < job.lanes; ++lane) {
    widen<I, S>(job.from.data + lane * job.from.lane_step, job.k, job.to + lane * job.k);
  }
}

template <Isa I, class S>
void TypedKernels<I, S>::pack(const TypedPack<S>& job) {
  if constexpr (kOfBytes<S>) {
    if (job.from.k_step == 1) {
      pack_byte_lanes<I>(job);
    } else {
      pack_byte_rows<I>(job);
    }
  } else if (job.width == 1 && job.from.k_step == 1) {
    pack_rows<I, S>(job);
  } else if (job.from.lane_step == 1 && (job.from.k_step != 1 || job.lanes >= job.k)) {
    pack_runs<I, S>(job);  // a row or a column alone may be taken either way
  } else {
    pack_transposed<I, S>(job);
  }
}

}  // namespace intarsia::cpu
