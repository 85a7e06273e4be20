// SPDX-License-Identifier: Apache-2.0
//
// The life of an open session: the states of its nodes and ports, and what it says of itself.
#include "core/runtime/session_state.h"

namespace intarsia {
namespace {

/// Calls `destroy` of the nodes before `end` that keep a state of their own.
void destroy_nodes(SessionState& state, uint32_t end) {
  KernelContext context;
  Frame frame{};
  frame.next = state.plan.operands;
  for (uint32_t i = 0; i < end; ++i) {
    const Kernel& kernel = *state.kernels[state.plan.nodes[i].kernel()];
    bind_node(state, i, state.views, state.view_count, context, frame);
    if (kernel.destroy != nullptr) kernel.destroy(context);
  }
  state.has_node_states = false;
}

void use_planned_extents(SessionState& state, const plan::Tensor& tensor) {
  for (uint32_t axis = 0; axis < tensor.rank(); ++axis) {
    const uint32_t place = tensor.extents() + axis;
    if (place < state.plan.dynamic_extents) state.extents[place] = state.plan.extents[place];
  }
}

}  // namespace

Status create_nodes(SessionState& state) {
  KernelContext context;
  Frame frame{};
  frame.next = state.plan.operands;
  for (uint32_t i = 0; i < state.plan.node_count; ++i) {
    const plan::Node& node = state.plan.nodes[i];
    const Kernel& kernel = *state.kernels[node.kernel()];
    bind_node(state, i, state.views, state.view_count, context, frame);
    if (kernel.create == nullptr) continue;
    for (uint32_t j = 0; j < uint32_t{node.inputs()} + node.outputs(); ++j) {
      const uint32_t operand = frame.operands[j];
      if (operand == kNone) continue;
      const plan::Tensor& tensor = state.plan.tensors[operand];
      if (j >= node.inputs()) {
        use_planned_extents(state, tensor);
      } else if (static_cast<Memory>(tensor.memory()) != Memory::kWeights) {
        state.views[j].data = nullptr;  // what no run has computed has no elements yet
      }
    }
    if (Status status = kernel.create(context); !status) {
      destroy_nodes(state, i);
      return status;
    }
  }
  state.has_node_states = true;
  return {};
}

void clear_states(SessionState& state) {
  for (uint32_t i = 0; i < state.plan.slot_count; ++i) {
    const plan::Slot& slot = state.plan.slots[i];
    if ((slot.flags() & kStateSlot) == 0) continue;
    use_planned_extents(state, state.plan.tensors[slot.tensor()]);
    const auto bytes = static_cast<size_t>(state.view(slot.tensor()).bytes());
    std::memset(state.slots[i], 0, bytes);
    if (slot.initial() == kNone) continue;
    std::memcpy(state.slots[i], state.plan.weights + slot.initial() * kWeightUnit, bytes);
  }
}

void Session::close() {
  if (state_ == nullptr) return;
  if (state_->has_node_states) destroy_nodes(*state_, state_->plan.node_count);
  state_ = nullptr;
}

Status Session::reset_states() {
  if (state_ == nullptr) return Code::kInvalidArgument;
  if (state_->busy.exchange(true, std::memory_order_acquire)) return Code::kBusy;
  clear(state_->diagnostic);
  state_->completed = kNone;
  clear_states(*state_);
  if (state_->has_node_states) destroy_nodes(*state_, state_->plan.node_count);
  const Status status = create_nodes(*state_);
  state_->busy.store(false, std::memory_order_release);
  return status;
}

const Diagnostic& Session::diagnostic() const {
  static constexpr Diagnostic kClosed{
      Code::kInvalidArgument, "session is not open", -1, -1, -1, 0, 0, nullptr, 0};
  return state_ != nullptr ? state_->diagnostic : kClosed;
}
std::span<const std::byte> Session::plan() const {
  return state_ != nullptr ? state_->bytes : std::span<const std::byte>();
}
Status Session::wrong_type(DataType requested, DataType found) const {
  return state_->fail(Code::kWrongType, "element type", static_cast<int64_t>(found),
                      static_cast<int64_t>(requested));
}

}  // namespace intarsia
