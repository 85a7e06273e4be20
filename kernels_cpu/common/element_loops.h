// SPDX-License-Identifier: Apache-2.0
//
// The loops of strided_copy.cpp that depend on the size of an element. What walks around them takes
// bytes and is there once, for programs copy elements of several sizes.
#pragma once

#include <cstdint>

#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/common/transpose_panel.h"

namespace intarsia::cpu {

struct ElementLoops {
  int64_t size;
  /// Elements of the innermost axis that are adjacent in neither tensor, or only in one.
  void (*scatter)(int64_t count, void* to, int64_t out_stride, const void* from, int64_t in_stride);
  void (*transpose)(Isa isa, const Panel& panel, void* to, const void* from);
  /// Neighbours in the output from `places` of the input.
  void (*gather)(int64_t count, void* to, const void* from, const int64_t* places);
};

template <class E>
void scatter_elements(int64_t count, void* to, int64_t out_stride, const void* from,
                      int64_t in_stride) {
  auto* out = static_cast<E*>(to);
  const auto* in = static_cast<const E*>(from);
  if (out_stride == 1 && in_stride == 0) {
    for (int64_t i = 0; i < count; ++i) out[i] = *in;
  } else if (out_stride == 1 && in_stride == -1) {
    for (int64_t i = 0; i < count; ++i) out[i] = in[-i];
  } else {
    for (int64_t i = 0; i < count; ++i) out[i * out_stride] = in[i * in_stride];
  }
}

template <class E>
void transpose_elements([[maybe_unused]] Isa isa, const Panel& given, void* to, const void* from) {
  const Panel panel = given;  // not what stores of bytes might change
  auto* out = static_cast<E*>(to);
  const auto* in = static_cast<const E*>(from);
  if constexpr (sizeof(E) <= 2) {  // shuffles of bytes came late
    on_isa(isa, [=] { transpose_panel(panel, out, in); });
  } else {
    transpose_panel(panel, out, in);
  }
}

template <class E>
void gather_elements(int64_t count, void* to, const void* from, const int64_t* places) {
  auto* __restrict out = static_cast<E*>(to);
  const auto* __restrict in = static_cast<const E*>(from);
  for (int64_t i = 0; i < count; ++i) out[i] = in[places[i]];
}

template <class E>
inline constexpr ElementLoops kLoops{sizeof(E), scatter_elements<E>, transpose_elements<E>,
                                     gather_elements<E>};

}  // namespace intarsia::cpu
