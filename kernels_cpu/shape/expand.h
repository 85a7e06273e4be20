// SPDX-License-Identifier: Apache-2.0
//
// Expand (an axis of extent 1 is repeated) and Tile (the whole tensor is repeated along each axis).
//
// How often an axis is repeated follows from the extents of input and output alone; the second
// input was read by the shape function. The output does not overlap the input.
#pragma once

#include "intarsia/kernel.h"
#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

template <class W>
struct Expand {
  static constexpr KernelId id{"Expand", "", {kernel_type_of<W>}};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

template <class W>
struct TileTensor {
  static constexpr KernelId id{"Tile", "", {kernel_type_of<W>}};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

}  // namespace intarsia::cpu
