// SPDX-License-Identifier: Apache-2.0
//
// The device that kernels under test find on a GPU: operands are copied there and back, each in an
// allocation of exactly its size, so that compute-sanitizer sees what lies outside. Small ones lie
// in memory that both sides reach: lists of extents, which kernels read on the host
// (`host_constant`).
#pragma once

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "core/runtime/device.h"
#include "intarsia/kernel.h"
#include "kernels_cuda/common/report.h"

namespace intarsia::test {

/// Memory of the device.
class GpuMemory {
 public:
  explicit GpuMemory(size_t bytes, bool shared = false) : bytes_(bytes), shared_(shared) {
    if (bytes == 0) return;
    EXPECT_EQ(shared ? cudaMallocHost(&data_, bytes) : cudaMalloc(&data_, bytes), cudaSuccess);
    EXPECT_EQ(cudaMemset(data_, 0xff, bytes), cudaSuccess);
  }
  GpuMemory(const GpuMemory&) = delete;
  GpuMemory& operator=(const GpuMemory&) = delete;
  ~GpuMemory() { shared_ ? cudaFreeHost(data_) : cudaFree(data_); }

  std::span<std::byte> span() const { return {static_cast<std::byte*>(data_), bytes_}; }
  void* data() const { return data_; }
  void from(const void* host) const {
    if (bytes_ == 0) return;
    EXPECT_EQ(cudaMemcpy(data_, host, bytes_, cudaMemcpyHostToDevice), cudaSuccess);
  }
  void to(void* host) const {
    if (bytes_ == 0) return;
    EXPECT_EQ(cudaMemcpy(host, data_, bytes_, cudaMemcpyDeviceToHost), cudaSuccess);
  }

 private:
  void* data_ = nullptr;
  size_t bytes_;
  bool shared_;
};

/// What sessions keep at the start of a device arena.
struct DevicePrefix {
  cuda::Report report = cuda::kNoFailure;
  std::byte rest[kDevicePrefix - sizeof(cuda::Report)] = {};
};

struct TestDevice {
  Device device;
  DevicePrefix prefix;
  /// What device code reported in the last run.
  cuda::Report& report = prefix.report;

  static TestDevice& get() {
    static TestDevice made;
    return made;
  }

  static constexpr int kOrders = 1;
  void reset(int) { report = cuda::kNoFailure; }
  std::string violations() const { return ""; }

  Status run(KernelContext context, std::vector<TensorView>& operands,
             const std::vector<size_t>& bytes, const Kernel& kernel) {
    // By the host's address: operands in place are one.
    std::map<void*, size_t> sizes;
    for (size_t i = 0; i < operands.size(); ++i) {
      if (operands[i].present()) {
        sizes[operands[i].data] = std::max(sizes[operands[i].data], bytes[i]);
      }
    }
    sizes[context.workspace_] = context.workspace_bytes_;
    std::map<void*, GpuMemory> memory;
    for (const auto& [host, size] : sizes) {
      constexpr size_t kList = 256;
      const auto made = memory.emplace(std::piecewise_construct, std::forward_as_tuple(host),
                                       std::forward_as_tuple(size, size <= kList));
      made.first->second.from(host);
    }
    std::vector<void*> places;
    for (TensorView& operand : operands) {
      places.push_back(operand.data);
      if (operand.present()) operand.data = memory.at(operand.data).data();
    }
    context.operands_ = operands.data();
    context.workspace_ = static_cast<std::byte*>(memory.at(context.workspace_).data());
    const GpuMemory arena(sizeof(prefix));
    arena.from(&prefix);
    device.arena = arena.span().data();
    cudaStream_t stream = nullptr;
    EXPECT_EQ(cudaStreamCreate(&stream), cudaSuccess);
    device.queue = stream;
    const Status status = kernel.run(context);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess) << cudaGetErrorString(cudaGetLastError());
    cudaStreamDestroy(stream);
    arena.to(&prefix);
    for (const auto& [host, size] : sizes) {
      if (host != nullptr) memory.at(host).to(host);
    }
    for (size_t i = 0; i < operands.size(); ++i) operands[i].data = places[i];
    return status;
  }
};

}  // namespace intarsia::test
