// SPDX-License-Identifier: Apache-2.0
//
// Runs CUDA kernels over the nodes of test/kernels/common/kernel_harness.h, beside the CPU's
// reference kernels: in the emulator, or on a GPU (test_cuda_device).
//
//     const auto device = on_device("Softmax.cuda<float>");
//     agree(device, cpu_kernel("Softmax<float>"), [&] { return Node()...; });
//     expect_mistakes_found(device, cpu_kernel("Softmax<float>"), [&] { return Node()...; });
//
// `agree` runs blocks and threads in three orders. `expect_mistakes_found` is the negative
// control: it leaves out each barrier and shifts accesses by one element, and each time something
// must be found: a violation, a failure, or another result. A GPU makes no mistakes on request:
// there both run once.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernels_cuda/kernels.h"
#include "kernels_cuda/session/runtime.h"
#include "test/kernels/common/kernel_harness.h"
#include "test/slow_build.h"

#ifdef INTARSIA_TEST_ON_GPU
#include "test/cuda/gpu_device.h"
#else
#include "test/cuda/emulated_device.h"
#endif

namespace intarsia::test {

inline constexpr DataType kFloat = DataType::kFloat, kHalf = DataType::kFloat16;
inline constexpr DataType kReals[] = {kFloat, kHalf};

/// `run` with the device as a service, and with weights packed where the kernel wants that.
inline Status run_on_device(const KernelContext& context, const KernelDescriptor& kernel,
                            const Kernel& row) {
  KernelHost host = *context.host_;
  host.service = [](const KernelContext&, uint64_t key) -> void* {
    return key == kDeviceService ? &TestDevice::get().device : nullptr;
  };
  std::vector<TensorView> operands(
      context.operands_, context.operands_ + context.input_count() + context.output_count());
  std::vector<GuardedBuffer> packed;
  std::vector<size_t> bytes;
  for (const TensorView& operand : operands) {
    bytes.push_back(operand.present() ? static_cast<size_t>(operand.bytes()) : 0);
  }
  if (kernel.pack != nullptr) {
    for (int i = 0; i < context.input_count(); ++i) {
      const int64_t size = context.input(i).present() ? kernel.packed_bytes(context, i) : 0;
      if (size == 0) continue;
      packed.emplace_back(static_cast<size_t>(size));
      kernel.pack(context, i, packed.back().data());
      operands[static_cast<size_t>(i)].data = packed.back().data();
      bytes[static_cast<size_t>(i)] = packed.back().size();
    }
  }
  KernelContext with_device = context;
  with_device.host_ = &host;
  with_device.operands_ = operands.data();
  return TestDevice::get().run(with_device, operands, bytes, row);
}

/// The CUDA kernel of this text, "Relu.cuda<float>".
inline KernelUnderTest on_device(std::string_view text) {
  const KernelDescriptor* found = find_kernel(cuda::kernel_list(), text);
  const Kernel* row = nullptr;
  for (const Kernel* each : cuda::all_kernels().kernels) {
    if (found != nullptr && each->key == found->key) row = each;
  }
  KernelUnderTest kernel;
  if (row == nullptr) {
    ADD_FAILURE() << "there is no CUDA kernel " << text;
    return kernel;
  }
  kernel.name = found->id.op;
  kernel.check = row->check;
  kernel.workspace = found->workspace;
  kernel.run = [found, row](const KernelContext& context) {
    return run_on_device(context, *found, *row);
  };
  return kernel;
}
using MakeNode = std::function<Node()>;

inline bool near(const std::vector<double>& found, const std::vector<double>& expected,
                 double tolerance) {
  double scale = 0;
  for (double value : expected)
    scale = std::isfinite(value) ? std::fmax(scale, std::fabs(value)) : scale;
  if (found.size() != expected.size()) return false;
  for (size_t i = 0; i < found.size(); ++i) {
    if (std::isnan(expected[i]) && std::isnan(found[i])) continue;
    if (found[i] == expected[i]) continue;
    if (!(std::fabs(found[i] - expected[i]) <= tolerance * (scale + 1e-3))) return false;
  }
  return true;
}

/// Both kernels give the same, within `tolerance` of the output's scale.
inline void agree(const KernelUnderTest& device, const KernelUnderTest& reference,
                  const MakeNode& make, double tolerance = 1e-5, int orders = TestDevice::kOrders) {
  Node expected = make();
  ASSERT_TRUE(expected.run(reference).ok()) << expected.diagnostic().what;
  static Part part(3);
  for (int order = 0; order < orders; ++order) {
    if (order > 0 && !part.takes()) continue;
    TestDevice::get().reset(order);
    Node found = make();
    ASSERT_TRUE(found.run(device).ok()) << found.diagnostic().what;
    ASSERT_EQ(TestDevice::get().violations(), "");
    ASSERT_TRUE(near(found.numbers(), expected.numbers(), tolerance))
        << device.name << " differs from the reference, order " << order;
  }
}

#ifndef INTARSIA_TEST_ON_GPU
/// Whether a run with this mistake is told from a correct one.
inline bool is_found(const KernelUnderTest& device, const std::vector<double>& expected,
                     const MakeNode& make, const emulation::Mistake& mistake, double tolerance) {
  TestDevice::get().make(mistake);
  Node node = make();
  const Status status = node.run(device);
  const bool found = !status.ok() || !TestDevice::get().violations().empty() ||
                     !near(node.numbers(), expected, tolerance);
  TestDevice::get().reset(0);  // no mistake outlasts its run
  return found;
}
#endif

/// REQUIRES: operands without symmetry, in extents that fill tiles: else a shifted access may be
/// one that reads the same value.
inline void expect_mistakes_found(const KernelUnderTest& device, const KernelUnderTest& reference,
                                  const MakeNode& make, double tolerance = 1e-5) {
  agree(device, reference, make, tolerance);
#ifndef INTARSIA_TEST_ON_GPU
  Node expected = make();
  ASSERT_TRUE(expected.run(reference).ok());
  const std::vector<double> numbers = expected.numbers();
  using Mistake = emulation::Mistake;
  uint64_t sites[4] = {};
  for (int kind = Mistake::kSkipBarrier; kind <= Mistake::kShiftGlobal; ++kind) {
    sites[kind] = emulation::Emulator::get().sites(static_cast<Mistake::Kind>(kind));
  }
  ASSERT_GT(sites[Mistake::kShiftGlobal], 0u);
  for (int k = Mistake::kSkipBarrier; k <= Mistake::kShiftGlobal; ++k) {
    const auto kind = static_cast<Mistake::Kind>(k);
    constexpr uint64_t kMost = 24;  // of a kind; every barrier of the kernels here
    const uint64_t step = sites[k] / kMost + 1;
    for (uint64_t site = 0; site < sites[k]; site += step) {
      EXPECT_TRUE(is_found(device, numbers, make, {kind, site}, tolerance))
          << device.name << ": mistake of kind " << k << " at site " << site << " of " << sites[k]
          << " is not found";
    }
  }
#endif
}

}  // namespace intarsia::test
