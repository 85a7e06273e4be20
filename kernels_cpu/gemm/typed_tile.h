// SPDX-License-Identifier: Apache-2.0
//
// The kernels of typed_kernels.h as templates over instruction set and storage type.
//
// Included by typed_<isa>.cpp only, which are compiled with flags that other processors cannot
// execute: what is not forced inline is a template over the instruction set.
#pragma once

#include "kernels_cpu/gemm/tile.h"
#include "kernels_cpu/gemm/typed_lanes.h"
#include "kernels_cpu/gemm/typed_narrow.h"
#include "kernels_cpu/gemm/typed_pairs.h"
#include "kernels_cpu/gemm/typed_quads.h"

namespace intarsia::cpu {

/// sum += a * b.
struct Products : InterleavedRows {
  template <class X>
  INTARSIA_INLINE static void add(X& sum, const X& a, const X& b) {
    sum += a * b;
  }
};

/// R rows by P panels of `Vectors` vectors each, all of it in registers; B is stored as S.
template <Isa I, class V, class S, int Vectors, int P, int R, class Step>
void typed_tile(const TypedTile<V>& t) {
  using X = typename TypedVector<I, V>::X;
  constexpr int kWidth = TypedVector<I, V>::kWidth;
  constexpr int kVectors = P * Vectors;
  static_assert(R * kVectors * sizeof(X) <= kTypedTileBytes);
  V* const c = t.c;
  const ptrdiff_t c_pitch = t.c_pitch, b_step = t.b_step, b_panel = t.b_panel;
  X acc[R][kVectors] = {};
  if (!t.start) {
    INTARSIA_UNROLL
    for (int r = 0; r < R; ++r) {
      INTARSIA_UNROLL
      for (int v = 0; v < kVectors; ++v) {
        std::memcpy(&acc[r][v], c + r * c_pitch + v * kWidth, sizeof(X));
      }
    }
  }
  if constexpr (Step::kKeepsZeroPoints) Step::add_zero_points(t, acc);
  const V* a = t.a;
  const S* b = static_cast<const S*>(t.b);
  constexpr ptrdiff_t kRow = Step::kRowPitch, kNext = kRow == 1 ? R : 1;
  for (ptrdiff_t k = t.k; k > 0; --k, a += kNext, b += b_step) {
    X bv[kVectors];
    INTARSIA_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      Lanes<S, kWidth>::load(b + (v / Vectors) * b_panel + (v % Vectors) * kWidth, bv[v]);
    }
    INTARSIA_UNROLL
    for (int r = 0; r < R; ++r) {
      const X av = a[r * kRow] - X{};
      INTARSIA_UNROLL
      for (int v = 0; v < kVectors; ++v) Step::add(acc[r][v], av, bv[v]);
    }
  }
  INTARSIA_UNROLL
  for (int r = 0; r < R; ++r) {
    INTARSIA_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      std::memcpy(c + r * c_pitch + v * kWidth, &acc[r][v], sizeof(X));
    }
  }
}

template <Isa I, class V, class S, int Vectors, int P, int R, class Step>
struct TypedTable {
  template <int Row>
  static constexpr TypedTileFunction<V> row() {
    if constexpr (Row <= R) {
      return &typed_tile<I, V, S, Vectors, P, Row, Step>;
    } else {
      return nullptr;
    }
  }
  static constexpr TypedTileFunction<V> kRows[] = {row<1>(), row<2>(),  row<3>(),  row<4>(),
                                                   row<5>(), row<6>(),  row<7>(),  row<8>(),
                                                   row<9>(), row<10>(), row<11>(), row<12>()};
  static constexpr TypedFamily<V> kFamily{P * Vectors * TypedVector<I, V>::kWidth, R, kRows};
};

template <Isa I, class S>
TypedTiles<Computed<S>> TypedKernels<I, S>::tiles() {
  using V = Computed<S>;
  using E = TypedExtents<I>;
  constexpr int kWidth = panel_width<I, V>();
  static_assert(kTypedPanelBytes % (kWidth * sizeof(V)) == 0);
  using OfBytes = std::conditional_t<kQuads<S>, QuadProducts, PairProducts>;
  using Step = std::conditional_t<kOfBytes<S>, OfBytes, Products>;
  using Stored = std::conditional_t<kOfBytes<S>, V, S>;  // bytes are never read in place
  return {kWidth, TypedTable<I, V, V, E::kVectors, 1, E::kRows, Step>::kFamily,
          TypedTable<I, V, V, E::kVectors / 2, 1, E::kRows, Step>::kFamily,
          TypedTable<I, V, V, E::kVectors, E::kWidePanels, kTypedFewRows, Step>::kFamily,
          TypedTable<I, V, Stored, E::kVectors, E::kWidePanels, kTypedFewRows, Step>::kFamily};
}

