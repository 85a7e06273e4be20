// SPDX-License-Identifier: Apache-2.0
//
// Waiting without the operating system.
#pragma once

namespace intarsia {

/// Tells the processor that this is a loop which waits.
inline void relax() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__) || (defined(__arm__) && defined(__linux__))
  __asm__ volatile("yield");
#endif
}

}  // namespace intarsia
