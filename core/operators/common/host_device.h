// SPDX-License-Identifier: Apache-2.0
//
// Marks the scalar functions that kernels of the CPU and device code of CUDA share.
#pragma once

#ifdef __CUDACC__
#define INTARSIA_HOST_DEVICE __host__ __device__
#else
#define INTARSIA_HOST_DEVICE
#endif

namespace intarsia {

/// What float is computed in where a formula magnifies the rounding of its argument. Most CUDA
/// devices have few units for double.
#ifdef __CUDA_ARCH__
using Precise = float;
#else
using Precise = double;
#endif

}  // namespace intarsia
