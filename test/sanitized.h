// SPDX-License-Identifier: Apache-2.0
//
// Whether this is a build with AddressSanitizer. Unoptimised ones take twenty times as long and
// look for other mistakes: tests of many like cases take a part of them there.
#pragma once

namespace intarsia::test {

#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

/// How many of so many cases are tried.
constexpr int part_of(int count) {
  return kSanitized ? (count + 4) / 5 : count;
}

}  // namespace intarsia::test
