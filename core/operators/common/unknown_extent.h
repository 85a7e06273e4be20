// SPDX-License-Identifier: Apache-2.0
//
// Extents that a shape rule cannot tell. Over symbolic extents each is an unknown of its own, equal
// to no other; at run time, where extents are numbers, it is the bound that memory was planned for.
#pragma once

namespace intarsia::ops {

/// True for symbolic extents, false at run time.
template <class Dim>
inline constexpr bool has_unknown_extents = requires {
  Dim::unknown(0);
};

/// An extent between 0 and `bound` that shape rules cannot tell. At run time it is the bound, until
/// the kernel resizes the output.
template <class Dim>
Dim at_most(const Dim& bound) {
  if constexpr (has_unknown_extents<Dim>) {
    return dim_min(bound, Dim::unknown(0));
  } else {
    return bound;
  }
}

/// An extent that nothing is known of; the run always knows.
template <class Dim>
Dim any_extent() {
  if constexpr (has_unknown_extents<Dim>) {
    return Dim::unknown(0);
  } else {
    return {};
  }
}

}  // namespace intarsia::ops
