// SPDX-License-Identifier: Apache-2.0
//
// Extents that a shape rule cannot tell. Over symbolic extents each is an unknown of its own, equal
// to no other; at run time, where extents are numbers, it is the bound that memory was planned for.
#pragma once

#include <cstdint>
#include <type_traits>

namespace intarsia::ops {

/// An extent between 0 and `bound` that shape rules cannot tell. At run time it is the bound, until
/// the kernel resizes the output.
template <class Dim>
Dim at_most(const Dim& bound) {
  if constexpr (std::is_same_v<Dim, int64_t>) {
    return bound;
  } else {
    return dim_min(bound, Dim::unknown(0));
  }
}

/// An extent that nothing is known of; the run always knows.
template <class Dim>
Dim any_extent() {
  if constexpr (std::is_same_v<Dim, int64_t>) {
    return 0;
  } else {
    return Dim::unknown(0);
  }
}

}  // namespace intarsia::ops
