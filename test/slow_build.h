// SPDX-License-Identifier: Apache-2.0
//
// Whether tests take ten times as long in this build as in others: with AddressSanitizer, where
// they are not optimised, and for other processors, where they run in an emulator. They look for
// other mistakes there, so tests of many like cases take a part of them.
#pragma once

namespace intarsia::test {

#if defined(INTARSIA_EMULATED)
inline constexpr bool kEmulated = true;
#else
inline constexpr bool kEmulated = false;
#endif
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kSlowBuild = true;
#else
inline constexpr bool kSlowBuild = kEmulated;
#endif

/// How many of so many cases are tried.
constexpr int part_of(int count) {
  return kSlowBuild ? (count + 4) / 5 : count;
}

/// Chooses which of the cases that nested loops make are tried: all, or in a slow build the first
/// and each `every`-th that follows. A number that divides none of the loops' meets all of their
/// values.
class Part {
 public:
  explicit constexpr Part(int every) : every_(kSlowBuild ? every : 1) {}

  /// Whether the next case is tried.
  constexpr bool takes() { return count_++ % every_ == 0; }

 private:
  int every_, count_ = 0;
};

}  // namespace intarsia::test