/// Rows of memory hold lanes: runs of them are copied.
template <Isa I, class S>
void pack_runs(const TypedPack<S> job) {
  constexpr ptrdiff_t kWidth = panel_width<I, Computed<S>>();
  // Eight panels at a time: longer runs of a row. What is written beyond a row of a panel is
  // written again by the next one; the last one writes nothing beyond.
  const ptrdiff_t stripe = 8 * job.width;
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
        for (ptrdiff_t q = 0; q < stored; q += 4) {
          Quad<S> v{};
          if (q < here) load_some<S>(from + panel + q, left - panel - q, v);
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

template <Isa I, class S>
void TypedKernels<I, S>::pack(const TypedPack<S>& job) {
  if constexpr (kOfBytes<S>) {
    if (job.from.k_step == 1) {
      pack_byte_lanes<I>(job);
    } else {
      pack_byte_rows<I>(job);
    }
  } else if (job.from.lane_step == 1 && (job.from.k_step != 1 || job.lanes >= job.k)) {
    pack_runs<I, S>(job);  // a row or a column alone may be taken either way
  } else {
    pack_transposed<I, S>(job);
  }
}

/// L lanes of B, one of A: sums[lane] = the products of their k elements.
template <Isa I, class S, int L>
INTARSIA_INLINE void dots_of(const Computed<S>* a, const TypedFactor<S>& b, ptrdiff_t k,
                             Computed<S>* sums) {
  using V = Computed<S>;
  using X = typename TypedVector<I, V>::X;
  constexpr int kWidth = TypedVector<I, V>::kWidth;
  constexpr int kSums = 64 / sizeof(V), kParts = kSums / kWidth;
  X acc[L][kParts] = {};
  const auto add = [&](const V* left, const S* right, ptrdiff_t lane_step)
      __attribute__((always_inline)) {
    INTARSIA_UNROLL
    for (int part = 0; part < kParts; ++part) {
      X av, bv;
      Lanes<V, kWidth>::load(left + part * kWidth, av);
      INTARSIA_UNROLL
      for (int lane = 0; lane < L; ++lane) {
        Lanes<S, kWidth>::load(right + lane * lane_step + part * kWidth, bv);
        acc[lane][part] += av * bv;
      }
    }
  };
  ptrdiff_t i = 0;
  for (; i + kSums <= k; i += kSums) add(a + i, b.data + i, b.lane_step);
  if (i < k) {  // What is left, followed by zeros.
    const size_t left = static_cast<size_t>(k - i);
    V rest[kSums] = {};
    alignas(S) unsigned char lanes[L][kSums * sizeof(S)] = {};
    std::memcpy(rest, a + i, left * sizeof(V));
    for (int lane = 0; lane < L; ++lane) {
      std::memcpy(lanes[lane], b.data + lane * b.lane_step + i, left * sizeof(S));
    }
    add(rest, reinterpret_cast<const S*>(lanes), kSums);
  }
  for (int lane = 0; lane < L; ++lane) {
    V parts[kSums];
    std::memcpy(parts, acc[lane], sizeof parts);
    for (int half = kSums / 2; half > 0; half /= 2) {
      for (int j = 0; j < half; ++j) parts[j] += parts[j + half];
    }
    sums[lane] = parts[0];
  }
}

template <Isa I, class S>
void TypedKernels<I, S>::dots([[maybe_unused]] const TypedDots<S>& job) {
  if constexpr (!kOfBytes<S>) {
    using V = Computed<S>;
    constexpr int kLanes = 4;
    for (ptrdiff_t j = 0; j < job.n; j += kLanes) {
      const ptrdiff_t lanes = job.n - j < kLanes ? job.n - j : kLanes;
      for (ptrdiff_t r = 0; r < job.rows; ++r) {
        const V* a = job.a + r * job.k;
        V* to = job.sums + r * job.sums_pitch + j;
        V sums[kLanes];
        if (lanes == kLanes) {
          dots_of<I, S, kLanes>(a, job.b.at(j, 0), job.k, sums);
        } else {
          for (ptrdiff_t lane = 0; lane < lanes; ++lane) {
            dots_of<I, S, 1>(a, job.b.at(j + lane, 0), job.k, sums + lane);
          }
        }
        for (ptrdiff_t lane = 0; lane < lanes; ++lane) {
          to[lane] = job.start ? sums[lane] : to[lane] + sums[lane];
        }
      }
    }
  }
}

template <Isa I, class S, int R>
void sum_columns(const TypedColumns<S>& job) {
  using V = Computed<S>;
  using X = typename TypedVector<I, V>::X;
  constexpr int kWidth = TypedVector<I, V>::kWidth, kChains = 4;
  const ptrdiff_t step = job.b.k_step;
  for (ptrdiff_t first = 0; first < job.n; first += kWidth) {
    const S* b = job.b.data + first;
    const ptrdiff_t here = job.n - first < kWidth ? job.n - first : kWidth;
    const ptrdiff_t room = job.b_end - b - kWidth;  // behind the first vector
    const ptrdiff_t fit = room < 0 ? 0 : room / step + 1, whole = fit < job.k ? fit : job.k;
    X acc[R][kChains] = {};
    const auto add = [&](ptrdiff_t k, int chain, const X& bv) __attribute__((always_inline)) {
      INTARSIA_UNROLL
      for (int r = 0; r < R; ++r) acc[r][chain] += (job.a[k * R + r] - X{}) * bv;
    };
    ptrdiff_t k = 0;
    for (; k + kChains <= whole; k += kChains) {
      INTARSIA_UNROLL
      for (int chain = 0; chain < kChains; ++chain) {
        X bv;
        Lanes<S, kWidth>::load(b + (k + chain) * step, bv);
        add(k + chain, chain, bv);
      }
    }
    for (; k < job.k; k += kChains) {
      INTARSIA_UNROLL
      for (int chain = 0; chain < kChains; ++chain) {
        if (k + chain >= job.k) break;
        alignas(S) unsigned char some[kWidth * sizeof(S)] = {};
        std::memcpy(some, b + (k + chain) * step, static_cast<size_t>(here) * sizeof(S));
        X bv;
        Lanes<S, kWidth>::load(reinterpret_cast<const S*>(some), bv);
        add(k + chain, chain, bv);
      }
    }
    INTARSIA_UNROLL
    for (int r = 0; r < R; ++r) {
      V sums[kWidth];
      const X sum = (acc[r][0] + acc[r][1]) + (acc[r][2] + acc[r][3]);
      std::memcpy(sums, &sum, sizeof sum);
      V* to = job.sums + r * job.sums_pitch + first;
      for (ptrdiff_t j = 0; j < here; ++j) to[j] = job.start ? sums[j] : to[j] + sums[j];
    }
  }
}

template <Isa I, class S>
void TypedKernels<I, S>::columns([[maybe_unused]] const TypedColumns<S>& job) {
  if constexpr (!kOfBytes<S>) {
    if (job.rows == 1) {
      sum_columns<I, S, 1>(job);
    } else if (job.rows == 2) {
      sum_columns<I, S, 2>(job);
    } else {
      sum_columns<I, S, 3>(job);
    }
  }
}

template <Isa I, class S>
void TypedKernels<I, S>::start(const TypedEnds<S>& ends) {
  using V = Computed<S>;
  using C = Result<S>;
  for (ptrdiff_t r = 0; r < ends.rows; ++r) {
    const C* d = ends.d != nullptr ? ends.d + r * ends.d_row : nullptr;
    const C* z = ends.z != nullptr ? ends.z + r * ends.pitch : nullptr;
    V* sums = ends.sums + r * ends.sums_pitch;
    Quad<C> all{};
    if (d != nullptr && ends.d_column == 0) {
      load_some<C>(d, 1, all);
      all = all[0] * ends.beta - Quad<C>{};
    }
    for (ptrdiff_t j = 0; j < ends.n; j += 4) {
      const ptrdiff_t some = ends.n - j;
      Quad<C> sum = all, term;
      if (d != nullptr && ends.d_column != 0) {
        load_some<C>(d + j, some, term);
        sum = term * ends.beta;
      }
      if (z != nullptr) {
        load_some<C>(z + j, some, term);
        sum += term;
      }
      store_some<V>(sums + j, sum, some);
    }
  }
}

template <Isa I, class S>
void TypedKernels<I, S>::finish(const TypedEnds<S>& ends) {
  if constexpr (sizeof(S) == 2) {
    const Epilogue& epilogue = ends.epilogue;
    if (epilogue.activate != nullptr) {
      epilogue.activate(epilogue.spec, ends.sums, ends.sums_pitch, ends.rows, ends.n);
    }
    const Quad<S> lower = epilogue.lower - Quad<S>{}, upper = epilogue.upper - Quad<S>{};
    for (ptrdiff_t r = 0; r < ends.rows; ++r) {
      const float* sums = ends.sums + r * ends.sums_pitch;
      S* c = ends.c + r * ends.pitch;
      for (ptrdiff_t j = 0; j < ends.n; j += 4) {
        Quad<S> y;
        load_some<float>(sums + j, ends.n - j, y);
        y = y < lower ? lower : y;
        y = y > upper ? upper : y;
        store_some<S>(c + j, y, ends.n - j);
      }
    }
  }
}

}  // namespace intarsia::cpu
