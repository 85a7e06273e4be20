// SPDX-License-Identifier: Apache-2.0
//
// What every element-wise operator declares. One struct serves the kernels of every device:
//
//     struct EluOp : Elementwise<AlphaAttributes> {
//       static constexpr std::string_view name = "Elu";
//       template <class V>
//       INTARSIA_HOST_DEVICE static V apply(V x, const AlphaAttributes& attributes) { ... }
//     };
//
// Operators of two inputs have `apply(x, y, attributes)`. V is what elements are computed in: the
// element type, and float for 16-bit floating-point types. What else can be wrong with a node's
// attributes and extents is found by `static Status check(const KernelContext&)`, where there is
// one. An entry in operators.h makes the operator's kernels.
#pragma once

#include <string_view>

#include "core/operators/common/host_device.h"
#include "core/operators/elementwise/elementwise.h"

namespace intarsia {

template <class A = NoAttributes>
struct Elementwise {
  using Attributes = A;
  /// The element type of the result for inputs of type T.
  template <class T>
  using Result = T;
  /// Whether 0 as an integer second input is an error.
  static constexpr bool divides = false;
};

template <class A = NoAttributes>
struct Predicate : Elementwise<A> {
  template <class T>
  using Result = bool;
};

}  // namespace intarsia
