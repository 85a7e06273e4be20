// SPDX-License-Identifier: Apache-2.0
//
// Y = A * W' with weights that become floats a piece at a time: panels (gemm/pack.h) in the
// workspace, by which the rows of a unit are multiplied before the next piece is made. Blocks of Y
// are shared out over the threads.
#pragma once

#include <algorithm>

#include "core/operators/quantization/matmul_blocks.h"
#include "core/runtime/operand_check.h"
#include "intarsia/per_thread.h"
#include "kernels_cpu/gemm/gemm.h"
#include "kernels_cpu/gemm/pack.h"
#include "kernels_cpu/math/small_element.h"

namespace intarsia::cpu {

struct BlockProduct {
  // A unit of work, and the depth of a piece of weights: 128 KiB of floats.
  static constexpr int64_t kUnitRows = 192, kUnitColumns = 128, kDepth = 256;
  // A piece, and what making panels may write behind it.
  static constexpr int64_t kPieceFloats = kUnitColumns * kDepth + 16 * kPanel;

  static int64_t workspace(const KernelContext& context) {
    return (CheckedInt(kPieceFloats) * sizeof(float) * context.threads()).value();
  }
  template <class X>
  static Status check(const KernelContext& context) {
    constexpr KernelType real = kernel_type_of<float>;
    return check_operands<ops::MatMulBlocks>(
        context, {.inputs = {real, kernel_type_of<X>, real, kernel_type_of<uint8_t>},
                  .required_inputs = 3,
                  .outputs = {real}});
  }

  int64_t rows, columns, terms;

  /// REQUIRES: an output that is not empty.
  explicit BlockProduct(const KernelContext& context)
      : columns(context.input(1).extents[0]),
        terms(context.input(0).extents[context.input(0).rank - 1]) {
    rows = context.output(0).count() / columns;
  }

  /// make_panels(column, columns, term, terms, piece) makes those of these columns and terms.
  template <class MakePanels>
  void run(const KernelContext& context, const MakePanels& make_panels) const {
    const int64_t row_units = (rows + kUnitRows - 1) / kUnitRows;
    const int64_t column_units = (columns + kUnitColumns - 1) / kUnitColumns;
    const auto* a = context.input(0).as<const float>();
    auto* y = context.output(0).as<float>();
    const PerThread<float> memory(context.workspace(), context.threads(), kPieceFloats);
    context.parallel_for(row_units * column_units, [&](int64_t begin, int64_t end, int thread) {
      float* piece = memory[thread];
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t row = unit % row_units * kUnitRows, column = unit / row_units * kUnitColumns;
        GemmArgs args{
            {std::min(rows - row, kUnitRows), std::min(columns - column, kUnitColumns), 0},
            a + row * terms,
            terms,
            piece,
            y + row * columns + column,
            columns};
        args.isa = context.isa();
        args.own_b = true;
        // Without terms the sums are 0.
        for (int64_t first = 0; first == 0 || first < terms; first += kDepth) {
          args.shape.k = std::min(terms - first, kDepth);
          make_panels(column, args.shape.n, first, args.shape.k, piece);
          gemm_run(args, 0, gemm_units(args.shape));
          args.a += args.shape.k;
          args.residual = args.c;
          args.residual_pitch = columns;
        }
      }
    });
  }
};

}  // namespace intarsia::cpu
