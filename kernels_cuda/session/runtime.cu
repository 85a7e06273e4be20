// SPDX-License-Identifier: Apache-2.0
//
// kernels_cuda/session/runtime.h over the CUDA runtime.
#include "kernels_cuda/session/runtime.h"

#include <cuda_runtime.h>

namespace intarsia::cuda::runtime {
namespace {

cudaStream_t of(void* stream) {
  return static_cast<cudaStream_t>(stream);
}

}  // namespace

int copy(void* to, const void* from, size_t bytes, Copy kind, void* stream) {
  const cudaMemcpyKind direction = kind == Copy::kToDevice ? cudaMemcpyHostToDevice
                                   : kind == Copy::kToHost ? cudaMemcpyDeviceToHost
                                                           : cudaMemcpyDeviceToDevice;
  return cudaMemcpyAsync(to, from, bytes, direction, of(stream));
}

int fill(void* device, int byte, size_t bytes, void* stream) {
  return cudaMemsetAsync(device, byte, bytes, of(stream));
}

int synchronize(void* stream) {
  return cudaStreamSynchronize(of(stream));
}

int begin_capture(void* stream) {
  return cudaStreamBeginCapture(of(stream), cudaStreamCaptureModeThreadLocal);
}

int end_capture(void* stream, void** graph) {
  cudaGraph_t recorded = nullptr;
  if (const cudaError_t error = cudaStreamEndCapture(of(stream), &recorded); error != cudaSuccess) {
    return error;
  }
  cudaGraphExec_t made = nullptr;
  const cudaError_t error = cudaGraphInstantiate(&made, recorded, 0);
  cudaGraphDestroy(recorded);
  *graph = made;
  return error;
}

int launch(void* graph, void* stream) {
  return cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph), of(stream));
}

void destroy(void* graph) {
  cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph));
}

int pin(void* memory, size_t bytes) {
  const cudaError_t error = cudaHostRegister(memory, bytes, cudaHostRegisterDefault);
  if (error != cudaSuccess) cudaGetLastError();  // it is returned, and not to be found again
  return error;
}

void unpin(void* memory) {
  cudaHostUnregister(memory);
}

const char* error_text(int error) {
  return cudaGetErrorString(static_cast<cudaError_t>(error));
}

}  // namespace intarsia::cuda::runtime
