// SPDX-License-Identifier: Apache-2.0
//
// Verification of a plan's entry points, ports, and of the states that runs leave to one another.
#include "core/runtime/verifier.h"

namespace intarsia {

/// Ports of one list have slots of their own, in ascending order, with these flags.
bool Verifier::ports(const flatbuffers::Vector<flatbuffers::Offset<plan::Port>>* ports,
                     uint32_t flags) {
  const uint32_t symbol_count = list(plan::Plan::VT_SYMBOLS).count;
  uint32_t lowest = 0;
  for (uint32_t i = 0; ports != nullptr && i < ports->size(); ++i) {
    const plan::Port* port = ports->Get(i);
    const uint32_t place = port->slot();
    if (!index("port's slot", place, plan_.slot_count)) return false;
    if (!at_least("port's slot (at least)", lowest, place)) return false;
    lowest = place + 1;
    const plan::Slot& slot = plan_.slots[place];
    if (!equal("flags of the port's slot", flags, slot.flags())) return false;
    const List symbols = list_of(port, plan::Port::VT_SYMBOLS);
    if (symbols.count == 0) continue;
    if (!equal("port's symbols", plan_.tensors[slot.tensor()].rank(), symbols.count)) return false;
    for (uint32_t axis = 0; axis < symbols.count; ++axis) {
      const int32_t symbol = static_cast<const int32_t*>(symbols.data)[axis];
      if (symbol == kFixedExtent || symbol == kDerivedExtent) continue;
      if (!index("symbol", static_cast<uint32_t>(symbol), symbol_count)) return false;
    }
  }
  return true;
}

bool Verifier::entries() {
  const auto* entries = plan_.root->entries();
  if (!require(entries != nullptr && entries->size() > 0, "entry points", 1, 0)) return false;
  for (uint32_t i = 0; i < entries->size(); ++i) {
    const plan::Entry* entry = entries->Get(i);
    const uint32_t graph = entry->graph();
    if (!index("entry's graph", graph, plan_.graph_count)) return false;
    const uint32_t parent = plan_.graphs[graph].parent();
    if (!equal("entry's graph is a sub-graph", kNone, parent)) return false;
    if (entry->continues() != kNone &&
        !index("entry point that another continues", entry->continues(), entries->size())) {
      return false;
    }
    if (!ports(entry->inputs(), kReadOnlySlot) || !ports(entry->outputs(), 0)) return false;
  }
  return ports(plan_.root->state_ports(), kReadOnlySlot | kStateSlot);
}

bool Verifier::states() {
  const List states = list(plan::Plan::VT_STATES);
  uint32_t lowest = 0;
  for (uint32_t i = 0; i < states.count; ++i) {
    const plan::StateUpdate& update = static_cast<const plan::StateUpdate*>(states.data)[i];
    if (update.slot() == kNone) {  // the next entry point's follow
      lowest = 0;
      continue;
    }
    if (!at_least("state's slot (at least)", lowest, update.slot())) return false;
    lowest = update.slot() + 1;
    if (!index("state's slot", update.slot(), plan_.slot_count) ||
        !index("state's source", update.source(), plan_.tensor_count)) {
      return false;
    }
    // The buffer of another slot may be the caller's, and constant.
    const plan::Slot& slot = plan_.slots[update.slot()];
    if (!require((slot.flags() & kStateSlot) != 0, "flags of the state's slot",
                 kReadOnlySlot | kStateSlot, slot.flags())) {
      return false;
    }
    const plan::Tensor& to = plan_.tensors[slot.tensor()];
    const plan::Tensor& from = plan_.tensors[update.source()];
    if (!require(!on_device(static_cast<Memory>(from.memory())), "state's source on the device", 0,
                 update.source()) ||
        !outside_states(update.source(), "state's source among the nodes' states") ||
        !equal("state type", to.type(), from.type()) ||
        !equal("state rank", to.rank(), from.rank())) {
      return false;
    }
    for (int axis = 0; axis < to.rank(); ++axis) {
      const int64_t expected = plan_.extents[to.extents() + static_cast<uint32_t>(axis)];
      const int64_t found = plan_.extents[from.extents() + static_cast<uint32_t>(axis)];
      if (!equal("state extent", static_cast<uint64_t>(expected), static_cast<uint64_t>(found))) {
        return false;
      }
    }
  }
  return true;
}

}  // namespace intarsia
