// SPDX-License-Identifier: Apache-2.0
//
// What stands for a device's memory where the device is emulated.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>
#include <span>

#include "intarsia/cuda.h"

namespace intarsia::test {

/// Device memory of exactly that size, aligned as cudaMalloc's, filled so that what was not copied
/// is NaN.
class DeviceBytes {
 public:
  explicit DeviceBytes(size_t size)
      : size_(size),
        data_(static_cast<std::byte*>(
            ::operator new (size, std::align_val_t{cuda::kDeviceAlignment}))) {
    std::memset(data_, 0xff, size);
    // Where device code reports failures, no pattern may look like none.
    std::memset(data_, 0, std::min(size, sizeof(uint64_t)));
  }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  ~DeviceBytes() { ::operator delete (data_, std::align_val_t{cuda::kDeviceAlignment}); }
  std::span<std::byte> span() { return {data_, size_}; }

 private:
  size_t size_;
  std::byte* data_;
};

}  // namespace intarsia::test
