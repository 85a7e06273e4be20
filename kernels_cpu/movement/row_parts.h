// SPDX-License-Identifier: Apache-2.0
//
// Rows of one tensor whose parts are rows of others, as Concat and Split have them: rows of a block
// that stays in a cache are copied with all their parts, since a line may belong to two of them and
// would else be fetched, and written, for each.
#pragma once

#include "kernels_cpu/common/strided_copy.h"

namespace intarsia::cpu {

/// Calls copy(row, row_bytes, own, own_bytes, rows) for blocks of the rows of each of `parts`
/// tensors: `row`: where its bytes of the first row lie in `whole`; `own`: where in part_at(i),
/// which is a TensorView. False, and nothing is done, if `rows` is 1 or some part is missing, or is
/// too short or too long for that to be worth it.
template <class PartAt, class Copy>
bool copy_row_parts(const KernelContext& context, const TensorView& whole, int64_t rows, int parts,
                    const PartAt& part_at, const Copy& copy) {
  constexpr int64_t kLeast = 16, kMost = 2048, kBlockBytes = 8192;
  if (!INTARSIA_HAS_VECTORS || rows <= 1) return false;
  for (int i = 0; i < parts; ++i) {
    const TensorView& part = part_at(i);
    if (!part.present()) return false;
    const int64_t bytes = part.bytes() / rows;
    if (bytes < kLeast || bytes >= kMost) return false;
  }
  const int64_t row_bytes = whole.bytes() / rows;
  const int64_t block = row_bytes < kBlockBytes ? kBlockBytes / row_bytes : 1;
  for_items(context, rows, row_bytes, [&](int64_t begin, int64_t end) {
    for (int64_t first = begin, count; first < end; first += count) {
      count = end - first < block ? end - first : block;
      std::byte* row = whole.as<std::byte>() + first * row_bytes;
      for (int i = 0; i < parts; ++i) {
        const TensorView& part = part_at(i);
        const int64_t bytes = part.bytes() / rows;
        copy(row, row_bytes, part.as<std::byte>() + first * bytes, bytes, count);
        row += bytes;
      }
    }
  });
  return true;
}

}  // namespace intarsia::cpu
