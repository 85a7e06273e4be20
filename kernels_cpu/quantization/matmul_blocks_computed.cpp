// SPDX-License-Identifier: Apache-2.0
//
// MatMulBlocks with weights of any kind and more than a few rows: the weights of a panel become
// floats, row by row, and then columns of the panel (block_product.h). Few rows meet the weights as
// the reference's do.
#include "core/kernel_list.h"
#include "kernels_cpu/common/bounded.h"
#include "kernels_cpu/quantization/block_product.h"
#include "kernels_cpu/quantization/block_rows.h"

namespace intarsia::cpu {
namespace {

template <class X>
struct MatMulBlocksComputed {
  static constexpr KernelId id{"intarsia:MatMulBlocks", "computed", {kernel_type_of<X>}};
  static constexpr int kBits = element_bits(static_cast<DataType>(kernel_type_of<X>.code));
  static constexpr KernelTargets targets = kPackingTargets;
  static constexpr int64_t kFewRows = 4;

  static int64_t workspace(const KernelContext& context) {
    return BlockProduct::workspace(context);
  }
  static Status check(const KernelContext& context) {
    const Status status = BlockProduct::check<X>(context);
    return status ? check_workspace(context, workspace(context)) : status;
  }

  static Status run(const KernelContext& context) {
    if (context.output(0).count() == 0) return {};
    const BlockProduct product(context);
    if (product.rows <= kFewRows) {
      multiply_rows<kBits>(context);
      return {};
    }
    product.run(context,
                [&](int64_t column, int64_t count, int64_t first, int64_t depth, float* piece) {
                  for (int64_t end = column + count; column < end; column += kPanel) {
                    const int64_t some = std::min<int64_t>(end - column, kPanel);
                    float rows[kPanel * kPitch];
                    on_widest_isa(context.isa(), [&] {
                      for (int64_t i = 0; i < some; ++i) {
                        WeightRow<kBits>(context, column + i, product.terms)
                            .load(first, depth, rows + i * kPitch);
                      }
                    });
                    pack_b_transposed(rows, kPitch, depth, some, piece);
                    piece += depth * kPanel;
                  }
                });
    return {};
  }

 private:
  static constexpr int64_t kPitch = BlockProduct::kDepth + 8;  // whole bytes of codes
};

}  // namespace

extern const KernelList matmul_blocks_computed_kernels;
constinit const KernelList matmul_blocks_computed_kernels = kernel_list<
    Each<MatMulBlocksComputed, Types<uint8_t, Small<DataType::kUint4>, Small<DataType::kUint2>>>>();

}  // namespace intarsia::cpu
