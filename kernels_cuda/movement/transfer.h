// SPDX-License-Identifier: Apache-2.0
//
// The copies between the memories of host and device, which the converter plans as nodes. They are
// queued on the session's stream; the session waits for it before the host reads.
#pragma once

#include "core/runtime/device.h"
#include "kernels_cuda/movement/movement.h"

namespace intarsia::cuda {

struct ToDevice : DeviceKernel {
  static constexpr KernelId id = kToDevice;
  static Status check(const KernelContext& context) { return check_copy(context); }
  static Status run(const KernelContext& context);
};

struct ToHost : DeviceKernel {
  static constexpr KernelId id = kToHost;
  static Status check(const KernelContext& context) { return check_copy(context); }
  static Status run(const KernelContext& context);
};

using TransferKernels = ListOf<ToDevice, ToHost>;

}  // namespace intarsia::cuda
