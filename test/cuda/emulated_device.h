// SPDX-License-Identifier: Apache-2.0
//
// The device that kernels under test find in the emulator: operands stay where they are.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "core/runtime/device.h"
#include "intarsia/kernel.h"
#include "kernels_cuda/common/report.h"
#include "kernels_cuda/session/runtime.h"
#include "test/cuda/emulation/emulation.h"

namespace intarsia::test {

namespace emulation = cuda::emulation;

/// What sessions keep at the start of a device arena.
struct DevicePrefix {
  cuda::Report report = cuda::kNoFailure;
  std::byte rest[kDevicePrefix - sizeof(cuda::Report)] = {};
};

struct TestDevice {
  Device device;
  DevicePrefix prefix;
  emulation::Stream stream;
  /// What device code reported, cuda::kNoFailure from the beginning.
  cuda::Report& report = prefix.report;

  static TestDevice& get() {
    static TestDevice made;
    made.device.arena = reinterpret_cast<std::byte*>(&made.prefix);
    made.device.queue = &made.stream;
    return made;
  }

  /// Orders in which blocks and threads run.
  static constexpr int kOrders = 3;
  void reset(int order) {
    prefix = {};  // a mistake may have left anything
    emulation::Emulator::get().reset(static_cast<emulation::Order>(order));
  }
  void make(const emulation::Mistake& mistake) {
    prefix = {};  // a mistake may have left anything
    emulation::Emulator::get().reset(emulation::Order::kReverse, mistake);
  }
  std::string violations() const {
    std::string text;
    for (const std::string& line : emulation::Emulator::get().violations()) text += line + "; ";
    return text;
  }

  /// Runs a kernel over operands of so many bytes.
  Status run(const KernelContext& context, std::vector<TensorView>&, const std::vector<size_t>&,
             const Kernel& kernel) {
    const Status status = kernel.run(context);
    EXPECT_EQ(cuda::runtime::synchronize(&stream), 0);
    return status;
  }
};

}  // namespace intarsia::test
