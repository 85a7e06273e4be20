// SPDX-License-Identifier: Apache-2.0
//
// The tiles of byte_panels.h as templates over instruction set and groups of bytes.
//
// Quads are multiplied as they lie. Elsewhere each line becomes two of pairs, of the bytes at even
// and at odd places: of B by shifts that keep the sign, of A by masks.
//
// Included by typed_<isa>.cpp only, as typed_tile.h is.
#pragma once

#include "kernels_cpu/gemm/byte_panels.h"
#include "kernels_cpu/gemm/even_block.h"
#include "kernels_cpu/gemm/typed_tile.h"

namespace intarsia::cpu {

/// sums += the products of a line of B, P panels, and a quad of each of R rows.
template <Isa I, class S, int R, int V>
INTARSIA_INLINE void add_byte_products(const uint32_t (&quads)[R],
                                       const typename TypedVector<I, uint32_t>::X (&line)[V],
                                       typename TypedVector<I, uint32_t>::X (&sums)[R][V]) {
  using X = typename TypedVector<I, uint32_t>::X;
  if constexpr (kQuads<S>) {
    INTARSIA_UNROLL
    for (int r = 0; r < R; ++r) {
      const X a = quads[r] - X{};
      INTARSIA_UNROLL
      for (int v = 0; v < V; ++v) QuadProducts::add(sums[r][v], a, line[v]);
    }
  } else {
    constexpr int kWidth = TypedVector<I, uint32_t>::kWidth;
    using Shorts = typename VectorOfType<int16_t, 2 * kWidth>::Type;
    using Unsigned = typename VectorOfType<uint16_t, 2 * kWidth>::Type;
    // Two vectors at a time: their pairs, those of one row and all sums are 16 registers.
    constexpr int kTogether = V < 2 ? 1 : 2;
    INTARSIA_UNROLL
    for (int first = 0; first < V; first += kTogether) {
      X of_even[kTogether], of_odd[kTogether];
      INTARSIA_UNROLL
      for (int v = 0; v < kTogether; ++v) {
        of_even[v] = (X)((Shorts)(line[first + v] << 8) >> 8);
        of_odd[v] = (X)((Shorts)line[first + v] >> 8);
      }
      INTARSIA_UNROLL
      for (int r = 0; r < R; ++r) {
        const Unsigned quad = (Unsigned)(quads[r] - X{});
        const X even = (X)(quad & 0xff), odd = (X)(quad >> 8);
        INTARSIA_UNROLL
        for (int v = 0; v < kTogether; ++v) {
          PairProducts::add(sums[r][first + v], even, of_even[v]);
          PairProducts::add(sums[r][first + v], odd, of_odd[v]);
        }
      }
    }
  }
}

/// R rows by P panels, all of it in registers.
template <Isa I, class S, int P, int R>
void byte_tile(const ByteProduct& t) {
  using X = typename TypedVector<I, uint32_t>::X;
  constexpr int kWidth = TypedVector<I, uint32_t>::kWidth, kParts = kPanel / kWidth;
  constexpr int kVectors = P * kParts;
  const ptrdiff_t quads = t.runs.quads;
  const ptrdiff_t panel = static_cast<ptrdiff_t>(byte_panel_words(t.runs.all_quads()));
  const auto load = [panel](const uint32_t* b, X(&line)[kVectors]) __attribute__((always_inline)) {
    INTARSIA_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      std::memcpy(&line[v], b + v / kParts * panel + v % kParts * kWidth, sizeof(X));
    }
  };
  X acc[R][kVectors], line[kVectors];
  load(t.b, line);
  INTARSIA_UNROLL
  for (int r = 0; r < R; ++r) {
    INTARSIA_UNROLL
    for (int v = 0; v < kVectors; ++v) acc[r][v] = X{} - t.a_zero * line[v];
  }
  if (t.a_sums != nullptr) {
    load(t.b + kPanel, line);
    INTARSIA_UNROLL
    for (int r = 0; r < R; ++r) {
      INTARSIA_UNROLL
      for (int v = 0; v < kVectors; ++v) acc[r][v] -= t.a_sums[r] * line[v];
    }
  }
  const uint32_t* b = t.b + kByteTerms * kPanel;
  const auto add_run = [&](ptrdiff_t place) __attribute__((always_inline)) {
    const uint8_t* a[R];
    INTARSIA_UNROLL
    for (int r = 0; r < R; ++r) a[r] = t.a[r] + place;
    for (ptrdiff_t k = 0; k < quads; ++k, b += kPanel) {
      uint32_t quad[R];
      INTARSIA_UNROLL
      for (int r = 0; r < R; ++r) std::memcpy(&quad[r], a[r] + 4 * k, sizeof quad[r]);
      load(b, line);
      add_byte_products<I, S, R, kVectors>(quad, line, acc);
    }
  };
  for (ptrdiff_t i = 0; i < t.runs.counts[0]; ++i) {
    for (ptrdiff_t j = 0; j < t.runs.counts[1]; ++j) {
      for (ptrdiff_t l = 0; l < t.runs.counts[2]; ++l) {
        add_run(i * t.runs.steps[0] + j * t.runs.steps[1] + l * t.runs.steps[2]);
      }
    }
  }
  INTARSIA_UNROLL
  for (int r = 0; r < R; ++r) {
    INTARSIA_UNROLL
    for (int v = 0; v < kVectors; ++v) {
      std::memcpy(t.c + r * t.c_pitch + v * kWidth, &acc[r][v], sizeof(X));
    }
  }
}

