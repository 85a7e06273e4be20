// SPDX-License-Identifier: Apache-2.0
//
// What the sums of a product start from, and what becomes of those of 16-bit types.
//
// Included by typed_tile.h only, which says who may include that.
#pragma once

#include "kernels_cpu/gemm/typed_lanes.h"

namespace intarsia::cpu {

/// One row of what sums start from; `all`: what is the same in all its columns.
template <class C, class V>
INTARSIA_INLINE void start_row(const C* d, const C* z, V beta, const Quad<V>& all, ptrdiff_t n,
                               V* sums) {
  for (ptrdiff_t j = 0; j < n; j += 4) {
    Quad<V> sum = all, term;
    if (d != nullptr) {
      load_some<C>(d + j, n - j, term);
      sum = term * beta;
    }
    if (z != nullptr) {
      load_some<C>(z + j, n - j, term);
      sum += term;
    }
    store_some<V>(sums + j, sum, n - j);
  }
}

template <Isa I, class S>
void TypedKernels<I, S>::start(const TypedEnds<S>& ends) {
  using V = Computed<S>;
  using C = Result<S>;
  // Sums apart have whole vectors: those of columns that are not there are computed, too, and may
  // be no numbers that slow the others down.
  const bool apart = sizeof(V) != sizeof(C);
  const ptrdiff_t width = apart ? ends.sums_pitch : ends.n;
  for (ptrdiff_t r = 0; r < ends.rows; ++r) {
    V* sums = ends.sums + r * ends.sums_pitch;
    if (r > 0 && ends.d_row == 0 && ends.z == nullptr) {
      std::memcpy(sums, ends.sums, static_cast<size_t>(width) * sizeof(V));
      continue;
    }
    const C* d = ends.d != nullptr ? ends.d + r * ends.d_row : nullptr;
    Quad<C> all{};
    if (d != nullptr && ends.d_column == 0) {
      load_some<C>(d, 1, all);
      all = all[0] * ends.beta - Quad<C>{};
      d = nullptr;
    }
    const C* z = ends.z != nullptr ? ends.z + r * ends.pitch : nullptr;
    start_row<C, V>(d, z, ends.beta, all, ends.n, sums);
    for (ptrdiff_t j = ends.n; j < width; ++j) sums[j] = 0;
  }
}

/// n numbers between two limits.
template <Isa I, class S>
INTARSIA_INLINE void finish_run(const float* sums, ptrdiff_t n, const Epilogue& epilogue, S* c) {
  constexpr int kWidth = TypedVector<I, float>::kWidth;
  const auto clamp = []<class X>(X & y, const Epilogue& e) __attribute__((always_inline)) {
    const X lower = e.lower - X{}, upper = e.upper - X{};
    y = y < lower ? lower : y;
    y = y > upper ? upper : y;
  };
  typename Lanes<float, kWidth>::X y;
  for (ptrdiff_t j = 0; n >= kWidth && j < n; j += kWidth) {
    const ptrdiff_t at = j < n - kWidth ? j : n - kWidth;  // the last one overlaps
    Lanes<float, kWidth>::load(sums + at, y);
    clamp(y, epilogue);
    Lanes<S, kWidth>::store(c + at, y);
  }
  for (ptrdiff_t j = 0; n < kWidth && j < n; j += 4) {
    Quad<S> quad;
    load_some<float>(sums + j, n - j, quad);
    clamp(quad, epilogue);
    store_some<S>(c + j, quad, n - j);
  }
}

template <Isa I, class S>
void TypedKernels<I, S>::finish(const TypedEnds<S>& ends) {
  if constexpr (sizeof(S) == 2) {
    const Epilogue& epilogue = ends.epilogue;
    if (epilogue.activate != nullptr) {
      epilogue.activate(epilogue.spec, ends.sums, ends.sums_pitch, ends.rows, ends.n);
    }
    if (ends.n < TypedVector<I, float>::kWidth && ends.pitch == ends.n) {
      // Short rows, one behind the other, are one long row once the sums are. What is written
      // behind a row lies before the next one's sums.
      for (ptrdiff_t r = 1; r < ends.rows; ++r) {
        for (ptrdiff_t j = 0; j < ends.n; j += 4) {
          Quad<float> sums;
          Lanes<float, 4>::load(ends.sums + r * ends.sums_pitch + j, sums);
          Lanes<float, 4>::store(ends.sums + r * ends.n + j, sums);
        }
      }
      return finish_run<I, S>(ends.sums, ends.rows * ends.n, epilogue, ends.c);
    }
    for (ptrdiff_t r = 0; r < ends.rows; ++r) {
      finish_run<I, S>(ends.sums + r * ends.sums_pitch, ends.n, epilogue, ends.c + r * ends.pitch);
    }
  }
}

}  // namespace intarsia::cpu
