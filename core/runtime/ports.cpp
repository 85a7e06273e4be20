// SPDX-License-Identifier: Apache-2.0
//
// Entry points, and the ports by which a program reaches inputs, outputs and states.
#include "core/runtime/ports.h"

#include <algorithm>

namespace intarsia {
namespace {

std::string_view text_of(const flatbuffers::String* string) {
  return string != nullptr ? std::string_view(string->c_str(), string->size()) : "";
}

Result<Port> port_of(SessionState* state, const Ports* ports, int index, const char* what) {
  if (state == nullptr) return Code::kInvalidArgument;
  const plan::Port* port = port_at(*state, ports, index, what);
  if (port == nullptr) return Code::kInvalidArgument;
  return Port{text_of(port->name()), state->view(state->plan.slots[port->slot()].tensor())};
}

Status unknown_name(SessionState& state, const char* what, std::string_view name) {
  const Status status = state.fail(Code::kUnknownName, what);
  state.diagnostic.text = name.data();
  state.diagnostic.text_length = static_cast<uint32_t>(name.size());
  return status;
}

Result<int> find_port(SessionState* state, const Ports* ports, std::string_view name,
                      const char* what) {
  if (state == nullptr) return Code::kInvalidArgument;
  for (uint32_t i = 0; ports != nullptr && i < ports->size(); ++i) {
    if (text_of(ports->Get(i)->name()) == name) return static_cast<int>(i);
  }
  return unknown_name(*state, what, name);
}

/// What errors say of the extents of a port.
struct PortTexts {
  const char *rank, *extent, *above, *below;
};
constexpr PortTexts kInputTexts{"input rank", "input extent", "input extent above its maximum",
                                "input extent below its minimum"};
constexpr PortTexts kStateTexts{"state rank", "state extent", "state extent above its maximum",
                                "state extent below its minimum"};

Status resize_port(SessionState& state, const plan::Port& port, std::span<const int32_t> extents,
                   int index, const PortTexts& texts) {
  const plan::Tensor& tensor = tensor_in(state, port.slot());
  if (extents.size() != tensor.rank()) {
    return state.fail(Code::kWrongRank, texts.rank, tensor.rank(),
                      static_cast<int64_t>(extents.size()), index);
  }
  const bool varies = tensor.extents() < state.plan.dynamic_extents;
  const int32_t* present = state.extents_of(tensor);
  const auto* symbols = port.symbols();
  for (int axis = 0; axis < tensor.rank(); ++axis) {
    const int32_t found = extents[static_cast<size_t>(axis)];
    const int32_t planned = state.plan.extents[tensor.extents() + static_cast<uint32_t>(axis)];
    const int32_t symbol =
        symbols != nullptr && symbols->size() != 0 ? symbols->Get(static_cast<uint32_t>(axis)) : -1;
    if (!varies || symbol < 0) {  // fixed, or as a run has found them
      if (found == present[axis]) continue;
      return state.fail(Code::kWrongExtent, texts.extent, present[axis], found, index, axis);
    }
    const plan::Symbol& range = *state.plan.root->symbols()->Get(static_cast<uint32_t>(symbol));
    if (found > planned || found > range.maximum()) {
      return state.fail(Code::kWrongExtent, texts.above, planned, found, index, axis);
    }
    if (found < range.minimum() || found < 0) {
      return state.fail(Code::kWrongExtent, texts.below, range.minimum(), found, index, axis);
    }
  }
  for (int axis = 0; varies && axis < tensor.rank(); ++axis) {
    state.extents[tensor.extents() + static_cast<uint32_t>(axis)] =
        extents[static_cast<size_t>(axis)];
  }
  return {};
}

}  // namespace

const plan::Port* port_at(SessionState& state, const Ports* ports, int index, const char* what) {
  if (index >= 0 && index < size_of(ports)) return ports->Get(static_cast<uint32_t>(index));
  static_cast<void>(state.fail(Code::kInvalidArgument, what, size_of(ports) - 1, index));
  return nullptr;
}
const Ports* inputs_of(const SessionState* state, int entry) {
  const plan::Entry* found = entry_at(state, entry);
  return found != nullptr ? found->inputs() : nullptr;
}
const Ports* outputs_of(const SessionState* state, int entry) {
  const plan::Entry* found = entry_at(state, entry);
  return found != nullptr ? found->outputs() : nullptr;
}

const plan::Entry* entry_at(const SessionState* state, int index) {
  if (state == nullptr || index < 0) return nullptr;
  const auto* entries = state->plan.root->entries();
  return static_cast<uint32_t>(index) < entries->size() ? entries->Get(static_cast<uint32_t>(index))
                                                        : nullptr;
}

int Session::entry_count() const {
  return state_ == nullptr ? 0 : static_cast<int>(state_->plan.root->entries()->size());
}

Result<int> Session::find_entry(std::string_view name) const {
  for (int i = 0; i < entry_count(); ++i) {
    if (text_of(entry_at(state_, i)->name()) == name) return i;
  }
  return state_ == nullptr ? Status(Code::kInvalidArgument)
                           : unknown_name(*state_, "entry point", name);
}

int Session::input_count(int entry) const {
  return size_of(inputs_of(state_, entry));
}
int Session::output_count(int entry) const {
  return size_of(outputs_of(state_, entry));
}
Result<Port> Session::input_port(int index, int entry) const {
  return port_of(state_, inputs_of(state_, entry), index, "input index (at most)");
}
Result<Port> Session::output_port(int index, int entry) const {
  return port_of(state_, outputs_of(state_, entry), index, "output index (at most)");
}
Result<int> Session::find_input(std::string_view name, int entry) const {
  return find_port(state_, inputs_of(state_, entry), name, "input");
}
Result<int> Session::find_output(std::string_view name, int entry) const {
  return find_port(state_, outputs_of(state_, entry), name, "output");
}
Status Session::resize_input(int index, std::span<const int32_t> extents, int entry) {
  if (state_ == nullptr) return Code::kInvalidArgument;
  const plan::Port* port =
      port_at(*state_, inputs_of(state_, entry), index, "input index (at most)");
  if (port == nullptr) return Code::kInvalidArgument;
  if (Status s = resize_port(*state_, *port, extents, index, kInputTexts); !s) return s;
  forget_run(*state_, entry);
  return {};
}

int Session::state_count() const {
  return state_ == nullptr ? 0 : size_of(state_->plan.root->state_ports());
}
Result<Port> Session::state(int index) const {
  return port_of(state_, state_ != nullptr ? state_->plan.root->state_ports() : nullptr, index,
                 "state index (at most)");
}
Status Session::resize_state(int index, std::span<const int32_t> extents) {
  if (state_ == nullptr) return Code::kInvalidArgument;
  const plan::Port* port =
      port_at(*state_, state_->plan.root->state_ports(), index, "state index (at most)");
  if (port == nullptr) return Code::kInvalidArgument;
  const TensorView present = state_->view(state_->plan.slots[port->slot()].tensor());
  const bool same =
      std::equal(extents.begin(), extents.end(), present.extents, present.extents + present.rank);
  if (same) return {};  // what an entry point that continues a run needs is there still
  if (Status s = resize_port(*state_, *port, extents, index, kStateTexts); !s) return s;
  state_->completed = kNone;
  return {};
}
}  // namespace intarsia
