// SPDX-License-Identifier: Apache-2.0
//
// Operands of MatMulInteger: matrices of bytes, signed or not, whose rows (of A) or columns (of B)
// have zero points.
#pragma once

#include "kernels_cpu/gemm/typed.h"
#include "kernels_cpu/linear_algebra/operands.h"

namespace intarsia::cpu {

/// Whether one zero point serves the whole operand, by its planned extents.
inline bool single_zero(const KernelContext& context, int input) {
  const TensorView& zero = context.input(input);
  for (int axis = 0; zero.present() && axis < zero.rank; ++axis) {
    if (context.planned_extents(input)[axis] != 1) return false;
  }
  return true;
}

/// The zero points of matrix `index` of Y, into a factor whose matrix is there. `lane_axis` counts
/// from the last axis.
inline void set_zeros(const TensorView& zero, int lane_axis, const int32_t* batch, int batch_rank,
                      int64_t index, ByteFactor& factor) {
  static constexpr uint8_t kNone = 0;
  factor.zeros = &kNone;
  factor.zero_step = 0;
  if (!zero.present()) return;
  factor.zeros = zero.as<const uint8_t>();
  if (zero.rank > 1) factor.zeros += batch_offset(zero, batch, batch_rank, index);
  const int axis = zero.rank > 1 ? zero.rank - 1 - lane_axis : 0;
  if (zero.rank > 0 && zero.extents[axis] != 1) factor.zero_step = 1;
}

/// The operands of matrix `index` of Y.
struct ByteOperands {
  ByteFactor a, b;

  ByteOperands(const KernelContext& context, const ProductLayout& l, int64_t index) {
    const int32_t* batch = context.output(0).extents;
    const int batch_rank = matmul_batch_rank(context);
    a.lane_step = static_cast<ptrdiff_t>(l.a_row);
    a.k_step = static_cast<ptrdiff_t>(l.a_inner);
    b.lane_step = static_cast<ptrdiff_t>(l.b_column);
    b.k_step = static_cast<ptrdiff_t>(l.b_inner);
    ByteFactor* const factors[] = {&a, &b};
    for (int input = 0; input < 2; ++input) {
      const TensorView& matrix = context.input(input);
      ByteFactor& factor = *factors[input];
      factor.data = matrix.as<const uint8_t>() + batch_offset(matrix, batch, batch_rank, index);
      factor.k = static_cast<ptrdiff_t>(l.inner);
      factor.flip = matrix.type == DataType::kInt8 ? 0x80 : 0;
      set_zeros(context.input(2 + input), input == 0 ? 1 : 0, batch, batch_rank, index, factor);
    }
  }
};

}  // namespace intarsia::cpu
