// SPDX-License-Identifier: Apache-2.0
//
// Normalisations without parameters, along any axes:
//
//     LpNormalization            Y = X / norm_p(X along axis), 0 where the norm is 0
//     MeanVarianceNormalization  Y = (X - mean) / (deviation + 1e-9) over `axes`
//
// Sums are in double. Y may be the same memory as X.
#pragma once

#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

template <class T>
struct LpNormalization {
  static constexpr KernelId id{"LpNormalization", "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

template <class T>
struct MeanVarianceNormalization {
  static constexpr KernelId id{"MeanVarianceNormalization", "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

}  // namespace intarsia::cpu
