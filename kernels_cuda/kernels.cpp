// SPDX-License-Identifier: Apache-2.0
#include "kernels_cuda/kernels.h"

namespace intarsia::cuda {

KernelList kernel_list() {
  return apart_list<AllKernels>();
}

}  // namespace intarsia::cuda
