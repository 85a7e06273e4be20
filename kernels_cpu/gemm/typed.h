// SPDX-License-Identifier: Apache-2.0
//
// C[m][n] = act(alpha * A * B + beta * D + Z) in element types other than float32: float64,
// integers of 32 and 64 bits, which wrap around, and float16 and bfloat16, which are computed in
// float; and of bytes, matrices or the windows of images, whose sums are integers of 32 bits.
//
// A and B lie as they lie, transposed or not, and are packed block by block while the product runs;
// a B that few rows are multiplied with is read in place. D (Gemm's C, or a bias) broadcasts. Z may
// be C itself; otherwise no operand may overlap C. Work is cut into units by the shape alone; any
// split of the units over calls and threads gives the same bits. An element starts from
// beta * D + Z, alpha is multiplied into A. It is one chain of multiply-adds in the order of K;
// where few rows meet a transposed B it is a fixed number of partial sums.
#pragma once

#include <type_traits>

#include "intarsia/types.h"
#include "kernels_cpu/gemm/conv.h"
#include "kernels_cpu/gemm/gemm.h"

namespace intarsia::cpu {

/// Two neighbours along K of a matrix of bytes, each without its zero point, in 16 bits; the lower
/// half is the first. A product of two such pairs is the sum of both products.
struct Int16Pair {
  uint32_t bits;
};
template <class S>
inline constexpr bool kPairs = std::is_same_v<S, Int16Pair>;

/// The elements of C of a product of storage type S. S is double, uint32_t, uint64_t, Float16,
/// BFloat16 or Int16Pair; integers are unsigned here, since they wrap.
template <class S>
using Result = std::conditional_t<kPairs<S>, uint32_t, S>;
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

/// A factor of bytes, which packing turns into pairs: a matrix, or the windows of an image.
///
/// Elements of a matrix lie like those of a TypedFactor. The lanes of windows are the pixels of a
/// convolution's result, whose k are the taps and, of each of them, the channels of a group, with
/// one more zero if their number is odd; `data` is then the first of these channels of the image.
struct ByteFactor {
  const uint8_t* data;
  ptrdiff_t lane_step;
  ptrdiff_t k_step;
  ptrdiff_t k;           ///< Elements of a lane from `data` on; behind them are zeros.
  uint8_t flip;          ///< 0x80 of signed bytes: the bits that make them unsigned, 128 larger.
  const uint8_t* zeros;  ///< The zero point of a lane at zeros[lane * zero_step].
  ptrdiff_t zero_step;
  const ConvShape* windows = nullptr;        ///< Null: a matrix.
  ptrdiff_t first_lane = 0, first_pair = 0;  ///< Of windows.

  /// Element `index` of the first lane, without its zero point.
  int difference(ptrdiff_t index) const { return (data[index * k_step] ^ flip) - (*zeros ^ flip); }
  ByteFactor at(ptrdiff_t lane, ptrdiff_t pair) const {
    ByteFactor from = *this;
    from.zeros += lane * zero_step;
    if (windows != nullptr) {
      from.first_lane += lane;
      from.first_pair += pair;
    } else {
      from.data += lane * lane_step + 2 * pair * k_step;
      from.k -= 2 * pair;
    }
    return from;
  }
};

template <class S>
using Factor = std::conditional_t<kPairs<S>, ByteFactor, TypedFactor<S>>;

template <class S>
struct TypedArgs {
  GemmShape shape;  ///< K counts pairs where S is Int16Pair.
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
};

/// Number of units; 0 if C is empty.
template <class S>
int64_t typed_units(const GemmShape& shape);

/// Bytes of scratch memory that a thread needs. Grows with each extent, which may be any number.
template <class S>
int64_t typed_workspace(const GemmShape& shape);

/// Computes units [begin, end). `workspace` is aligned to 64 bytes.
template <class S>
void typed_run(const TypedArgs<S>& args, int64_t begin, int64_t end, std::byte* workspace);

}  // namespace intarsia::cpu
