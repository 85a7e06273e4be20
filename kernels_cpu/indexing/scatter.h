// SPDX-License-Identifier: Apache-2.0
//
// Operators that write at indices (negative ones count from the back); the rest of the output is
// the input's:
//   ScatterElements   y[p with the coordinate of the axis replaced by indices[p]] = updates[p]
//   ScatterND         y[indices[j..., :], i...] = updates[j..., i...]
// Updates are made one after the other, so that of two at one position the last one counts. With a
// reduction the element becomes its sum with the update, or product, maximum, minimum: integers
// wrap around, NaN prevails. The plain kernels take a Width, the `...Reduce` ones an element type.
// The output may be input 0. An index out of range is reported before anything is written.
// https://onnx.ai/onnx/operators/onnx__ScatterElements.html and onnx__ScatterND.html
#pragma once

#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

template <class T, class I>
struct ScatterElements {
  static constexpr KernelId id{"ScatterElements", "", {kernel_type_of<T>, kernel_type_of<I>}};
  static constexpr InPlace in_place{0};
  static bool supports(const KernelContext& context);
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

template <class T, class I>
struct ScatterElementsReduce {
  static constexpr KernelId id{"ScatterElements", "reduce", {kernel_type_of<T>, kernel_type_of<I>}};
  static constexpr int cost = kReferenceCost;
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

/// Indices are int64.
template <class T>
struct ScatterND {
  static constexpr KernelId id{"ScatterND", "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{0};
  static bool supports(const KernelContext& context);
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

template <class T>
struct ScatterNDReduce {
  static constexpr KernelId id{"ScatterND", "reduce", {kernel_type_of<T>}};
  static constexpr int cost = kReferenceCost;
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

}  // namespace intarsia::cpu
