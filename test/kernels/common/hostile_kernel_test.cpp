// SPDX-License-Identifier: Apache-2.0
//
// What a plan from outside may give a kernel, for all kernels by enumeration: any attributes and
// extents, too few or too many operands, operands of other types. `check` refuses, or `run` stays
// inside its operands and ends. Meaningful under AddressSanitizer and UndefinedBehaviorSanitizer,
// where a size that wraps around ends the program.
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <span>

#include "test/kernels/common/hostile_contract.h"
#include "test/kernels/common/kernel_rows.h"
#include "test/slow_build.h"

namespace intarsia::test {
namespace {

// Nodes that are made for each kernel; sanitizers are there to see all of them.
constexpr int kLess = kEmulated ? 8 : kSlowBuild ? 2 : 1;
constexpr size_t kNodes = 120 / kLess;

/// Bytes of all operands at their extents.
int64_t total_bytes(HostileNode& node) {
  int64_t total = 0;
  for (const TensorView& view : node.views(false)) total += view.bytes();
  return total;
}

/// Runs a node over exactly the memory that it has. `run` may refuse data.
void run_node(const KernelDescriptor& row, NodeMaker& maker, HostileNode& node) {
  std::vector<std::unique_ptr<uint64_t[]>> memory;
  const auto allocate = [&](int64_t bytes) {
    const auto words = static_cast<size_t>(bytes + 7) / 8;
    memory.emplace_back(new uint64_t[words]);
    for (uint64_t& word : std::span(memory.back().get(), words)) {
      const uint64_t patterns[] = {0x3f8000003f800000u, 0, 0x0202020202020202u, ~uint64_t{0},
                                   0x0000000100000001u, 1};
      word = patterns[maker.pick(std::size(patterns))];
    }
    return memory.back().get();
  };
  HostileContext hostile(node, node.views(true));
  for (size_t i = 0; i < hostile.size(); ++i) {
    TensorView& view = hostile.view(i);
    if (!view.present() || view.data != nullptr) continue;
    int64_t bytes = view.bytes();
    if (row.packed_bytes != nullptr && i < node.inputs.size()) {
      const int64_t packed = row.packed_bytes(hostile.context, static_cast<int>(i));
      if (packed > 64 * kSmallBytes) return;
      bytes = packed > bytes ? packed : bytes;
    }
    view.data = allocate(bytes);
  }
  const std::unique_ptr<std::byte[]> workspace(  // of any contents
      new std::byte[static_cast<size_t>(node.workspace_bytes) + 128]);
  const auto address = reinterpret_cast<uintptr_t>(workspace.get());
  hostile.context.workspace_ = workspace.get() + (64 - address % 64) % 64;
  std::vector<uint64_t> state(static_cast<size_t>(row.state_bytes) / 8);
  hostile.context.state_ = state.data();
  hostile.context.state_bytes_ = state.size() * 8;
  if (row.kernel->create != nullptr && !row.kernel->create(hostile.context)) return;
  (void)row.kernel->run(hostile.context);
  if (row.kernel->destroy != nullptr) row.kernel->destroy(hostile.context);
}

TEST(HostileKernel, AnyNumbersAreRefusedOrStayInsideTheOperands) {
  int accepted = 0, run = 0, silent = 0;
  for_kernels(cpu_kernels(), 1, [&](const KernelDescriptor& row, NodeMaker& maker) {
    int here = 0;
    for (size_t i = 0; i < (maker.has_lists() ? 8 * kNodes : kNodes); ++i) {
      HostileNode node = maker.next();
      const Watch watch(kernel_text(row.id), node.describe());
      const bool graphs = !maker.definition().graphs.empty();
      if (!is_accepted(row, maker, node)) continue;
      ++here;
      // Tensors without elements have any extents; what has some has memory of its size.
      if (graphs || total_bytes(node) > kSmallBytes || node.workspace_bytes > 64 * kSmallBytes) {
        continue;
      }
      run_node(row, maker, node);
      ++run;
    }
    accepted += here;
    silent += here == 0 ? 1 : 0;
    if (here == 0) std::printf("no valid node of %s\n", kernel_text(row.id).c_str());
  });
  // A generator that only makes nonsense would prove nothing.
  const auto kernels = static_cast<int>(cpu_kernels().size());
  EXPECT_GT(accepted, kernels * 10 / kLess);
  EXPECT_GT(run, kernels * 5 / kLess);
  EXPECT_LT(silent, kernels / 20 * kLess);
  std::printf("%d kernels, %d nodes accepted, %d of them run, none for %d kernels\n", kernels,
              accepted, run, silent);
}

TEST(HostileKernel, OperandsThatTheDefinitionForbidsAreRefused) {
  const Violations tried = try_violations(cpu_kernels(), 4 * kNodes);
  EXPECT_GT(tried.removed, 5000 / kLess);
  EXPECT_GT(tried.added, 5000 / kLess);
  EXPECT_GT(tried.retyped, 5000 / kLess);
}

}  // namespace
}  // namespace intarsia::test
