// SPDX-License-Identifier: Apache-2.0
//
// The emulator finds what it is for: defects written into small kernels, each beside its correct
// form. A test of the tests.
#include <gtest/gtest.h>

#include "kernels_cuda/common/device.h"
#include "kernels_cuda/session/runtime.h"
#include "test/cuda/emulation/emulation.h"

namespace intarsia::cuda {
namespace {

using emulation::Emulator;
using emulation::Order;

constexpr int kThreads = 64;

/// y = x reversed within the block, through shared memory.
template <bool Barrier, int Shift>
INTARSIA_GLOBAL reverse_kernel(Global<const float> x, Global<float> y) {
  INTARSIA_SHARED(float, values, kThreads);
  const int thread = static_cast<int>(thread_x());
  values[thread] = x[thread];
  if (Barrier) sync_threads();
  y[thread] = values[kThreads - 1 - thread + Shift];
}

/// Only half of the threads arrive at the barrier.
template <bool Divergent>
INTARSIA_GLOBAL divergent_kernel(Global<float> y) {
  if (!Divergent || thread_x() < kThreads / 2) sync_threads();
  y[thread_x()] = 1;
}

/// Every thread adds to one element without a turn of its own.
INTARSIA_GLOBAL lost_update_kernel(Global<float> y) {
  INTARSIA_SHARED(float, sum, 1);
  if (thread_x() == 0) sum[0] = 0;
  sync_threads();
  sum[0] = sum[0] + 1.0f;
  sync_threads();
  y[thread_x()] = sum[0];
}

INTARSIA_GLOBAL unwritten_kernel(Global<float> y) {
  INTARSIA_SHARED(float, values, kThreads);
  if (thread_x() == 0) values[0] = 1;
  sync_threads();
  y[thread_x()] = values[thread_x() / 32];
}

INTARSIA_GLOBAL butterfly_kernel(Global<float> y) {
  float sum = static_cast<float>(thread_x());
  for (unsigned mask = 16; mask > 0; mask /= 2) sum += shuffle_xor(sum, mask);
  y[thread_x()] = sum;
}

INTARSIA_GLOBAL outside_kernel(Global<float> y) {
  y[thread_x() + 1] = 1;
}

class Emulation : public testing::TestWithParam<Order> {
 protected:
  Emulation() : y(kThreads) {
    for (int i = 0; i < kThreads; ++i) x.push_back(static_cast<float>(i));
    Emulator::get().reset(GetParam());
  }
  template <class... Arguments>
  void run(void (*kernel)(Arguments...), Arguments... arguments) {
    EXPECT_EQ(launch_as(kernel, 1u, static_cast<unsigned>(kThreads), &stream, arguments...), 0);
    EXPECT_EQ(runtime::synchronize(&stream), 0);
  }
  Global<const float> input() const { return {x.data(), kThreads}; }
  Global<float> output() { return {y.data(), kThreads}; }
  static bool finds(const std::string& text) {
    for (const std::string& violation : Emulator::get().violations()) {
      if (violation.find(text) != std::string::npos) return true;
    }
    return false;
  }
  static bool finds_nothing() { return Emulator::get().violations().empty(); }

  std::vector<float> x, y;
  emulation::Stream stream;
};

TEST_P(Emulation, RunsBlocksWithBarriers) {
  run(reverse_kernel<true, 0>, input(), output());
  EXPECT_TRUE(finds_nothing());
  for (int i = 0; i < kThreads; ++i) EXPECT_EQ(y[static_cast<size_t>(i)], kThreads - 1 - i);
}

TEST_P(Emulation, AMissingBarrierIsARace) {
  run(reverse_kernel<false, 0>, input(), output());
  EXPECT_TRUE(finds("race") || finds("before it is written"));
}

TEST_P(Emulation, AnIndexOffByOneLeavesSharedMemory) {
  run(reverse_kernel<true, 1>, input(), output());
  EXPECT_TRUE(finds("outside shared memory"));
}

TEST_P(Emulation, ABarrierThatSomeThreadsMissIsDivergent) {
  run(divergent_kernel<true>, output());
  EXPECT_TRUE(finds("divergent"));
  Emulator::get().reset(GetParam());
  run(divergent_kernel<false>, output());
  EXPECT_TRUE(finds_nothing());
}

TEST_P(Emulation, UnorderedUpdatesAreARace) {
  run(lost_update_kernel, output());
  EXPECT_TRUE(finds("race"));
}

TEST_P(Emulation, SharedMemoryIsUndefinedUntilWritten) {
  run(unwritten_kernel, output());
  EXPECT_TRUE(finds("before it is written"));
}

TEST_P(Emulation, ShufflesReachEveryLane) {
  run(butterfly_kernel, output());
  EXPECT_TRUE(finds_nothing());
  EXPECT_EQ(y[0], 31 * 16);
  EXPECT_EQ(y[kThreads - 1], 31 * 16 + 32 * 32);
}

TEST_P(Emulation, OperandsHaveAnEnd) {
  run(outside_kernel, output());
  EXPECT_TRUE(finds("outside an operand"));
}

TEST_P(Emulation, MistakesOnRequestAreMade) {
  using emulation::Mistake;
  for (const Mistake mistake :
       {Mistake{Mistake::kSkipBarrier, 0}, Mistake{Mistake::kShiftShared, 1},
        Mistake{Mistake::kShiftGlobal, 0}}) {
    Emulator::get().reset(GetParam(), mistake);
    run(reverse_kernel<true, 0>, input(), output());
    EXPECT_FALSE(finds_nothing()) << mistake.kind;
  }
}

TEST_P(Emulation, WorkIsDoneWhenSomebodyWaits) {
  ASSERT_EQ(launch<butterfly_kernel>(1u, static_cast<unsigned>(kThreads), &stream, output()), 0);
  EXPECT_EQ(y[0], 0);
  EXPECT_EQ(runtime::synchronize(&stream), 0);
  EXPECT_EQ(y[0], 31 * 16);
}

TEST_P(Emulation, AGridThatCudaRefusesIsAnError) {
  EXPECT_EQ(launch<outside_kernel>(0u, 32u, &stream, output()), 9);
  EXPECT_EQ(launch<outside_kernel>(1u, 2048u, &stream, output()), 9);
}

INSTANTIATE_TEST_SUITE_P(Orders, Emulation,
                         testing::Values(Order::kForward, Order::kReverse, Order::kShuffled));

}  // namespace
}  // namespace intarsia::cuda
