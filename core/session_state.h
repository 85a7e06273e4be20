// SPDX-License-Identifier: Apache-2.0
//
// What a session keeps, all of it in the arena's metadata prefix: this struct, then the bound
// kernels, shape functions, slots, operand views and run-time extents.
#pragma once

#include <atomic>

#include "core/plan_file.h"
#include "core/plan_structure.h"
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

struct SessionState {
  PlanView plan;
  std::byte* tensors = nullptr;  // the arena after the prefix
  const Kernel** kernels = nullptr;
  const ShapeFunction** shapes = nullptr;
  void** slots = nullptr;
  int32_t* extents = nullptr;  // actual extents, parallel to the plan's leading maxima
  TensorView* views = nullptr;
  uint32_t view_count = 0;
  std::atomic<bool> busy{false};
  const Observer* observer = nullptr;
  std::span<const Service> services;
  KernelHost host;
  Diagnostic diagnostic;
  std::span<const std::byte> bytes;

  const int32_t* extents_of(const plan::Tensor& tensor) const {
    return tensor.extents() < plan.dynamic_extents ? extents + tensor.extents()
                                                   : plan.extents + tensor.extents();
  }

  TensorView view(uint32_t operand) const {
    if (operand == kNone) return {};
    const plan::Tensor& tensor = plan.tensors[operand];
    void* data = nullptr;
    switch (static_cast<Memory>(tensor.memory())) {
      case Memory::kArena:
        data = tensors + tensor.place() * kArenaUnit;
        break;
      case Memory::kWeights:
        data = plan.weights + tensor.place() * kWeightUnit;
        break;
      case Memory::kSlot:
        data = slots[tensor.place()];
        break;
    }
    return {data, extents_of(tensor), static_cast<DataType>(tensor.type()), tensor.rank()};
  }

  Status fail(Code code, const char* what, int64_t expected = 0, int64_t found = 0,
              int operand = -1, int axis = -1) {
    diagnostic = Diagnostic{code, what, -1, operand, axis, expected, found, nullptr, 0};
    return code;
  }
};
static_assert(sizeof(SessionState) <= kStateBytes && sizeof(TensorView) <= kViewBytes);

/// Fills `context` for one node and its views. Returns false if `views_left` does not suffice.
struct Frame {
  SessionState* state;
  const plan::Node* node;
  TensorView* views;  // free views after this node's operands
  uint32_t views_left;
  int depth;    // of sub-graphs
  bool varies;  // an operand's extents are known at run time only
};
/// Deepest nesting of sub-graphs; bounds the stack of a run.
inline constexpr int kMaxGraphDepth = 32;
bool bind_node(SessionState& state, uint32_t node, TensorView* views, uint32_t views_left,
               KernelContext& context, Frame& frame);

/// Executes the nodes of a graph at the given depth of sub-graphs.
Status run_graph(SessionState& state, uint32_t graph, TensorView* views, uint32_t views_left,
                 int depth);

/// Host functions of KernelHost over a session (core/executor.cpp).
Status host_run_graph(const KernelContext& context, uint32_t graph);
Status host_resize_output(const KernelContext& context, int output,
                          std::span<const int32_t> extents);
void* host_service(const KernelContext& context, uint64_t key);
int64_t host_capacity(const KernelContext& context, int operand);

/// Checks magic number, version and sizes.
Status read_header(std::span<const std::byte> bytes, PlanHeader& header, Diagnostic& diagnostic);
/// Pointers into a plan whose header was read. The structure must be verified or trusted.
PlanView view_of(std::span<const std::byte> bytes, const PlanHeader& header);

/// The verification of untrusted plans, before and after pointers into them are formed. A trusted
/// open names neither function, so that programs with the model linked in do not link them.
Status verify_structure(std::span<const std::byte> bytes, const PlanHeader& header, bool checksum,
                        Diagnostic& diagnostic);
/// Checks everything that a run relies on, except kernels' own checks.
Status verify_plan(const PlanView& plan, Diagnostic& diagnostic);
/// All of the above in their order.
Status read_untrusted(std::span<const std::byte> bytes, bool checksum, PlanView& plan,
                      Diagnostic& diagnostic);
/// The counts that determine the size of the metadata prefix.
MetadataCounts metadata_counts(const PlanView& plan);

}  // namespace intarsia
