// SPDX-License-Identifier: Apache-2.0
//
// Copies into a dense output from an input whose axes lie at arbitrary strides: what is behind
// Transpose, Slice, Expand, Tile, DepthToSpace and SpaceToDepth.
//
//     y[i] = x[start + sum index_a(i) * stride_a]
//
// Strides are in elements, and may be negative or 0. Axes are added from the outermost to the
// innermost of the output. Elements are bytes: what counts is how many of them move at once.
#pragma once

#include <initializer_list>

#include "intarsia/kernel.h"
#include "kernels_cuda/common/strided.h"

namespace intarsia::cuda {

/// As many axes as Tile has: two for each of its input's.
using CopyAxes = StridedAxes<1, 2 * kMaxRank>;

/// Launches the copy from input 0 to output 0. `start` is an element's number.
Status strided_copy(const KernelContext& context, const CopyAxes& axes, int64_t start = 0);

/// The distances of a dense tensor's neighbours along each axis.
inline void dense_strides(const TensorView& view, int64_t (&strides)[kMaxRank]) {
  int64_t stride = 1;
  for (int axis = view.rank - 1; axis >= 0; --axis) {
    strides[axis] = stride;
    stride *= view.extents[axis];
  }
}

/// Calls `body(T())` for the unsigned integer of so many bytes, at most 8.
template <class Body>
auto with_element(int64_t bytes, const Body& body) {
  switch (bytes) {
    case 1:
      return body(uint8_t());
    case 2:
      return body(uint16_t());
    case 4:
      return body(uint32_t());
    default:
      return body(uint64_t());
  }
}
/// Calls `body(T())` for the type that moves so many bytes at once, at most 16.
template <class Body>
auto with_word(int64_t bytes, const Body& body) {
  return bytes == 16 ? body(Pack<uint64_t, 2>()) : with_element(bytes, body);
}

/// The most bytes, 16 and a power of two, that divide all of these: places, extents and distances
/// in bytes. REQUIRES: `least`, an element's bytes, divides them.
inline int64_t word_of(int64_t least, std::initializer_list<int64_t> numbers) {
  int64_t word = 16;
  for (const int64_t number : numbers) {
    while (word > least && number % word != 0) word /= 2;
  }
  return word;
}
inline int64_t address_of(const TensorView& view) {
  return static_cast<int64_t>(reinterpret_cast<uintptr_t>(view.data));
}

/// An operand as words, from its first one on.
template <class Word>
Global<Word> words(const TensorView& view) {
  return {static_cast<Word*>(view.data), view.bytes() / static_cast<int64_t>(sizeof(Word))};
}

}  // namespace intarsia::cuda
