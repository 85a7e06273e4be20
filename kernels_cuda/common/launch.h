// SPDX-License-Identifier: Apache-2.0
//
// What the `run` of a CUDA kernel shares: the session's stream, operands as device arrays, the
// extents of a grid, and errors of CUDA as a Status.
#pragma once

#include "core/runtime/device.h"
#include "intarsia/kernel.h"
#include "kernels_cuda/common/device.h"
#include "kernels_cuda/session/runtime.h"

namespace intarsia::cuda {

inline const Device& device_of(const KernelContext& context) {
  return *static_cast<const Device*>(context.service(kDeviceService));
}
inline void* stream_of(const KernelContext& context) {
  return device_of(context).queue;
}

/// An operand as its kernel reads it; not `present` if the operand is absent.
template <class T>
Global<const T> elements(const TensorView& view) {
  return {view.as<const T>(), view.present() ? view.count() : 0};
}
template <class T>
Global<T> writable(const TensorView& view) {
  return {view.as<T>(), view.count()};
}

/// What `launch` returned, or another call of the runtime, as this node's Status.
inline Status launched(const KernelContext& context, int error) {
  return runtime::status_of(error, context.host_->diagnostic, context.node());
}

inline constexpr unsigned kThreads = 256;

constexpr int64_t blocks_of(int64_t count, int64_t per_block) {
  return (count + per_block - 1) / per_block;
}
/// Blocks for `count` elements that threads take in turns of the grid's size.
constexpr unsigned grid_for(int64_t count) {
  const int64_t blocks = blocks_of(count, kThreads);
  return static_cast<unsigned>(blocks < kMostBlocks ? blocks : kMostBlocks);
}
/// The running thread's first element, and the distance to its next one.
INTARSIA_DEVICE int64_t first_element() {
  return static_cast<int64_t>(block_x()) * block_size() + thread_x();
}
INTARSIA_DEVICE int64_t element_step() {
  return static_cast<int64_t>(grid_size()) * block_size();
}

}  // namespace intarsia::cuda
