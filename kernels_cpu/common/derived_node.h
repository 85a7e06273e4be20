// SPDX-License-Identifier: Apache-2.0
//
// A node as another kernel sees it: the same but for some operands, with a workspace from which
// these take their places. For kernels that are made of others (packed_at_run.h, widened.h).
#pragma once

#include "core/runtime/operand_check.h"
#include "intarsia/checked_int.h"

namespace intarsia::cpu {

struct DerivedNode {
  /// Nodes with more operands are left to others.
  static constexpr int kMostOperands = 16;

  explicit DerivedNode(const KernelContext& node) : context(node) {
    for (int i = 0; i < count(node) && i < kMostOperands; ++i) operands[i] = node.operands_[i];
    context.operands_ = operands;
  }
  DerivedNode(const DerivedNode&) = delete;
  DerivedNode& operator=(const DerivedNode&) = delete;

  static int count(const KernelContext& node) { return node.input_count() + node.output_count(); }
  static bool serves(const KernelContext& node) { return count(node) <= kMostOperands; }
  static Status check_count(const KernelContext& node) {
    if (serves(node)) return {};
    return node.fail(Code::kUnsupported, "operands", kMostOperands, count(node));
  }
  /// What an operand of so many bytes takes: whole cache lines, since what follows is aligned to
  /// them.
  static CheckedInt room(CheckedInt bytes) { return floor_div(bytes + 63, 64) * 64; }

  /// Moves an operand to the front of the workspace.
  void place(int operand, CheckedInt bytes) {
    const auto taken = static_cast<size_t>(room(bytes).value());
    operands[operand].data = context.workspace_;
    context.workspace_ += taken;
    context.workspace_bytes_ -= taken;
  }
  /// K::check of this node, whatever the bytes of its packed weights are: they are not K's.
  template <class K>
  Status check() {
    KernelHost host = *context.host_;
    host.capacity = nullptr;
    context.host_ = &host;
    return K::check(context);
  }

  TensorView operands[kMostOperands];
  KernelContext context;
};

}  // namespace intarsia::cpu
