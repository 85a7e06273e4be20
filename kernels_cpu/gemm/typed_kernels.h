// SPDX-License-Identifier: Apache-2.0
//
// What an instruction set does for products of types other than float32 (typed.h): tiles, packing,
// and the ends of the sums. The tables are defined in typed_<isa>.cpp.
#pragma once

#include "kernels_cpu/gemm/typed.h"
#include "kernels_cpu/gemm/vector.h"

namespace intarsia::cpu {

/// Bytes that the widest panel of any instruction set has for each k; a multiple of every width.
inline constexpr ptrdiff_t kTypedPanelBytes = 128;
/// Bytes of the sums of the largest tile.
inline constexpr ptrdiff_t kTypedTileBytes = 1536;

/// Products of so few rows have tiles of their own, and need not pack B.
inline constexpr int kTypedFewRows = 3;

/// The deepest pass over K.
inline constexpr ptrdiff_t kTypedDepth = 256;
/// Quads from lane to lane of A, which are packed as [lane][k]: with room for what packing writes
/// behind the last one, and not a power of 2.
inline constexpr ptrdiff_t kQuadPitch = kTypedDepth + 16;

/// Sums of the bytes of lanes, and their zero points, both as packed: of A unsigned, of B signed.
struct LaneTerms {
  uint32_t* sums;
  uint32_t* zeros;
};
/// What packing may write behind the terms of the last lane.
inline constexpr ptrdiff_t kTermSlack = 4;

/// Whether rows of A that lie along K stay so when they are packed: 16-bit numbers are then only
/// converted, a vector at a time. Small programs do without the tiles.
template <class S>
inline constexpr bool kKeepsRows = INTARSIA_HAS_VECTORS && sizeof(S) == 2;

/// C[rows x n] += A[rows x k] * B[k x n], or = where `start` is set. Rows and n are those of the
/// function.
template <class V>
struct TypedTile {
  const V* a;         ///< [k][rows]; of tiles `by_row` [rows][a_pitch], of quads [rows][kQuadPitch]
  const void* b;      ///< Of V, or of the storage type where B is read in place.
  ptrdiff_t b_step;   ///< From one k to the next.
  ptrdiff_t b_panel;  ///< From a panel to the next.
  ptrdiff_t k;        ///< May be 0.
  V* c;
  ptrdiff_t c_pitch;
  bool start;
  ptrdiff_t a_pitch;
  LaneTerms a_terms, b_terms;  ///< Of quads, whose zero points the tile adds.
};

/// The same of a whole block of quads: all its rows and columns, packed.
struct QuadBlock {
  const uint32_t* a;     ///< [rows][kQuadPitch]
  const uint32_t* b;     ///< [panel][k][32]
  ptrdiff_t rows, n, k;  ///< None is 0.
  uint32_t* c;
  ptrdiff_t c_pitch;
  bool start;
  LaneTerms a_terms, b_terms;
};
/// The instruction sets that multiply blocks: AMX.
template <Isa I>
struct QuadBlocks;
void multiply_on_amx(const QuadBlock& block);

template <class V>
using TypedTileFunction = void (*)(const TypedTile<V>& tile);

/// Tiles of one width: `by_rows[r - 1]` computes r rows.
template <class V>
struct TypedFamily {
  int columns;
  int max_rows;
  const TypedTileFunction<V>* by_rows;
};

template <class V>
struct TypedTiles {
  int width;              ///< Columns of a panel.
  TypedFamily<V> main;    ///< One panel.
  TypedFamily<V> half;    ///< The first half of a panel: all that is left of B.
  TypedFamily<V> by_row;  ///< Like main and half, where kKeepsRows.
  TypedFamily<V> half_by_row;
  /// Two panels of fewer rows, which load less for each product; 0 rows where registers are too
  /// few.
  TypedFamily<V> pairs, pairs_by_row;
  TypedFamily<V> few;       ///< For products of few rows: wider, with one tile for all rows.
  TypedFamily<V> in_place;  ///< The same for a B that is not packed.
};

/// Lanes of a factor in panels: [panel][k][width]; quads of A: [lane][kQuadPitch]. Panels of width
/// 1 are rows of A.
template <class S>
struct TypedPack {
  Factor<S> from;
  ptrdiff_t lanes;
  ptrdiff_t k;
  ptrdiff_t width;  ///< The tiles' own where `padded`.
  bool padded;      ///< The last panel has all its lanes, zeros where there are none; else fewer.
  /// Three elements behind the last panel may be overwritten unless `padded`.
  Computed<S>* to;
  LaneTerms terms;  ///< Of quads only, which keep their zero points.
};

/// sums[r][j] += row r of A * lane j of B, or = where `start` is set.
template <class S>
struct TypedDots {
  const Computed<S>* a;  ///< [rows][k]
  Factor<S> b;           ///< k_step is 1.
  ptrdiff_t rows;
  ptrdiff_t n;
  ptrdiff_t k;
  Computed<S>* sums;
  ptrdiff_t sums_pitch;
  bool start;
};

/// sums[r][j] += row r of A * lane j of B, or = where `start` is set, rows up to kTypedFewRows.
template <class S>
struct TypedColumns {
  const Computed<S>* a;  ///< [k][rows]
  Factor<S> b;           ///< lane_step is 1.
  const S* b_end;        ///< Vectors are read up to there.
  ptrdiff_t rows;
  ptrdiff_t n;
  ptrdiff_t k;
  Computed<S>* sums;
  ptrdiff_t sums_pitch;
  bool start;
};

/// Whether such products have tiles that read A where it lies. Integers have none: on most
/// instruction sets their products are slower than packing. Small programs do without the text.
template <class S>
inline constexpr bool kReadsInPlace = INTARSIA_HAS_VECTORS&& std::is_same_v<S, double>;

/// sums[r][j] = from[r][j] + row r of A * column j of B.
template <class V>
struct TypedNarrow {
  TypedFactor<V> a;
  const V* b;         ///< Columns side by side.
  ptrdiff_t b_step;   ///< From one k to the next.
  ptrdiff_t b_panel;  ///< From a panel to the next.
  ptrdiff_t rows;
  ptrdiff_t n;
  ptrdiff_t k;
  const V* from;  ///< Null: zeros. May be the sums.
  ptrdiff_t from_pitch;
  V* sums;
  ptrdiff_t sums_pitch;

