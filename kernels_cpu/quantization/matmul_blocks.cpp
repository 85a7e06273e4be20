// SPDX-License-Identifier: Apache-2.0
//
// MatMulBlocks: a product with weights that are codes of 2, 4 or 8 bits, block by block.
//
// A part of a row of weights becomes floats on the stack and meets that part of every row of A
// before the next one does: weights are read once, as the few bytes that they are. Sums are kept in
// as many lanes on every instruction set, so that they are the same bits.
#include "core/kernel_list.h"
#include "kernels_cpu/quantization/block_product.h"
#include "kernels_cpu/quantization/block_rows.h"

namespace intarsia::cpu {
namespace {

template <class X>
struct MatMulBlocks {
  static constexpr KernelId id{"intarsia:MatMulBlocks", "", {kernel_type_of<X>}};
  static constexpr int kBits = element_bits(static_cast<DataType>(kernel_type_of<X>.code));

  static Status check(const KernelContext& context) { return BlockProduct::check<X>(context); }

  static Status run(const KernelContext& context) {
    if (context.output(0).count() > 0) multiply_rows<kBits>(context);
    return {};
  }
};

}  // namespace

extern const KernelList matmul_blocks_kernels;
constinit const KernelList matmul_blocks_kernels = kernel_list<
    Each<MatMulBlocks, Types<uint8_t, Small<DataType::kUint4>, Small<DataType::kUint2>>>>();

}  // namespace intarsia::cpu
