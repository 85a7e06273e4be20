// SPDX-License-Identifier: Apache-2.0
//
// The checks of CUDA kernels run on the host: whatever a plan says, they refuse it or it is sound.
#include "kernels_cuda/kernels.h"
#include "test/kernels/common/hostile_contract.h"

namespace intarsia::test {
namespace {

TEST(HostileCudaKernel, AnyNumbersAreRefusedOrProved) {
  int accepted = 0;
  for_kernels(cuda::kernel_list(), 1, [&](const KernelDescriptor& row, NodeMaker& maker) {
    for (int i = 0; i < 1000; ++i) {
      HostileNode node = maker.next();
      const Watch watch(kernel_text(row.id), node.describe());
      accepted += is_accepted(row, maker, node) ? 1 : 0;
    }
  });
  EXPECT_GT(accepted, 1000);
}

TEST(HostileCudaKernel, OperandsThatTheDefinitionForbidsAreRefused) {
  const Violations tried = try_violations(cuda::kernel_list(), 500);
  EXPECT_GT(tried.removed, 300);
  EXPECT_GT(tried.added, 300);
  EXPECT_GT(tried.retyped, 300);
}

}  // namespace
}  // namespace intarsia::test
