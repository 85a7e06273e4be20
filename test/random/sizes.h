// SPDX-License-Identifier: Apache-2.0
//
// How large what random models are made of may be.
#pragma once

#include <cstdint>
#include <initializer_list>

namespace intarsia::test {

struct Sizes {
  /// Elements of a drawn tensor, unless its role asks for another number.
  int64_t least, most;
  /// Elements of a tensor that is drawn for another, and of a result, at most.
  int64_t drawn, results;
  /// The longest axis that is made because a shape rule asks for it.
  int64_t longest;
  /// What extents, channels of weights, and attributes without an upper limit are picked from.
  /// Empty: mostly 2 to 5 and the like.
  std::initializer_list<int64_t> extents, channels, numbers;
  /// Whether the reference kernels compute the results, which is slow where they are large.
  bool executed;
};

/// Those of models that are executed again and again, with every pass.
inline constexpr Sizes kSmallSizes{0, 1500, 1 << 20, 3000, 512, {}, {}, {}, true};

/// Those of the smallest files that still have an operator in them.
inline constexpr Sizes kTinySizes{1, 60, 4096, 1000, 64, {}, {}, {}, false};

/// Those of operators in real models: odd and even, powers of two and their neighbours.
inline constexpr int64_t kOrdinaryLeast = 1 << 14;
inline constexpr Sizes kOrdinarySizes{
    kOrdinaryLeast,
    1 << 20,
    1 << 21,
    1 << 22,
    1 << 20,
    {1,   2,   3,   4,   5,   7,   8,   12,  13,  16,  17,  20,  24,   28,  31,
     32,  33,  45,  48,  56,  63,  64,  65,  80,  96,  100, 112, 127,  128, 129,
     160, 192, 200, 224, 255, 256, 257, 320, 384, 512, 513, 768, 1000, 1024},
    {1, 3, 8, 16, 20, 24, 32, 48, 64, 96, 100, 128},
    {15, 16, 31, 32, 63, 64, 99, 127},
    false};

}  // namespace intarsia::test
