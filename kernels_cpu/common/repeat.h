// SPDX-License-Identifier: Apache-2.0
//
// Elements one after another, each several times: rows that stand still under a broadcast, and
// enlarged images.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace intarsia::cpu {

/// to[i * times + k] = from[i] for i < count, k < times, elements of 1, 2, 4, 8 or 16 bytes. The
/// memories do not overlap.
void repeat_each(void* to, const void* from, int64_t count, int64_t times, size_t element_bytes);

/// Repeats the first `row` bytes until there are `bytes`. REQUIRES: 0 < row.
inline void repeat_row(void* to, int64_t row, int64_t bytes) {
  auto* const all = static_cast<std::byte*>(to);
  for (int64_t done = row; done < bytes; done *= 2) {
    const int64_t rest = bytes - done;
    std::memcpy(all + done, all, static_cast<size_t>(rest < done ? rest : done));
  }
}

}  // namespace intarsia::cpu
