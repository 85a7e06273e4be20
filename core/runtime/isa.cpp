// SPDX-License-Identifier: Apache-2.0
#include "intarsia/isa.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace intarsia {
namespace {

#if defined(__x86_64__)
// Linux lets a process use the tiles only after it has asked (arch_prctl, ARCH_REQ_XCOMP_PERM of
// XFEATURE_XTILEDATA), since what they hold makes the frames of signals larger. It refuses where
// it does not save them, or where the memory that a thread set aside for signals is too small.
bool may_use_tiles() {
#if defined(__linux__)
  constexpr int64_t kArchPrctl = 158, kRequest = 0x1023, kTileData = 18;
  int64_t result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(kArchPrctl), "D"(kRequest), "S"(kTileData)
                   : "rcx", "r11", "memory");
  return result == 0;
#else
  return false;
#endif
}
#endif

}  // namespace

Isa detect_isa() {
#if defined(__x86_64__)
  unsigned a, b, c, d;
  __cpuid(1, a, b, c, d);  // which all processors of this architecture answer
  constexpr unsigned kFma = 1u << 12, kOsxsave = 1u << 27, kAvx = 1u << 28, kF16c = 1u << 29;
  constexpr unsigned kBase = kFma | kOsxsave | kAvx | kF16c;
  if ((c & kBase) != kBase) return Isa::kPortable;
  unsigned low, high;  // which register states the operating system saves
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  constexpr unsigned kYmm = 0x6, kZmm = 0xe6;
  if ((low & kYmm) != kYmm) return Isa::kPortable;
  __cpuid_count(7, 0, a, b, c, d);  // leaf 13, of xsave, is there
  constexpr unsigned kAvx2 = 1u << 5;
  if ((b & kAvx2) == 0) return Isa::kPortable;
  constexpr unsigned kF = 1u << 16, kDq = 1u << 17, kCd = 1u << 28, kBw = 1u << 30, kVl = 1u << 31;
  constexpr unsigned kLevel4 = kF | kDq | kCd | kBw | kVl;
  if ((low & kZmm) != kZmm || (b & kLevel4) != kLevel4) return Isa::kAvx2;
  constexpr unsigned kVnni = 1u << 11, kVbmi = 1u << 1, kAmxInt8 = 1u << 25;
  if ((c & kVnni) == 0) return Isa::kAvx512;
  const bool has_amx = (c & kVbmi) != 0 && (d & kAmxInt8) != 0;
  return has_amx && may_use_tiles() ? Isa::kAmx : Isa::kAvx512Vnni;
#elif defined(__aarch64__)
  return Isa::kNeon;
#else
  return Isa::kPortable;
#endif
}

}  // namespace intarsia
