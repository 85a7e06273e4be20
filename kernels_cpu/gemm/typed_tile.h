// SPDX-License-Identifier: Apache-2.0
//
// The kernels of typed_kernels.h as templates over instruction set and storage type.
//
// Included by typed_<isa>.cpp only, which are compiled with flags that other processors cannot
// execute: what is not forced inline is a template over the instruction set.
#pragma once

#include "kernels_cpu/gemm/tile.h"
#include "kernels_cpu/gemm/typed_ends.h"
#include "kernels_cpu/gemm/typed_lanes.h"
#include "kernels_cpu/gemm/typed_narrow.h"
#include "kernels_cpu/gemm/typed_pack.h"
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

/// The same where A is [rows][a_pitch].
struct ProductsByRow : Products {
  static constexpr ptrdiff_t kRowPitch = 0;
};

/// Where R rows of A are. A pointer reaches three, by the scales of addresses, if their pitch is no
/// constant.
template <class V, ptrdiff_t kPitch, int R>
struct TypedRows {
  static constexpr int kReach = kPitch != 0 ? R : 3, kPointers = (R + kReach - 1) / kReach;
  const V* at[kPointers];
  ptrdiff_t pitch;

  INTARSIA_INLINE explicit TypedRows(const TypedTile<V>& t)
      : pitch(kPitch != 0 ? kPitch : t.a_pitch) {
    INTARSIA_UNROLL
    for (int i = 0; i < kPointers; ++i) at[i] = t.a + i * kReach * pitch;
  }
  INTARSIA_INLINE V row(int r) const { return at[r / kReach][r % kReach * pitch]; }
  INTARSIA_INLINE void next() {
    INTARSIA_UNROLL
    for (int i = 0; i < kPointers; ++i) at[i] += kPitch == 1 ? R : 1;
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
  TypedRows<V, Step::kRowPitch, R> a(t);
  const S* b = static_cast<const S*>(t.b);
  for (ptrdiff_t k = t.k; k > 0; --k, a.next(), b += b_step) {
    X bv[kVectors];
    INTARSIA_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      Lanes<S, kWidth>::load(b + (v / Vectors) * b_panel + (v % Vectors) * kWidth, bv[v]);
    }
    INTARSIA_UNROLL
    for (int r = 0; r < R; ++r) {
      const X av = a.row(r) - X{};
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
  using ByRow = std::conditional_t<kKeepsRows<S>, ProductsByRow, Step>;
  return {kWidth,
          TypedTable<I, V, V, E::kVectors, 1, E::kRows, Step>::kFamily,
          TypedTable<I, V, V, E::kVectors / 2, 1, E::kRows, Step>::kFamily,
          TypedTable<I, V, V, E::kVectors, 1, E::kRows, ByRow>::kFamily,
          TypedTable<I, V, V, E::kVectors / 2, 1, E::kRows, ByRow>::kFamily,
          TypedTable<I, V, V, E::kVectors, 2, E::kPairRows, Step>::kFamily,
          TypedTable<I, V, V, E::kVectors, 2, E::kPairRows, ByRow>::kFamily,
          TypedTable<I, V, V, E::kVectors, E::kWidePanels, kTypedFewRows, Step>::kFamily,
          TypedTable<I, V, Stored, E::kVectors, E::kWidePanels, kTypedFewRows, Step>::kFamily};
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

}  // namespace intarsia::cpu
