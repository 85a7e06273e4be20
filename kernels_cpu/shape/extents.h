// SPDX-License-Identifier: Apache-2.0
//
// Shape and Size: extents as int64 elements. Nothing of the input but its extents is read, so one
// kernel serves every element type.
#pragma once

#include "intarsia/kernel.h"

namespace intarsia::cpu {

struct ShapeOf {
  static constexpr KernelId id{"Shape", "", {}};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

struct Size {
  static constexpr KernelId id{"Size", "", {}};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

}  // namespace intarsia::cpu
