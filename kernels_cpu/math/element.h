// SPDX-License-Identifier: Apache-2.0
//
// How element-wise kernels read, compute and write elements of type T.
//
// `Stored` is what lies in memory, `Value` what is computed with: 16-bit floating-point types
// compute in float; a bool is stored as a byte, of which any value but 0 reads as true, since the
// bytes may come from outside the program. Integer arithmetic wraps around
// (core/operators/common/integers.h).
#pragma once

#include <cstdint>

#include "core/operators/common/integers.h"
#include "intarsia/types.h"

// Before a loop over elements: no iteration depends on another, although input and output may be
// the same memory.
#if defined(__clang__)
#define INTARSIA_INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define INTARSIA_INDEPENDENT _Pragma("GCC ivdep")
#else
#define INTARSIA_INDEPENDENT
#endif

namespace intarsia::cpu {

template <class T>
struct Element {
  using Stored = T;
  using Value = T;
  static Value load(Stored stored) { return stored; }
  static Stored store(Value value) { return value; }
};
template <>
struct Element<bool> {
  using Stored = uint8_t;
  using Value = bool;
  static Value load(Stored stored) { return stored != 0; }
  static Stored store(Value value) { return value ? 1 : 0; }
};
template <>
struct Element<Float16> {
  using Stored = Float16;
  using Value = float;
  static Value load(Stored stored) { return static_cast<float>(stored); }
  static Stored store(Value value) { return Float16(value); }
};
template <>
struct Element<BFloat16> {
  using Stored = BFloat16;
  using Value = float;
  static Value load(Stored stored) { return static_cast<float>(stored); }
  static Stored store(Value value) { return BFloat16(value); }
};

}  // namespace intarsia::cpu
