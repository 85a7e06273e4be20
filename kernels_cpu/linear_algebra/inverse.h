// SPDX-License-Identifier: Apache-2.0
//
// com.microsoft::Inverse: the inverses of square matrices, by elimination with partial pivoting.
// float16 is computed in float. The first of equal candidates is the pivot; products are rounded
// before they are subtracted, so that every device meets the same pivots. What becomes of a
// singular matrix is an option of the session (intarsia/services.h). Work units are matrices.
#pragma once

#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

template <class T>
struct Inverse {
  static constexpr KernelId id{"com.microsoft:Inverse", "", {kernel_type_of<T>}};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
  static int64_t workspace(const KernelContext& context);
};

}  // namespace intarsia::cpu
