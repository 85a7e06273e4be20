// SPDX-License-Identifier: Apache-2.0
//
// converter/tool/device/memory.h over the emulator, which has the host's memory for the device's.
#include "converter/tool/device/memory.h"

#include <memory>

#include "test/cuda/device_bytes.h"
#include "test/cuda/emulation/emulation.h"

namespace intarsia::tool {
namespace {

struct Emulated : cuda::emulation::Stream {
  Emulated(size_t arena_bytes, size_t weights_bytes) : arena(arena_bytes), weights(weights_bytes) {}

  test::DeviceBytes arena, weights;
};

}  // namespace

DeviceMemory::DeviceMemory(size_t arena_bytes, size_t weights_bytes) {
  auto made = std::make_unique<Emulated>(arena_bytes, weights_bytes);
  arena_ = made->arena.span();
  weights_ = made->weights.span();
  stream_ = static_cast<cuda::emulation::Stream*>(made.release());
}

void DeviceMemory::release() {
  delete static_cast<Emulated*>(static_cast<cuda::emulation::Stream*>(stream_));
}

}  // namespace intarsia::tool
