// SPDX-License-Identifier: Apache-2.0
//
// What a session keeps, all of it in the arena's metadata prefix: this struct, then the bound
// kernels, shape functions, slots, operand views and run-time extents.
#pragma once

#include <atomic>

#include "core/plan_file.h"
#include "core/plan_structure.h"
#include "core/runtime/device.h"
#include "intarsia/session.h"

namespace intarsia {

/// Raw pointers into a plan's structure; hoisted once so that a run touches no FlatBuffers
/// accessor.
struct PlanView {
  const plan::Plan* root = nullptr;
  const plan::Tensor* tensors = nullptr;
  const int32_t* extents = nullptr;
  const uint32_t* operands = nullptr;
  const plan::Node* nodes = nullptr;
  const plan::Graph* graphs = nullptr;
  const uint64_t* attributes = nullptr;
  const plan::Slot* slots = nullptr;
  std::byte* weights = nullptr;
  uint32_t tensor_count = 0, extent_count = 0, operand_count = 0, node_count = 0, graph_count = 0;
  uint32_t attribute_count = 0, slot_count = 0, dynamic_extents = 0;
  uint64_t weights_bytes = 0;
};

/// A run of nodes on the device, and what the device's session makes of it.
struct Segment {
  uint32_t first = 0;
  uint32_t count = 0;
  uint32_t operands = 0;  // index of the first node's first
  uint32_t reserved = 0;
  union {
    void* graph;
    uint64_t unused;  // the same size on every target
  };
};
/// What a session with a device keeps besides; `count` segments follow it in the arena.
struct alignas(Segment) DeviceState {
  Device device;
  uint32_t count = 0;
  Segment* segments() { return reinterpret_cast<Segment*>(this + 1); }
};
static_assert(sizeof(Segment) == kSegmentBytes && sizeof(DeviceState) <= kDeviceStateBytes &&
              sizeof(DeviceState) % alignof(Segment) == 0);

/// The characters of strings, and what begins a run with them: through pointers, so that programs
/// without strings do not link it (core/runtime/strings.cpp).
struct StringState {
  StringPool pool;
  /// Lets the next strings lie in the entry point's part, behind those that the program has added.
  void (*begin_run)(StringState& state, int entry);
};
struct StringSupport {
  /// Makes the state in `place`; the characters are the last of the arena.
  StringState* (*open)(const PlanView& plan, std::byte* place, std::byte* arena_end);
};

struct SessionState {
  PlanView plan;
  std::byte* tensors = nullptr;  // the arena after the prefix
  const Kernel** kernels = nullptr;
  const ShapeFunction** shapes = nullptr;
  void** slots = nullptr;
  int32_t* extents = nullptr;  // actual extents, parallel to the plan's leading maxima; then the
                               // symbols' values in this run
  TensorView* views = nullptr;
  uint32_t view_count = 0;
  uint32_t symbol_count = 0;
  DeviceState* device = nullptr;  // null without one
  std::atomic<bool> busy{false};
  bool has_node_states = false;  // false only if `create` failed in reset_states
  // The entry point whose tensors still are as its run has left them, for one that continues it;
  // kNone if there is none.
  uint32_t completed = kNone;
  // Looks at the buffers that were bound since the last run; null if there are none. A pointer, so
  // that programs which bind nothing do not link it.
  Status (*check_bindings)(SessionState&) = nullptr;
  int64_t max_steps = 0;   // nodes of sub-graphs that one run may execute
  int64_t steps_left = 0;  // ... and that this one still may
  const Observer* observer = nullptr;
  std::span<const Service> services;
  KernelHost host;
  Diagnostic diagnostic;
  std::span<const std::byte> bytes;

  const int32_t* extents_of(const plan::Tensor& tensor) const {
    return tensor.extents() < plan.dynamic_extents ? extents + tensor.extents()
                                                   : plan.extents + tensor.extents();
  }

  int32_t* symbols() const { return extents + plan.dynamic_extents; }
  /// Null in plans without strings.
  StringState* strings() const { return reinterpret_cast<StringState*>(host.strings); }
  TensorView view(uint32_t operand) const;

