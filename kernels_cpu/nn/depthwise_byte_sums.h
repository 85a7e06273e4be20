// SPDX-License-Identifier: Apache-2.0
//
// Depthwise convolution of bytes with constant weights, channels last: a group for each channel of
// x, and one filter each. Channels are computed side by side, where there are enough by
// gemm/depthwise_bytes.h. The weights' bytes are [tap][channel].
#pragma once

#include "kernels_cpu/nn/conv_integer.h"
#include "kernels_cpu/nn/conv_shape.h"

namespace intarsia::cpu {

/// The sums of a node's output, rows of it at a time.
struct DepthwiseByteSums {
  ConvShape shape;

  /// `zeros` as for ByteOperand.
  DepthwiseByteSums(const KernelContext& node, int zeros);

  /// Output rows of all images.
  int64_t rows() const { return shape.batch * shape.out_d * shape.out_h; }
  int64_t row_elements() const { return shape.out_w * shape.out_c; }
  /// Those of rows [begin, end).
  void sum(int64_t begin, int64_t end, uint32_t* to) const;

 private:
  const KernelContext& context_;
  ByteOperand x_, w_;
};

/// What kernels of such weights say of them.
struct DepthwiseByteFilters {
  static constexpr int cost = kFastCost - 2;
  static constexpr KernelLayout layout = KernelLayout::kChannelsLast;
  static constexpr std::string_view packing = "channels last";

  static bool serves(const KernelContext& context);
  static bool supports(const KernelContext& context);
  static int64_t packed_bytes(const KernelContext& context, int input) {
    return input == 1 ? context.input(1).bytes() : 0;
  }
  static void pack(const KernelContext& context, int input, void* packed);
  /// For `check`, where the operands are those of an image of at most 3 spatial axes.
  static Status check_filters(const KernelContext& context);
};

}  // namespace intarsia::cpu
