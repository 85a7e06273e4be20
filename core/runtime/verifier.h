// SPDX-License-Identifier: Apache-2.0
//
// Verification of a plan from outside the program: after it every index, place and extent in the
// plan may be used without a further check. One pass, no memory of its own. The structure is
// verified already (core/runtime/structure.cpp).
#pragma once

#include "core/runtime/session_state.h"

namespace intarsia {

/// Each part relies on what those before it have proved. Reports the first failure and keeps it.
class Verifier {
 public:
  Verifier(const PlanView& plan, Diagnostic& diagnostic) : plan_(plan), diagnostic_(diagnostic) {}

  Status run();

 private:
  bool fail(const char* what, uint64_t expected, uint64_t found);
  bool require(bool condition, const char* what, uint64_t expected, uint64_t found);
  bool equal(const char* what, uint64_t expected, uint64_t found);
  bool at_least(const char* what, uint64_t lowest, uint64_t found);
  bool at_most(const char* what, uint64_t highest, uint64_t found);
  bool index(const char* what, uint64_t found, uint64_t limit);
  List list(uint16_t field) const { return list_of(plan_.root, field); }

  // verify.cpp
  bool alignment();
  bool memory();
  bool device_memory(const plan::Memory& memory);
  bool strings(const plan::Memory& memory);
  bool bytes_of(const plan::Tensor& tensor, uint64_t& bytes);
  bool in_memory(Memory memory, uint32_t place, uint64_t bytes);
  bool in_slot(const plan::Tensor& tensor, uint64_t bytes);
  bool tensors();
  bool slots();

  // verify_nodes.cpp
  bool attributes(const plan::Node& node);
  bool operands(const plan::Node& node);
  bool node(const plan::Node& node);
  bool graphs();
  /// The bytes of a tensor in the arena, or in the device's; none for weights.
  struct Region {
    uint64_t begin = 0, end = 0;
    bool device = false;
  };
  Region region_of(const plan::Tensor& tensor);
  bool follows(uint32_t state);
  bool outside_states(uint32_t tensor, const char* what);
  bool node_states();

  // verify_ports.cpp
  bool ports(const flatbuffers::Vector<flatbuffers::Offset<plan::Port>>* ports, uint32_t flags);
  bool entries();
  bool states();

  const PlanView plan_;
  Diagnostic& diagnostic_;
  int32_t node_ = -1;
  uint64_t limits_[kMemories] = {};  // bytes that tensors may take of each memory; 0 of slots
  uint64_t next_operand_ = 0;
  uint64_t next_attributes_ = 0;
  Region state_range_[2];  // from the first node state to the last, in the arena and the device's
};

}  // namespace intarsia
