// SPDX-License-Identifier: Apache-2.0
//
// The command's calls of the CUDA runtime, all of them.
#include "converter/tool/device/memory.h"

#include <cuda_runtime.h>
#include <fmt/format.h>

#include "converter/graph/error.h"

namespace intarsia::tool {
namespace {

void expect(cudaError_t error, const std::string& what, const std::string& advice = "") {
  if (error == cudaSuccess) return;
  throw converter::Error(fmt::format("{}: CUDA error {}: {}", what, static_cast<int>(error),
                                     cudaGetErrorString(error)),
                         advice);
}

std::span<std::byte> allocate(size_t bytes, const char* what) {
  if (bytes == 0) return {};
  void* data = nullptr;
  expect(cudaMalloc(&data, bytes),
         fmt::format("{} bytes of the device's memory for {}", bytes, what));
  return {static_cast<std::byte*>(data), bytes};
}

}  // namespace

DeviceMemory::DeviceMemory(size_t arena_bytes, size_t weights_bytes) {
  int devices = 0;
  expect(cudaGetDeviceCount(&devices), "no CUDA device to run the plan on",
         "run it on a machine with a GPU of NVIDIA and its driver");
  try {
    cudaStream_t stream = nullptr;
    expect(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a CUDA stream");
    stream_ = stream;
    arena_ = allocate(arena_bytes, "the arena");
    weights_ = allocate(weights_bytes, "the weights");
  } catch (...) {
    release();
    throw;
  }
}

void DeviceMemory::release() {
  cudaFree(arena_.data());
  cudaFree(weights_.data());
  if (stream_ != nullptr) cudaStreamDestroy(static_cast<cudaStream_t>(stream_));
}

}  // namespace intarsia::tool