/// All rows by P panels: tiles of up to R rows, all of about as many.
template <Isa I, class S, int P, int R>
void byte_rows(ByteProduct job) {
  constexpr auto kTiles = []<int... Less>(std::integer_sequence<int, Less...>) {
    return std::array{&byte_tile<I, S, P, Less + 1>...};
  }
  (std::make_integer_sequence<int, R>());
  const ptrdiff_t height = ceil_div(job.rows, ceil_div(job.rows, R));
  for (ptrdiff_t left = job.rows; left > 0;) {
    const ptrdiff_t rows = left < height ? left : height;
    kTiles[static_cast<size_t>(rows - 1)](job);
    left -= rows;
    job.a += rows;
    if (job.a_sums != nullptr) job.a_sums += rows;
    job.c += rows * job.c_pitch;
  }
}

/// P panels.
template <Isa I, class S, int P, int R>
void byte_columns(ByteProduct& job) {
  byte_rows<I, S, P, R>(job);
  job.panels -= P;
  job.b += P * static_cast<ptrdiff_t>(byte_panel_words(job.runs.all_quads()));
  job.c += P * kPanel;
}

/// P panels at a time, then one by one.
template <Isa I, class S, int P, int R>
void byte_columns_by(ByteProduct job) {
  while (job.panels >= P) byte_columns<I, S, P, R>(job);
  if constexpr (P > 1) {
    while (job.panels > 0) byte_columns<I, S, 1, R>(job);
  }
}

/// Any number of rows, of quads in vectors of a panel: 24 sums, of more panels than a few rows
/// have, since loads are as dear as products. None of one or two panels is left where a wider one
/// does.
template <Isa I, class S>
void byte_columns_of_many_rows(ByteProduct job) {
  while (job.panels > 0) {
    if (job.panels == 4 || job.panels > 6) {
      byte_columns<I, S, 4, 6>(job);
    } else if (job.panels > 2) {
      byte_columns<I, S, 3, 8>(job);
    } else if (job.panels == 2) {
      byte_columns<I, S, 2, 8>(job);
    } else {
      byte_columns<I, S, 1, 12>(job);
    }
  }
}

/// A single row, and few, need many panels, so that sums do not wait for each other.
template <Isa I, class S>
void BytePanels<I, S>::multiply(const ByteProduct& product) {
  constexpr int kParts = kPanel / TypedVector<I, uint32_t>::kWidth;
  constexpr int kOneRow = kParts == 1 ? 8 : kParts == 2 ? 2 : 1;
  constexpr int kFewRows = kParts <= 2 ? 4 : 2, kFewPanels = kParts == 1 ? 4 : 1;
  if (product.rows == 1) {
    byte_columns_by<I, S, kOneRow, 1>(product);
  } else if (kParts > 1 || product.rows <= kFewRows) {
    byte_columns_by<I, S, kFewPanels, kFewRows>(product);
  } else if constexpr (kQuads<S>) {
    byte_columns_of_many_rows<I, S>(product);
  } else {
    byte_columns_by<I, S, 2, 8>(product);
  }
}

}  // namespace intarsia::cpu
