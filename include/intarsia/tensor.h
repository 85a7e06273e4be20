// SPDX-License-Identifier: Apache-2.0
//
// `TensorView`: where a tensor's elements lie, and how many there are.
//
// A view owns nothing. Elements are dense and row-major (last axis fastest) unless an operator's
// attributes say otherwise. Extents are 32-bit: no axis exceeds 2^31 - 1, though a tensor's element
// count may. The rank is at most kMaxRank. A view obtained from a session stays valid until the
// session is closed; what lies behind it is the session's to overwrite during `run`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "intarsia/types.h"

namespace intarsia {

/// Largest rank of a tensor.
inline constexpr int kMaxRank = 8;

/// Most elements of a tensor; of one with an extent of 0, the product of its other extents. So
/// products of some extents of one tensor fit 64 bits, with room for a few bytes per element.
inline constexpr int64_t kMaxElements = int64_t{1} << 42;

/// Elements of a tensor, with type and extents. Copying a view copies no elements.
///
/// Whoever hands out a view says whether it may be written through: the type does not, since
/// kernels see inputs and outputs in one array. Session::input gives a writable span,
/// Session::output a constant one.
struct TensorView {
  /// First element; null for an absent optional operand, and while only extents are known.
  void* data = nullptr;
  /// `rank` extents, each >= 0; null only when the rank is 0.
  const int32_t* extents = nullptr;
  DataType type = DataType::kUndefined;
  uint8_t rank = 0;

  /// False for an optional operand that the model leaves out.
  bool present() const { return type != DataType::kUndefined; }

  /// The extents as a range. Valid as long as what `extents` points to.
  std::span<const int32_t> dims() const { return {extents, rank}; }

  /// Number of elements: the product of the extents, 1 for rank 0.
  int64_t count() const {
    int64_t product = 1;
    for (int axis = 0; axis < rank; ++axis) product *= extents[axis];
    return product;
  }

  /// Bytes that the elements occupy at these extents.
  int64_t bytes() const { return byte_size(type, count()); }

  /// First element as T. REQUIRES: T has the element type's size; kernels know it from their key.
  template <class T>
  T* as() const {
    return static_cast<T*>(data);
  }
};

}  // namespace intarsia
