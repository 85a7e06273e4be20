// SPDX-License-Identifier: Apache-2.0
//
// Executes graphs: binds a node's operands to views, computes extents where they vary, calls
// kernels.
#include "core/runtime/session_state.h"

namespace intarsia {

namespace {

/// Not the member itself, which the compiler may not inline where other libraries could replace it.
TensorView view_in(const SessionState& state, const plan::Tensor& tensor) {
  void* data = nullptr;
  switch (static_cast<Memory>(tensor.memory())) {
    case Memory::kArena:
      data = state.tensors + tensor.place() * kArenaUnit;
      break;
    case Memory::kWeights:
      data = state.plan.weights + tensor.place() * kWeightUnit;
      break;
    case Memory::kSlot:
      data = state.slots[tensor.place()];
      break;
    case Memory::kDeviceArena:
      data = state.device->device.arena + kDevicePrefix + tensor.place() * kArenaUnit;
      break;
    case Memory::kDeviceWeights:
      data = state.device->device.weights + tensor.place() * kWeightUnit;
      break;
  }
  return {data, state.extents_of(tensor), static_cast<DataType>(tensor.type()), tensor.rank()};
}

}  // namespace

TensorView SessionState::view(uint32_t operand) const {
  return operand != kNone ? view_in(*this, plan.tensors[operand]) : TensorView();
}

bool bind_node(SessionState& state, uint32_t index, TensorView* views, uint32_t views_left,
               KernelContext& context, Frame& frame) {
  const plan::Node& node = state.plan.nodes[index];
  const uint32_t count = uint32_t{node.inputs()} + node.outputs();
  if (count > views_left) return false;
  const uint32_t* operand = frame.next;
  frame.operands = operand;
  frame.varies = false;
  frame.running = nullptr;
  for (uint32_t i = 0; i < count; ++i) {
    if (operand[i] == kNone) {
      views[i] = {};
      continue;
    }
    const plan::Tensor& tensor = state.plan.tensors[operand[i]];
    views[i] = view_in(state, tensor);
    frame.varies |= tensor.extents() < state.plan.dynamic_extents;
  }
  operand += count;

  frame.state = &state;
  frame.views = views + count;
  frame.views_left = views_left - count;
  context.operands_ = views;
  context.input_count_ = node.inputs();
  context.output_count_ = node.outputs();
  context.node_ = static_cast<int32_t>(index);
  if (node.attributes() != kNone) {
    const uint64_t* attributes = state.plan.attributes + node.attributes();
    context.attribute_bytes_ = static_cast<uint32_t>(attributes[0]);
    context.attributes_ = attributes + 1;
  } else {
    context.attribute_bytes_ = 0;
    context.attributes_ = nullptr;
  }
  // No bytes have an address too, so that kernels may copy nothing to it and from it.
  context.workspace_ = state.tensors;
  context.workspace_bytes_ = 0;
  if ((node.shape() & kHasWorkspace) != 0) {
    const TensorView workspace = view_in(state, state.plan.tensors[*operand++]);
    context.workspace_ = workspace.as<std::byte>();
    context.workspace_bytes_ = static_cast<size_t>(workspace.count());
  }
  context.state_ = nullptr;
  context.state_bytes_ = 0;
  if ((node.shape() & kHasState) != 0) {
    const TensorView bytes = view_in(state, state.plan.tensors[*operand++]);
    context.state_ = bytes.data;
    context.state_bytes_ = static_cast<size_t>(bytes.count());
  }
  context.host_ = &state.host;
  context.runtime_ = &frame;
  frame.next = operand;
  return true;
}

namespace {

/// The first input whose memory output 0 has taken over although it may not: it is of another size,
/// or `resized`, since a kernel may still read what it has measured. -1 if there is none.
int wrongly_taken(const KernelContext& context, const Kernel& kernel, bool resized) {
  if (kernel.in_place.nothing()) return -1;
  const TensorView& output = context.output(0);
  for (int i = 0; i < context.input_count(); ++i) {
    const TensorView& input = context.input(i);
    if (input.data == output.data && input.present() && kernel.in_place.permits(i) &&
        (resized || (!same_size(input, output) && input.bytes() != 0 && output.bytes() != 0))) {
      return i;
    }
  }
  return -1;
}

}  // namespace

Status run_nodes(SessionState& state, const plan::Graph& nodes, TensorView* views,
                 uint32_t views_left, int depth) {
  const Observer* observer = state.observer;
  KernelContext context;
  Frame frame{};
  frame.depth = depth;
  frame.next = state.plan.operands + nodes.operands();
  const uint32_t end = nodes.first() + nodes.count();
  for (uint32_t index = nodes.first(); index < end; ++index) {
    if (!bind_node(state, index, views, views_left, context, frame)) {
      return state.fail(Code::kCorruptPlan, "operand views", frame.views_left, views_left);
    }
    const plan::Node& node = state.plan.nodes[index];
    const Kernel& kernel = *state.kernels[node.kernel()];
    if (observer != nullptr && observer->before != nullptr) {
      observer->before(observer->self, context);
    }
    const uint16_t shape = node.shape() & kNoShape;
    if (shape != kNoShape) {
      if (Status status = state.shapes[shape]->infer(context); !status) return status;
    }
    // Inputs may vary where outputs do not: a product over a varying axis, for instance.
    if (frame.varies) {
      if (kernel.check != nullptr) {
        if (Status status = kernel.check(context); !status) return status;
      }
      // Memory was planned for the largest extents; only those of this run tell whether an output
      // in the memory of an input would overwrite what is still to be read.
      if (const int i = wrongly_taken(context, kernel, false); i >= 0) {
        return context.fail(Code::kWrongExtent, "output in the memory of an input",
                            context.input(i).count(), context.output(0).count(), i);
      }
    }
    frame.running = &kernel;
    if (Status status = kernel.run(context); !status) {
      // A kernel that fails without saying why still names its node.
      if (state.diagnostic.code != status.code()) {
        return context.fail(status.code(), "operator failed");
      }
      return status;
    }
    if (observer != nullptr && observer->after != nullptr) observer->after(observer->self, context);
  }
  return {};
}

Status host_run_graph(const KernelContext& context, uint32_t graph) {
  const Frame& frame = *static_cast<const Frame*>(context.runtime_);
  SessionState& state = *frame.state;
  if (graph >= state.plan.graph_count ||
      state.plan.graphs[graph].parent() != static_cast<uint32_t>(context.node())) {
    return context.fail(Code::kCorruptPlan, "sub-graph", context.node(), graph);
  }
  if (frame.depth >= kMaxGraphDepth) {
    return context.fail(Code::kCorruptPlan, "depth of sub-graphs", kMaxGraphDepth, frame.depth);
  }
  // One more than its nodes, so that a graph without nodes does not run for ever either.
  state.steps_left -= int64_t{state.plan.graphs[graph].count()} + 1;
  if (state.steps_left < 0) {
    return context.fail(Code::kTooManySteps, "nodes of sub-graphs in one run", state.max_steps,
                        state.max_steps - state.steps_left);
  }
  return run_nodes(state, state.plan.graphs[graph], frame.views, frame.views_left, frame.depth + 1);
}

Status host_resize_output(const KernelContext& context, int output,
                          std::span<const int32_t> extents) {
  const Frame& frame = *static_cast<const Frame*>(context.runtime_);
  SessionState& state = *frame.state;
  if (output < 0 || output >= context.output_count()) {
    return context.fail(Code::kInvalidArgument, "output index", context.output_count(), output);
  }
  const int operand = context.input_count() + output;
  const uint32_t index = frame.operands[operand];
  if (index == kNone) return {};
  const plan::Tensor& tensor = state.plan.tensors[index];
  if (extents.size() != tensor.rank()) {
    return context.fail(Code::kWrongRank, "output rank", tensor.rank(),
                        static_cast<int64_t>(extents.size()), operand);
  }
  if (frame.running != nullptr && output == 0) {
    if (const int i = wrongly_taken(context, *frame.running, true); i >= 0) {
      return context.fail(Code::kCorruptPlan, "output in the memory of an input", 0, 0, i);
    }
  }
  const List promised = list_of(state.plan.root, plan::Plan::VT_PROMISED);
  for (uint32_t axis = 0; axis < tensor.rank(); ++axis) {
    const uint32_t place = tensor.extents() + axis;
    const bool varies = place < state.plan.dynamic_extents;
    // A rule that is none of a plan's own leads nowhere: nobody has verified it.
    const auto* rules = static_cast<const uint32_t*>(promised.data);
    const uint32_t rule = place < promised.count ? rules[place] : kNone;
    const bool known = rule < state.plan.dynamic_extents + state.symbol_count;
    const int32_t promise = known ? state.extents[rule] : -1;
    const int32_t most = promise < 0 ? state.plan.extents[place] : promise;
    const bool exact = promise >= 0 || !varies;
    const int32_t found = extents[axis];
    if (exact ? found != most : static_cast<uint32_t>(found) > static_cast<uint32_t>(most)) {
      return context.fail(Code::kWrongExtent,
                          exact ? "output extent" : "output extent beyond its planned maximum",
                          most, found, operand, static_cast<int>(axis));
    }
    if (varies) state.extents[place] = found;
  }
  return {};
}

void* host_service(const KernelContext& context, uint64_t key) {
  const Frame& frame = *static_cast<const Frame*>(context.runtime_);
  if (key == kDeviceService && frame.state->device != nullptr) return &frame.state->device->device;
  for (const Service& service : frame.state->services) {
    if (service.key == key) return service.pointer;
  }
  return nullptr;
}

const int32_t* host_planned_extents(const KernelContext& context, int operand) {
  const Frame& frame = *static_cast<const Frame*>(context.runtime_);
  const SessionState& state = *frame.state;
  const uint32_t index = frame.operands[operand];
  return index != kNone ? state.plan.extents + state.plan.tensors[index].extents() : nullptr;
}

int64_t host_capacity(const KernelContext& context, int operand) {
  const Frame& frame = *static_cast<const Frame*>(context.runtime_);
  const SessionState& state = *frame.state;
  if (operand < 0 || operand >= context.input_count() + context.output_count()) return 0;
  const uint32_t index = frame.operands[operand];
  if (index == kNone) return 0;
  const plan::Tensor& tensor = state.plan.tensors[index];
  if (static_cast<Memory>(tensor.memory()) == Memory::kWeights) {
    return static_cast<int64_t>(state.plan.weights_bytes - tensor.place() * kWeightUnit);
  }
  if (static_cast<Memory>(tensor.memory()) == Memory::kDeviceWeights) {
    return static_cast<int64_t>(state.plan.root->memory()->device_weights_bytes() -
                                tensor.place() * kWeightUnit);
  }
  return view_in(state, tensor).bytes();
}

}  // namespace intarsia
