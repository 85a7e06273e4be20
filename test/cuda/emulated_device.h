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

struct TestDevice {
  Device device;
  emulation::Stream stream;
  /// What device code reported, cuda::kNoFailure from the beginning.
  cuda::Report report = cuda::kNoFailure;

  static TestDevice& get() {
    static TestDevice made;
    made.device.arena = reinterpret_cast<std::byte*>(&made.report);
    made.device.queue = &made.stream;
    return made;
  }

  /// Orders in which blocks and threads run.
  static constexpr int kOrders = 3;
  void reset(int order) {
    report = cuda::kNoFailure;
    emulation::Emulator::get().reset(static_cast<emulation::Order>(order));
  }
  void make(const emulation::Mistake& mistake) {
    report = cuda::kNoFailure;
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
