// SPDX-License-Identifier: Apache-2.0
//
// What a run does before and after its nodes: inputs must agree in their symbols, and states take
// what the next run finds.
#include "core/runtime/ports.h"

namespace intarsia {
namespace {

/// Inputs whose extents are the same symbol must agree in them.
Status check_symbols(SessionState& state, const plan::Entry& entry) {
  if (state.symbol_count == 0) return {};
  for (uint32_t symbol = 0; symbol < state.symbol_count; ++symbol) state.symbols()[symbol] = -1;
  const Ports* inputs = entry.inputs();
  for (uint32_t i = 0; inputs != nullptr && i < inputs->size(); ++i) {
    const plan::Port& port = *inputs->Get(i);
    const int32_t* extents = state.extents_of(tensor_in(state, port.slot()));
    const List symbols = list_of(&port, plan::Port::VT_SYMBOLS);
    for (uint32_t axis = 0; axis < symbols.count; ++axis) {
      const int32_t symbol = static_cast<const int32_t*>(symbols.data)[axis];
      if (symbol < 0) continue;
      int32_t& value = state.symbols()[symbol];
      if (value < 0) value = extents[axis];
      if (extents[axis] == value) continue;
      return state.fail(Code::kWrongExtent, "input extents of one symbolic dimension differ", value,
                        extents[axis], static_cast<int>(i), static_cast<int>(axis));
    }
  }
  return {};
}

Status update_states(SessionState& state, int entry) {
  const List updates = list_of(state.plan.root, plan::Plan::VT_STATES);
  for (uint32_t i = 0; i < updates.count; ++i) {
    const plan::StateUpdate& update = static_cast<const plan::StateUpdate*>(updates.data)[i];
    if (update.slot() == kNone) --entry;  // the next entry point's follow
    if (update.slot() == kNone || entry != 0) continue;
    const plan::Tensor& tensor = tensor_in(state, update.slot());
    const TensorView source = state.view(update.source());
    for (int axis = 0; axis < tensor.rank(); ++axis) {
      if (tensor.extents() < state.plan.dynamic_extents) {
        state.extents[tensor.extents() + axis] = source.extents[axis];
      }
    }
    void* target = state.slots[update.slot()];
    if (target != source.data) {
      std::memmove(target, source.data, static_cast<size_t>(source.bytes()));
    }
  }
  return {};
}

}  // namespace

Status begin_run(SessionState& state, const plan::Entry& entry, int index) {
  if (state.busy.exchange(true, std::memory_order_acquire)) return Code::kBusy;
  clear(state.diagnostic);
  state.steps_left = state.max_steps;
  // What an entry point reads of another's run must be there still.
  const uint32_t before = entry.continues();
  Status status;
  if (!state.has_node_states) {
    status = state.fail(Code::kInvalidArgument, "states of nodes; reset_states() has failed");
  } else if (before != kNone && before != state.completed) {
    status = state.fail(Code::kInvalidArgument, "no run of the entry point that this one continues",
                        before, static_cast<int32_t>(state.completed));
  } else if (state.check_bindings != nullptr) {
    status = state.check_bindings(state);
  }
  if (status.ok()) status = check_symbols(state, entry);
  if (StringState* strings = state.strings(); status.ok() && strings != nullptr) {
    strings->begin_run(*strings, index);
  }
  if (!status) state.busy.store(false, std::memory_order_release);
  return status;
}

Status end_run(SessionState& state, int entry, Status status) {
  if (status.ok()) status = update_states(state, entry);
  state.completed = status.ok() ? static_cast<uint32_t>(entry) : kNone;
  state.busy.store(false, std::memory_order_release);
  return status;
}

Status Session::run(int index) {
  const plan::Entry* entry = entry_at(state_, index);
  if (entry == nullptr) {
    return state_ == nullptr ? Status(Code::kInvalidArgument)
                             : state_->fail(Code::kInvalidArgument, "entry point (at most)",
                                            entry_count() - 1, index);
  }
  if (Status status = begin_run(*state_, *entry, index); !status) return status;
  return end_run(*state_, index,
                 run_nodes(*state_, state_->plan.graphs[entry->graph()], state_->views,
                           state_->view_count, 0));
}

}  // namespace intarsia
