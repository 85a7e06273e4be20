// SPDX-License-Identifier: Apache-2.0
//
// The same models on a GPU, where there is one: equal to the CPU within 1e-3 of the output's scale;
// and the tests of single kernels, beside the CPU's reference kernels. Without one the program says
// so and ends with 77, which ctest takes for skipped.
#include <cuda_runtime.h>

#include <cstdio>

#include "intarsia/cuda.h"
#include "kernels_cuda/kernels.h"
#include "test/cuda/gpu_device.h"
#include "test/cuda/models.h"

namespace intarsia::test {
namespace {

void expect_same_on_device(const RandomModel& model) {
  SmallPlan cpu(model);
  auto expected = cpu.open();
  SmallPlan plan(model, for_cuda());
  const GpuMemory arena(plan.conversion.plan.summary.device_arena_bytes);
  const GpuMemory weights(plan.conversion.plan.summary.device_weights_bytes);
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  cuda::Options options;
  options.stream = stream;
  auto session =
      cuda::Session::open(plan.plan(), {plan.arena(), arena.span(), weights.span()},
                          {tool::all_kernels(), cuda::all_kernels()}, options, &plan.diagnostic);
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  for (const unsigned seed : {1u, 2u}) {
    const std::vector<float> found = outputs_of(*session, seed);
    const std::vector<float> wanted = outputs_of(*expected, seed);
    float scale = 0;
    for (float value : wanted) scale = std::max(scale, std::fabs(value));
    for (size_t i = 0; i < found.size(); ++i) ASSERT_NEAR(found[i], wanted[i], 1e-3f * scale) << i;
  }
  session->close();
  cudaStreamDestroy(stream);
}

TEST(CudaDevice, AnMlpEqualsTheCpu) {
  expect_same_on_device(two_layers());
}
TEST(CudaDevice, ASmallResNetEqualsTheCpu) {
  expect_same_on_device(small_resnet());
}
TEST(CudaDevice, NodesOfTheHostStandBetweenGraphs) {
  expect_same_on_device(with_a_host_node());
}

}  // namespace
}  // namespace intarsia::test

int main(int argc, char** argv) {
  int devices = 0;
  if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
    std::puts("no GPU: skipped");
    return 77;
  }
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
