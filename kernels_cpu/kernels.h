// SPDX-License-Identifier: Apache-2.0
//
// Every CPU kernel, for tools and tests. Programs name the kernels of their plans (LinkedKernel).
#pragma once

#include "core/kernel_descriptor.h"

namespace intarsia::cpu {

/// The lists at the end of the kernels' sources. Constant data.
std::span<const KernelList* const> kernel_lists();

}  // namespace intarsia::cpu
