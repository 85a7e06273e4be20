// SPDX-License-Identifier: Apache-2.0
//
// What is known of a product before a device is: its extents, how they are cut into tiles, the
// workspace of tiles whose depth is shared, and the check that kernels over product.h have in
// common.
#pragma once

#include <algorithm>
#include <limits>

#include "kernels_cuda/common/kernel.h"

namespace intarsia::cuda {

struct ProductTiles {
  static constexpr int kLarge = 128;  // rows and columns
  static constexpr int kSmall = 64;
  bool large = false;
  int64_t count = 0;
  int blocks_of_depth = 1;
  int parts = 0;  // of 64 bytes of depth, for each block
};

struct ProductExtents {
  int64_t rows = 0, columns = 0, depth = 0, batches = 1;

  int64_t count(int tile) const {
    return (rows + tile - 1) / tile * ((columns + tile - 1) / tile) * batches;
  }

  /// Large tiles where these give every multiprocessor work, else small ones; where even those are
  /// too few, blocks share their depth, but for what is done before it began.
  ProductTiles tiles(size_t element) const {
    constexpr int64_t kMultiprocessors = 132;  // of a large device
    constexpr int64_t kLeastParts = 4, kMostBlocks = 16;
    const int64_t parts = (depth * static_cast<int64_t>(element) + 63) / 64;
    ProductTiles tiles;
    tiles.large = count(ProductTiles::kLarge) >= kMultiprocessors;
    tiles.count = count(tiles.large ? ProductTiles::kLarge : ProductTiles::kSmall);
    const int64_t wanted = kMultiprocessors / std::max<int64_t>(tiles.count, 1);
    const int64_t blocks =
        std::clamp<int64_t>(std::min(wanted, parts / kLeastParts), 1, kMostBlocks);
    tiles.parts = static_cast<int>((parts + blocks - 1) / blocks);
    // No block without work.
    tiles.blocks_of_depth = static_cast<int>(
        std::max<int64_t>(1, (parts + tiles.parts - 1) / std::max(tiles.parts, 1)));
    return tiles;
  }

  int64_t workspace_bytes(size_t element) const {
    const ProductTiles cut = tiles(element);
    if (cut.blocks_of_depth == 1) return 0;
    constexpr int64_t kTile = int64_t{ProductTiles::kSmall} * ProductTiles::kSmall;
    return cut.count * cut.blocks_of_depth * kTile * static_cast<int64_t>(sizeof(float));
  }
};

/// Proves the operands by the operator's rule, and that positions fit 32 bits. A kernel checks its
/// workspace beside.
template <class Rule>
Status check_product(const KernelContext& context, DataType type) {
  const KernelType t = type;
  const OperandTypes types{.inputs = {t, t, t, t}, .required_inputs = 2, .outputs = {t}};
  if (Status status = check_operands<Rule>(context, types); !status) return status;
  // With room for what lies beyond the last element of a tile.
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max() / 2;
  for (const TensorView* view : {&context.input(0), &context.input(1), &context.output(0)}) {
    if (view->count() <= kMost) continue;
    return context.fail(Code::kUnsupported, "elements of a product", kMost, view->count());
  }
  return {};
}

}  // namespace intarsia::cuda
