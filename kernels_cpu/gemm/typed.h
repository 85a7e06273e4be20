// SPDX-License-Identifier: Apache-2.0
//
// C[m][n] = act(alpha * A * B + beta * D + Z) in element types other than float32: float64,
// integers of 32 and 64 bits, which wrap around, and float16 and bfloat16, which are computed in
// float.
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
#include "kernels_cpu/gemm/gemm.h"

namespace intarsia::cpu {

/// What elements of storage type S are computed in. S is double, uint32_t, uint64_t, Float16 or
/// BFloat16; integers are unsigned here, since they wrap.
template <class S>
using Computed = std::conditional_t<sizeof(S) == 2, float, S>;

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

template <class S>
struct TypedArgs {
  GemmShape shape;
  TypedFactor<S> a;
  TypedFactor<S> b;
  S* c;  ///< Rows follow one another, here and in Z.
  Computed<S> alpha = 1;
  Computed<S> beta = 1;
  const S* d = nullptr;  ///< Element (i, j) at d[i * d_row + j * d_column], or null.
  ptrdiff_t d_row = 0;
  ptrdiff_t d_column = 0;
  const S* z = nullptr;
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
