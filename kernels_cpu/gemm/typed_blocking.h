// SPDX-License-Identifier: Apache-2.0
//
// How typed.cpp cuts products into blocks, and where a thread's workspace has room for theirs.
#pragma once

#include "kernels_cpu/gemm/even_block.h"
#include "kernels_cpu/gemm/typed_kernels.h"

namespace intarsia::cpu {

// Depth of a pass: a panel of B takes 32 KiB.
inline constexpr ptrdiff_t kDepth = kTypedDepth;
// The same where B is not packed and A has few rows.
inline constexpr ptrdiff_t kDotsDepth = 4 * kDepth;
// The largest block of C: A takes 240 KiB, which tiles read from the second cache level again and
// again, B 512 KiB of any type.
template <class S>
inline constexpr ptrdiff_t kMostRows = 960 / sizeof(Computed<S>);
inline constexpr ptrdiff_t kMostColumnBytes = 2048;
// Blocks have a multiple of the rows of every tile.
inline constexpr ptrdiff_t kRowStep = 12;
static_assert(kTypedFewRows * kDotsDepth <= kRowStep * kDepth);
// Blocks are made no smaller, so that threads share the work evenly, than this many multiply-adds.
// Those of quads are so fast that packing would be a large part of it.
template <class S>
inline constexpr int64_t kSmallUnit = 1 << (kQuads<S> ? 21 : 19);
// What packing may write behind the panels of A.
inline constexpr ptrdiff_t kSlack = 4;

constexpr ptrdiff_t min(int64_t a, ptrdiff_t b) {
  return a < b ? static_cast<ptrdiff_t>(a) : b;
}

template <class S>
inline constexpr bool kSumsApart = sizeof(Computed<S>) != sizeof(Result<S>);
template <class S>
inline constexpr ptrdiff_t kColumnStep = kTypedPanelBytes / sizeof(Computed<S>);
template <class S>
inline constexpr ptrdiff_t kMostColumns = kMostColumnBytes / sizeof(Computed<S>);

// Elements of packed A for each of its rows.
template <class S>
constexpr ptrdiff_t a_pitch(ptrdiff_t depth) {
  return kQuads<S> ? kQuadPitch : depth;
}

struct TypedBlocking {
  ptrdiff_t m_block;
  ptrdiff_t n_block;
  ptrdiff_t m_blocks;
  ptrdiff_t n_blocks;
};

// REQUIRES: m > 0, n > 0.
template <class S>
TypedBlocking typed_blocking(const GemmShape& shape, int64_t enough) {
  const auto m = static_cast<ptrdiff_t>(shape.m), n = static_cast<ptrdiff_t>(shape.n);
  constexpr ptrdiff_t kStep = kColumnStep<S>;
  TypedBlocking s{};
  s.m_block = even_block(m, kMostRows<S>, kRowStep);
  s.n_block = even_block(n, kMostColumns<S>, kStep);
  for (;;) {
    s.m_blocks = ceil_div(m, s.m_block);
    s.n_blocks = ceil_div(n, s.n_block);
    if (s.m_blocks * s.n_blocks >= enough) break;
    if (int64_t{min(m, s.m_block)} * s.n_block * shape.k < 2 * kSmallUnit<S>) break;
    if (s.n_block > kStep && (s.n_block > s.m_block || s.m_block < 4 * kRowStep)) {
      s.n_block = even_block(n, s.n_block / 2, kStep);
    } else if (s.m_block >= 4 * kRowStep) {
      s.m_block = even_block(m, s.m_block / 2, kRowStep);
    } else {
      break;
    }
  }
  return s;
}

// Where the parts of a thread's workspace lie, for blocks up to the largest.
template <class S>
struct TypedScratch {
  using V = Computed<S>;
  int64_t a, b, sums, a_terms, b_terms, bytes;
  int64_t sums_room;  // elements

  explicit TypedScratch(const GemmShape& shape) {
    const ptrdiff_t rows = round_up(min(shape.m, kMostRows<S>), kRowStep);
    const ptrdiff_t columns = round_up(min(shape.n, kMostColumns<S>), kColumnStep<S>);
    const ptrdiff_t depth = min(shape.k, kDepth);
    const auto bytes_of = [](int64_t elements) {
      return (elements * int64_t{sizeof(V)} + 63) / 64 * 64;
    };
    a = 0;
    b = a + bytes_of(int64_t{rows} * a_pitch<S>(depth) + kSlack);
    sums = b + bytes_of(int64_t{columns} * depth);
    sums_room = kSumsApart<S> ? int64_t{rows} * columns : 0;
    a_terms = sums + bytes_of(sums_room);
    b_terms = a_terms + (kQuads<S> ? 2 * bytes_of(rows + kTermSlack) : 0);
    bytes = b_terms + (kQuads<S> ? 2 * bytes_of(columns + kTermSlack) : 0);
  }
};

}  // namespace intarsia::cpu
