// SPDX-License-Identifier: Apache-2.0
//
// C[m][n] = act(alpha * A * B + beta * D + Z) in element types other than float32: float64,
// integers of 32 and 64 bits, which wrap around, and float16 and bfloat16, which are computed in
// float; and of bytes, whose sums are integers of 32 bits.
//
// A and B lie as they lie, transposed or not, and are packed block by block while the product runs;
// a B that few rows are multiplied with is read in place, and float64 rows of A where columns are
// few or sums short. D (Gemm's C, or a bias) broadcasts. Z may be C itself; otherwise no operand
// may overlap C. Work is cut into units by the shape alone; any split of the units over calls and
// threads gives the same bits. An element starts from beta * D + Z, alpha is multiplied into a
// factor that is packed. It is one chain of multiply-adds in the order of K; where few rows meet a
// transposed B, or few columns, it may be a fixed number of partial sums.
#pragma once

#include <type_traits>

#include "intarsia/types.h"
#include "kernels_cpu/gemm/gemm.h"
#include "kernels_cpu/gemm/isa.h"

namespace intarsia::cpu {

/// Two neighbours along K of a matrix of bytes, each without its zero point, in 16 bits; the lower
/// half is the first. A product of two such pairs is the sum of both products.
struct Int16Pair {
  uint32_t bits;
};
/// Four neighbours along K of a matrix of bytes, the first in the lowest bits: unsigned ones of A,
/// signed ones of B. A product of two such quads is the sum of the four products.
struct ByteQuad {
  uint32_t bits;
};
template <class S>
inline constexpr bool kQuads = std::is_same_v<S, ByteQuad>;
template <class S>
inline constexpr bool kOfBytes = kQuads<S> || std::is_same_v<S, Int16Pair>;
/// Bytes of a lane that are one element.
template <class S>
inline constexpr int kGroup = kQuads<S> ? 4 : 2;

/// The elements of C of a product of storage type S. S is double, uint32_t, uint64_t, Float16,
/// BFloat16, Int16Pair or ByteQuad; integers are unsigned here, since they wrap.
template <class S>
using Result = std::conditional_t<kOfBytes<S>, uint32_t, S>;
/// What it is computed in.
template <class S>
using Computed = std::conditional_t<sizeof(S) == 2, float, Result<S>>;

/// A factor. Its lanes are rows of A, columns of B: element k of a lane lies at
/// data[lane * lane_step + k * k_step]. One of the steps is 1.
template <class S>
struct TypedFactor {
  const S* data;
  ptrdiff_t lane_step;
  ptrdiff_t k_step;

  TypedFactor at(ptrdiff_t lane, ptrdiff_t k) const {
    return {data + lane * lane_step + k * k_step, lane_step, k_step};
  }
};

/// A factor of bytes, which lie like the elements of a TypedFactor. Packing turns them into pairs
/// or quads, `groups`, with what makes the last one whole.
struct ByteFactor {
  const uint8_t* data;
  ptrdiff_t lane_step;
  ptrdiff_t k_step;      ///< 1 of A.
  ptrdiff_t k;           ///< Bytes of a lane.
  uint8_t flip;          ///< 0x80 of signed bytes: the bits that make them unsigned, 128 larger.
  const uint8_t* zeros;  ///< The zero point of a lane at zeros[lane * zero_step].
  ptrdiff_t zero_step;
  ptrdiff_t first_group = 0;  ///< Where a lane begins.

  /// Byte `index` of the first lane, without its zero point.
  int difference(ptrdiff_t index) const { return (data[index * k_step] ^ flip) - (*zeros ^ flip); }
  ByteFactor at(ptrdiff_t lane, ptrdiff_t group) const {
    ByteFactor from = *this;
    from.zeros += lane * zero_step;
    from.first_group += group;
    from.data += lane * lane_step;
    return from;
  }
};

template <class S>
using Factor = std::conditional_t<kOfBytes<S>, ByteFactor, TypedFactor<S>>;

template <class S>
struct TypedArgs {
  GemmShape shape;  ///< K counts groups where bytes are multiplied.
  Factor<S> a;
  Factor<S> b;
  Result<S>* c;
  ptrdiff_t pitch = 0;  ///< Elements from row to row of C and Z; 0: N.
  Computed<S> alpha = 1;
  Computed<S> beta = 1;
  const Result<S>* d = nullptr;  ///< Element (i, j) at d[i * d_row + j * d_column], or null.
  ptrdiff_t d_row = 0;
  ptrdiff_t d_column = 0;
  const Result<S>* z = nullptr;
  Epilogue epilogue = {};  ///< Of 16-bit types only.
  Isa isa = Isa::kPortable;
  int64_t enough_units = 1;  ///< As `typed_units` was told.
};

/// Number of units; 0 if C is empty. Blocks of C are as large as packing likes them, or smaller
/// until there are `enough` for the threads that share them.
template <class S>
int64_t typed_units(const GemmShape& shape, int64_t enough = 1);

/// Bytes of scratch memory that a thread needs. Grows with each extent, which may be any number.
template <class S>
int64_t typed_workspace(const GemmShape& shape);

/// Computes units [begin, end). `workspace` is aligned to 64 bytes.
template <class S>
void typed_run(const TypedArgs<S>& args, int64_t begin, int64_t end, std::byte* workspace);

/// use(S()) for the S that products of bytes are fastest in.
template <class Use>
auto pick_groups([[maybe_unused]] Isa isa, const Use& use) {
#if INTARSIA_WITH_AVX512
  if (has_byte_dots(isa)) return use(ByteQuad());
#endif
  return use(Int16Pair());
}

}  // namespace intarsia::cpu