  Status fail(Code code, const char* what, int64_t expected = 0, int64_t found = 0,
              int operand = -1, int axis = -1);
};
/// The buffer in the arena that a slot has unless the caller binds another.
inline void* planned_buffer(const SessionState& state, uint32_t slot) {
  return state.tensors + state.plan.slots[slot].place() * kArenaUnit;
}
static_assert(sizeof(SessionState) <= kStateBytes && sizeof(TensorView) <= kViewBytes);

/// Fills `context` for one node and its views. Returns false if `views_left` does not suffice.
struct Frame {
  SessionState* state;
  const uint32_t* operands;  // the node's
  const uint32_t* next;      // those of the node behind it: `bind_node` begins here
  TensorView* views;         // free views after this node's operands
  uint32_t views_left;
  int depth;              // of sub-graphs
  bool varies;            // an operand's extents are known at run time only
  const Kernel* running;  // null but in `run`
};
/// Deepest nesting of sub-graphs; bounds the stack of a run.
inline constexpr int kMaxGraphDepth = 32;
bool bind_node(SessionState& state, uint32_t node, TensorView* views, uint32_t views_left,
               KernelContext& context, Frame& frame);

/// Executes the nodes of a graph, or a part of it, at the given depth of sub-graphs.
Status run_nodes(SessionState& state, const plan::Graph& nodes, TensorView* views,
                 uint32_t views_left, int depth);

/// Checks the nodes of an untrusted plan, whose kernels are bound (core/runtime/node_check.cpp):
/// that their operands lie where they may, and what each kernel's own `check` proves.
Status check_nodes(SessionState& state);
/// True if `view` has as many elements as `other`, of one width.
inline bool same_size(const TensorView& view, const TensorView& other) {
  return element_bits(view.type) == element_bits(other.type) && view.count() == other.count();
}

/// Calls `create` of the nodes that keep a state of their own: of all, or, on failure, of none. It
/// sees its outputs at their planned extents, also after runs.
Status create_nodes(SessionState& state);
/// Makes the states that ports show what they are at open: their initial values, or zero, with the
/// planned extents.
void clear_states(SessionState& state);

/// What `Session::run` does before and after the nodes: sessions of devices run these themselves.
/// `begin_run` takes the session for the caller, unless it fails; `end_run` gives it back. `index`
/// is the entry point's.
Status begin_run(SessionState& state, const plan::Entry& entry, int index);
Status end_run(SessionState& state, int entry, Status status);

/// The state behind a session.
struct SessionAccess {
  template <class S>
  static SessionState* state(const S& session) {
    return static_cast<const Session&>(session).state_;
  }
};

/// Host functions of KernelHost over a session (core/runtime/executor.cpp).
Status host_run_graph(const KernelContext& context, uint32_t graph);
Status host_resize_output(const KernelContext& context, int output,
                          std::span<const int32_t> extents);
void* host_service(const KernelContext& context, uint64_t key);
int64_t host_capacity(const KernelContext& context, int operand);
const int32_t* host_planned_extents(const KernelContext& context, int operand);

/// Records what is wrong with a plan as a whole, or with what it is opened with; returns `code`.
Status report(Diagnostic& diagnostic, Code code, const char* what, uint64_t expected = 0,
              uint64_t found = 0);
inline void clear(Diagnostic& diagnostic) {
  static_cast<void>(report(diagnostic, Code::kOk, ""));
}

/// Checks magic number, version and sizes.
Status read_header(std::span<const std::byte> bytes, PlanHeader& header, Diagnostic& diagnostic);
/// Pointers into a plan whose header was read. The structure must be verified or trusted.
PlanView view_of(std::span<const std::byte> bytes, const PlanHeader& header);

/// The verification of untrusted plans, before pointers into them are formed and with all. A
/// trusted open names neither function, so that programs with the model linked in do not link them.
Status verify_structure(std::span<const std::byte> bytes, const PlanHeader& header, bool checksum,
                        Diagnostic& diagnostic);
/// The header, the structure, and everything else that a run relies on (core/runtime/verifier.h),
/// except kernels' own checks.
Status read_untrusted(std::span<const std::byte> bytes, bool checksum, PlanView& plan,
                      Diagnostic& diagnostic);
/// The elements of a vector in a table of the plan; none if the table has no such field.
struct List {
  const void* data = nullptr;
  uint32_t count = 0;
};
/// One function for all types of elements, where FlatBuffers' accessors are one for each.
List list_of(const void* table, uint16_t field);
/// The counts that determine the size of the metadata prefix.
MetadataCounts metadata_counts(const PlanView& plan);

}  // namespace intarsia
