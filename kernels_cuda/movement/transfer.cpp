// SPDX-License-Identifier: Apache-2.0
#include "kernels_cuda/movement/transfer.h"

#include "core/kernel_list.h"
#include "kernels_cuda/session/runtime.h"

namespace intarsia::cuda {
namespace {

Status copy(const KernelContext& context, runtime::Copy kind) {
  const TensorView& x = context.input(0);
  if (x.count() == 0) return {};
  const auto* device = static_cast<const Device*>(context.service(kDeviceService));
  const int error = runtime::copy(context.output(0).data, x.data, static_cast<size_t>(x.bytes()),
                                  kind, device->queue);
  return runtime::status_of(error, context.host_->diagnostic, context.node());
}

}  // namespace

Status ToDevice::run(const KernelContext& context) {
  return copy(context, runtime::Copy::kToDevice);
}

Status ToHost::run(const KernelContext& context) {
  return copy(context, runtime::Copy::kToHost);
}

extern const KernelList transfer_kernels;
constinit const KernelList transfer_kernels = kernel_list<TransferKernels>();

}  // namespace intarsia::cuda
