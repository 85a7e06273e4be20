// SPDX-License-Identifier: Apache-2.0
//
// Operators that make elements from few: ConstantOfShape (one value everywhere), Range
// (start + i*delta), EyeLike (1 on a diagonal, 0 elsewhere).
//
// Elements of 16-bit reals are computed in float and rounded once.
#pragma once

#include "intarsia/kernel.h"
#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

template <class W>
struct ConstantOfShape {
  static constexpr KernelId id{"ConstantOfShape", "", {kernel_type_of<W>}};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

template <class T>
struct Range {
  static constexpr KernelId id{"Range", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

template <class T>
struct EyeLike {
  static constexpr KernelId id{"EyeLike", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

}  // namespace intarsia::cpu
