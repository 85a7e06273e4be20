// SPDX-License-Identifier: Apache-2.0
//
// Plans for CUDA in tests: converted in memory, with exactly the memory that they ask for on both
// sides, opened over the emulator.
#pragma once

#include "intarsia/cuda.h"
#include "kernels_cuda/kernels.h"
#include "test/cuda/device_bytes.h"
#include "test/cuda/emulation/emulation.h"
#include "test/cuda/models.h"

namespace intarsia::test {

namespace emulation = cuda::emulation;
class CudaPlan : public SmallPlan {
 public:
  /// Of a model, or of entry points.
  template <class Source>
  explicit CudaPlan(const Source& model, const ConvertOptions& options = {})
      : SmallPlan(model, for_cuda(options)),
        device_arena(conversion.plan.summary.device_arena_bytes),
        device_weights(conversion.plan.summary.device_weights_bytes) {}

  cuda::Memory memory() { return {arena(), device_arena.span(), device_weights.span()}; }
  cuda::Options options() {
    cuda::Options made;
    made.stream = &stream;
    return made;
  }
  Result<cuda::Session> open_on_device(const cuda::Options& options) {
    return cuda::Session::open(plan(), memory(), {tool::all_kernels(), cuda::all_kernels()},
                               options, &diagnostic);
  }
  Result<cuda::Session> open_on_device() { return open_on_device(options()); }
  const converter::PlanSummary& summary() const { return conversion.plan.summary; }

  emulation::Stream stream;
  DeviceBytes device_arena, device_weights;
};

/// The plan for CUDA gives what the plan for the CPU gives, within 1e-3 of the outputs' scale.
inline void expect_same_as_cpu(const OnnxBuilder& model, int graphs) {
  SmallPlan cpu(model);
  auto expected = cpu.open();
  ASSERT_TRUE(expected.ok()) << cpu.text(cpu.diagnostic);
  for (const auto order : {emulation::Order::kForward, emulation::Order::kShuffled}) {
    auto& emulator = emulation::Emulator::get();
    emulator.reset(order);
    CudaPlan plan(model);
    auto session = plan.open_on_device();
    ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
    EXPECT_EQ(session->graph_count(), graphs);
    for (const std::string& warning : plan.conversion.warnings) {
      EXPECT_GT(graphs, 1) << warning;
    }
    for (const unsigned seed : {1u, 2u}) {
      const uint64_t launched = emulator.graph_launches();
      const std::vector<float> found = outputs_of(*session, seed);
      const std::vector<float> wanted = outputs_of(*expected, seed);
      EXPECT_EQ(emulator.graph_launches() - launched, static_cast<uint64_t>(graphs));
      ASSERT_EQ(found.size(), wanted.size());
      float scale = 0;
      for (float value : wanted) scale = std::max(scale, std::fabs(value));
      ASSERT_GT(scale, 0.01f);
      for (size_t i = 0; i < found.size(); ++i)
        ASSERT_NEAR(found[i], wanted[i], 1e-3f * scale) << i;
    }
    EXPECT_TRUE(emulator.violations().empty()) << emulator.violations().front();
  }
}

}  // namespace intarsia::test
