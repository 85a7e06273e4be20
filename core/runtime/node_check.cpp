// SPDX-License-Identifier: Apache-2.0
//
// What `open` proves of the nodes of an untrusted plan, once their kernels are known: operands lie
// in their kernel's memory, what is written overlaps nothing else that the node uses, and each
// kernel's own `check` agrees. No kernel has to think of it. The time grows as n log n with a
// node's operands; what little memory that takes is the room for operand views, which are bound
// anew.
#include <algorithm>

#include "core/runtime/session_state.h"

namespace intarsia {
namespace {

/// The bytes of an operand.
struct Range {
  uintptr_t begin = 0, end = 0;
  int32_t operand = -1;

  bool overlaps(const void* data, size_t bytes) const {
    const auto first = reinterpret_cast<uintptr_t>(data);
    return bytes != 0 && begin < end && first < end && begin < first + bytes;
  }
};
static_assert(sizeof(Range) <= sizeof(TensorView) && alignof(Range) <= alignof(TensorView));

class RangeCheck {
 public:
  RangeCheck(SessionState& state, const KernelContext& context, const Kernel& kernel, bool varies)
      : context_(context),
        ranges_(reinterpret_cast<Range*>(state.views)),
        inputs_(context.input_count()) {
    collect(state.views, kernel.in_place, varies);
  }

  Status run() {
    sort();
    // In the order of their begins: what is written begins behind all before it, what is read
    // behind what is written before it.
    Range read, written;
    for (int i = 0; i < count_; ++i) {
      const Range& range = ranges_[i];
      const bool writes = range.operand >= inputs_;
      if (range.begin < written.end) return fail(written.operand, range.operand);
      if (writes && range.begin < read.end) return fail(read.operand, range.operand);
      Range& furthest = writes ? written : read;
      if (range.end > furthest.end) furthest = range;
    }
    return scratch_apart();
  }

 private:
  /// Heapsort: n log n whatever a hostile plan's order, without memory.
  void sort() {
    for (int start = count_ / 2, end = count_; end > 1;) {
      Range moved;
      if (start > 0) {
        moved = ranges_[--start];
      } else {
        moved = ranges_[--end];
        ranges_[end] = ranges_[0];
      }
      int hole = start;
      for (int child = 2 * hole + 1; child < end; child = 2 * hole + 1) {
        if (child + 1 < end && ranges_[child].begin < ranges_[child + 1].begin) ++child;
        if (ranges_[child].begin <= moved.begin) break;
        ranges_[hole] = ranges_[child];
        hole = child;
      }
      ranges_[hole] = moved;
    }
  }

  /// Turns views into ranges, in the same memory, front to back. An input whose memory the kernel
  /// lets output 0 take over is left out.
  void collect(const TensorView* views, InPlace permitted, bool varies) {
    const int operands = inputs_ + context_.output_count();
    const TensorView taken = context_.output(0);
    uintptr_t taken_end = 0;
    for (int i = 0; i < operands; ++i) {
      const TensorView view = views[i];
      if (!view.present() || view.bytes() == 0) continue;
      Range range{reinterpret_cast<uintptr_t>(view.data), 0, i};
      range.end = range.begin + static_cast<uintptr_t>(view.bytes());
      // Where extents vary, those of a run are compared before it (check_in_place).
      if (i < inputs_ && view.data == taken.data && permitted.permits(i) &&
          (varies || same_size(view, taken))) {
        taken_end = std::max(taken_end, range.end);
        continue;
      }
      if (i == inputs_) range.end = std::max(range.end, taken_end);
      ranges_[count_++] = range;
    }
  }

  /// Workspace and state lie apart from all operands and from one another.
  Status scratch_apart() {
    const int operands = inputs_ + context_.output_count();
    const std::span<std::byte> workspace = context_.workspace();
    const auto begin = reinterpret_cast<uintptr_t>(workspace.data());
    const Range scratch{begin, begin + workspace.size(), operands};
    const auto state_bytes = static_cast<size_t>(context_.state_bytes());
    for (int i = 0; i < count_; ++i) {
      if (ranges_[i].overlaps(workspace.data(), workspace.size()) ||
          ranges_[i].overlaps(context_.state(), state_bytes)) {
        return fail(ranges_[i].operand, operands);
      }
    }
    return scratch.overlaps(context_.state(), state_bytes) ? fail(operands, operands + 1)
                                                           : Status();
  }