  const V* b_at(ptrdiff_t column, ptrdiff_t width) const {
    return b + column / width * b_panel + column % width;
  }
  const V* from_at(ptrdiff_t row, ptrdiff_t column) const {
    return from != nullptr ? from + row * from_pitch + column : nullptr;
  }
};

/// A block of C and of its sums.
template <class S>
struct TypedEnds {
  ptrdiff_t rows;
  ptrdiff_t n;
  Computed<S>* sums;
  ptrdiff_t sums_pitch;
  Result<S>* c;
  const Result<S>* z;
  ptrdiff_t pitch;  ///< Of C and Z.
  const Result<S>* d;
  ptrdiff_t d_row;
  ptrdiff_t d_column;
  Computed<S> beta;
  Epilogue epilogue;
};

/// The kernels of instruction set I for storage type S.
template <Isa I, class S>
struct TypedKernels {
  static TypedTiles<Computed<S>> tiles();
  static void pack(const TypedPack<S>& job);
  /// Each sum is 64 bytes of partial sums, added up in an order that k alone decides. Not of bytes.
  static void dots(const TypedDots<S>& job);
  /// Each sum is four partial sums, whatever the instruction set. Not of bytes.
  static void columns(const TypedColumns<S>& job);
  /// For few columns or short sums, where kReadsInPlace.
  static void narrow(const TypedNarrow<Computed<S>>& job);
  /// sums = beta * D + Z; one of them is there.
  static void start(const TypedEnds<S>& ends);
  /// C = act(sums), of 16-bit types.
  static void finish(const TypedEnds<S>& ends);
};

}  // namespace intarsia::cpu
