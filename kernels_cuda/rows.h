// SPDX-License-Identifier: Apache-2.0
//
// The list of CUDA kernels as the converter sees them: descriptors whose `run` is null, since it
// is device code. Compiles and links without CUDA.
#pragma once

#include "core/definitions/kernel_descriptor.h"

namespace intarsia::cuda {

/// Every CUDA kernel, in order of preference.
const definitions::KernelRows& kernel_rows();

}  // namespace intarsia::cuda