  Status fail(int first, int second) {
    return context_.fail(Code::kCorruptPlan, "operands that overlap", std::min(first, second),
                         std::max(first, second));
  }

  const KernelContext& context_;
  Range* ranges_;
  int inputs_;
  int count_ = 0;
};

/// Fails if the varying extents of an output are those of another operand too: to set the one would
/// change the other. Marks extents of outputs in the session's own list, and takes the marks away.
Status check_extents_apart(SessionState& state, const uint32_t* operands,
                           const KernelContext& context) {
  const auto extent_of = [&](uint32_t i) -> int32_t* {
    if (operands[i] == kNone) return nullptr;
    const plan::Tensor& tensor = state.plan.tensors[operands[i]];
    const bool varies = tensor.rank() != 0 && tensor.extents() < state.plan.dynamic_extents;
    return varies ? state.extents + tensor.extents() : nullptr;
  };
  const auto inputs = static_cast<uint32_t>(context.input_count());
  const uint32_t count = inputs + static_cast<uint32_t>(context.output_count());
  uint32_t marked = inputs;
  int shared = -1;
  for (; marked < count && shared < 0; ++marked) {
    int32_t* extent = extent_of(marked);
    if (extent == nullptr) continue;
    if (*extent < 0) {
      shared = static_cast<int>(marked);
      break;
    }
    *extent = ~*extent;
  }
  for (uint32_t i = 0; i < inputs && shared < 0; ++i) {
    const int32_t* extent = extent_of(i);
    if (extent != nullptr && *extent < 0) shared = static_cast<int>(i);
  }
  for (uint32_t i = inputs; i < marked; ++i) {
    int32_t* extent = extent_of(i);
    if (extent != nullptr) *extent = ~*extent;
  }
  return shared < 0
             ? Status()
             : context.fail(Code::kCorruptPlan, "extents shared with an output", 0, 0, shared);
}

/// The kernel's own check, at the planned extents. Where extents vary, planned maxima of different
/// operands need not agree with one another; such a node is checked again before each run.
Status check_kernel(SessionState& state, const Kernel& kernel, KernelContext& context,
                    const Frame& frame) {
  if (kernel.check == nullptr) return {};
  const int count = context.input_count() + context.output_count();
  for (int i = 0; i < count; ++i) state.views[i].data = nullptr;
  const Status status = kernel.check(context);
  if (status.ok() || (frame.varies && status.code() == Code::kWrongExtent)) return {};
  if (state.diagnostic.code != status.code()) return context.fail(status.code(), "node refused");
  return status;
}

}  // namespace

Status check_nodes(SessionState& state) {
  KernelContext context;
  Frame frame{};
  frame.next = state.plan.operands;
  for (uint32_t i = 0; i < state.plan.node_count; ++i) {
    const plan::Node& node = state.plan.nodes[i];
    if (!bind_node(state, i, state.views, state.view_count, context, frame)) {
      return state.fail(Code::kCorruptPlan, "operand views",
                        int64_t{node.inputs()} + node.outputs(), state.view_count);
    }
    const Kernel& kernel = *state.kernels[node.kernel()];
    if (const DeviceState* device = state.device; device != nullptr) {
      if (Status status = device->device.check(state, context, kernel); !status) return status;
    }
    if (Status status = check_extents_apart(state, frame.operands, context); !status) return status;
    if (Status status = RangeCheck(state, context, kernel, frame.varies).run(); !status) {
      return status;
    }
    frame.next = frame.operands;
    bind_node(state, i, state.views, state.view_count, context, frame);
    if (Status status = check_kernel(state, kernel, context, frame); !status) return status;
  }
  clear(state.diagnostic);
  return {};
}

}  // namespace intarsia
