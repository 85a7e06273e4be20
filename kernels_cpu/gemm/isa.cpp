// SPDX-License-Identifier: Apache-2.0
//
// detect_isa: asks the processor (cpuid) and what the operating system saves (xgetbv). Bits are
// from the Intel 64 manual, volume 2, CPUID, leaves 1 and 7, and volume 1, 13.3 (XCR0).
#include "kernels_cpu/gemm/isa.h"

#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace intarsia {
namespace {

#if defined(__x86_64__)
constexpr uint32_t bit(int index) {
  return uint32_t{1} << index;
}

constexpr bool all(uint32_t value, uint32_t wanted) {
  return (value & wanted) == wanted;
}

// Register state that the operating system restores: bits 1, 2 are SSE and AVX, 5 to 7 AVX-512.
uint32_t enabled_state() {
  uint32_t low = 0;
  uint32_t high = 0;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}
#endif

}  // namespace

Isa detect_isa() {
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return Isa::kPortable;
  constexpr uint32_t kFma = bit(12), kOsxsave = bit(27), kAvx = bit(28), kF16c = bit(29);
  if (!all(c, kFma | kOsxsave | kAvx | kF16c)) return Isa::kPortable;
  const uint32_t state = enabled_state();
  if (!all(state, bit(1) | bit(2))) return Isa::kPortable;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d)) return Isa::kPortable;
  constexpr uint32_t kBmi1 = bit(3), kAvx2 = bit(5), kBmi2 = bit(8);
  if (!all(b, kBmi1 | kAvx2 | kBmi2)) return Isa::kPortable;
  constexpr uint32_t kF = bit(16), kDq = bit(17), kCd = bit(28), kBw = bit(30), kVl = bit(31);
  if (!all(b, kF | kDq | kCd | kBw | kVl)) return Isa::kAvx2;
  if (!all(state, bit(5) | bit(6) | bit(7))) return Isa::kAvx2;
  return Isa::kAvx512;
#elif defined(__aarch64__)
  return Isa::kNeon;
#else
  return Isa::kPortable;
#endif
}

}  // namespace intarsia
