// SPDX-License-Identifier: Apache-2.0
//
// Elements one after another, each several times: rows that stand still under a broadcast, and
// enlarged images.
#pragma once

#include <cstddef>
#include <cstdint>

namespace intarsia::cpu {

/// to[i * times + k] = from[i] for i < count, k < times, elements of 1, 2, 4, 8 or 16 bytes. The
/// memories do not overlap.
void repeat_each(void* to, const void* from, int64_t count, int64_t times, size_t element_bytes);

}  // namespace intarsia::cpu
