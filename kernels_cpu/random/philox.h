// SPDX-License-Identifier: Apache-2.0
//
// Philox4x32-10: 128 bits of a counter and 64 of a key to four random words, by ten rounds of
// products. Integer arithmetic alone: the same words on every target.
// J. K. Salmon, M. A. Moraes, R. O. Dror and D. E. Shaw, "Parallel Random Numbers: As Easy as 1, 2,
// 3", SC 2011.
#pragma once

#include <cstdint>

#include "kernels_cpu/common/unrolled.h"

namespace intarsia::cpu {

struct PhiloxCounter {
  uint32_t words[4];
};

/// The four words of one counter.
inline PhiloxCounter philox(PhiloxCounter counter, uint64_t key) {
  constexpr uint64_t kFactors[] = {0xd2511f53u, 0xcd9e8d57u};
  constexpr uint32_t kSteps[] = {0x9e3779b9u, 0xbb67ae85u};  // golden ratio, root of 3
  uint32_t low = static_cast<uint32_t>(key), high = static_cast<uint32_t>(key >> 32);
  uint32_t a = counter.words[0], b = counter.words[1], c = counter.words[2], d = counter.words[3];
  INTARSIA_UNROLLED
  for (int round = 0; round < 10; ++round) {
    const uint64_t first = kFactors[0] * a, second = kFactors[1] * c;
    a = static_cast<uint32_t>(second >> 32) ^ b ^ low;
    b = static_cast<uint32_t>(second);
    c = static_cast<uint32_t>(first >> 32) ^ d ^ high;
    d = static_cast<uint32_t>(first);
    low += kSteps[0];
    high += kSteps[1];
  }
  return {{a, b, c, d}};
}

}  // namespace intarsia::cpu
