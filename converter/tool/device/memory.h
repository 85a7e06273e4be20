// SPDX-License-Identifier: Apache-2.0
//
// What a session on a device borrows: memory and a stream. memory.cpp has them from the CUDA
// runtime, test/cuda from the emulator.
#pragma once

#include <cstddef>
#include <span>

namespace intarsia::tool {

class DeviceMemory {
 public:
  /// Throws converter::Error with CUDA's number and text.
  DeviceMemory(size_t arena_bytes, size_t weights_bytes);
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  ~DeviceMemory() { release(); }

  std::span<std::byte> arena() const { return arena_; }
  std::span<std::byte> weights() const { return weights_; }
  /// Not the default stream.
  void* stream() const { return stream_; }

 private:
  void release();

  std::span<std::byte> arena_, weights_;
  void* stream_ = nullptr;
};

}  // namespace intarsia::tool
