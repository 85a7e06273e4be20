// SPDX-License-Identifier: Apache-2.0
//
// Explicit instantiation of kernels that move elements, for every width. C++ has no list of types
// to iterate over in an explicit instantiation, hence the macros.
#pragma once

#include "kernels_cpu/common/kernel_types.h"

#define INTARSIA_FOR_WIDTHS(Kernel)  \
  template struct Kernel<Width<8>>;  \
  template struct Kernel<Width<16>>; \
  template struct Kernel<Width<32>>; \
  template struct Kernel<Width<64>>; \
  template struct Kernel<Width<128>>

#define INTARSIA_FOR_WIDTHS_AND_INDICES(Kernel) \
  template struct Kernel<Width<8>, int32_t>;    \
  template struct Kernel<Width<16>, int32_t>;   \
  template struct Kernel<Width<32>, int32_t>;   \
  template struct Kernel<Width<64>, int32_t>;   \
  template struct Kernel<Width<128>, int32_t>;  \
  template struct Kernel<Width<8>, int64_t>;    \
  template struct Kernel<Width<16>, int64_t>;   \
  template struct Kernel<Width<32>, int64_t>;   \
  template struct Kernel<Width<64>, int64_t>;   \
  template struct Kernel<Width<128>, int64_t>
