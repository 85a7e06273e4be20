// SPDX-License-Identifier: Apache-2.0
//
// Opening, running and closing sessions. Everything a session keeps is carved from the arena's
// prefix.
#include "intarsia/session.h"

#include <new>

#include "core/session_state.h"

namespace intarsia {
namespace {

/// Hands out the metadata prefix piece by piece; `metadata_bytes` guarantees that it suffices.
class Carver {
 public:
  explicit Carver(std::byte* begin) : next_(begin) {}
  template <class T>
  T* take(uint64_t count) {
    T* result = reinterpret_cast<T*>(next_);
    next_ += count * sizeof(T);
    return result;
  }

 private:
  std::byte* next_;
};

/// The row with this key in a table sorted by key, or null.
template <class Row>
const Row* find_key(std::span<const Row> rows, uint64_t key) {
  size_t low = 0, high = rows.size();
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (rows[middle].key < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < rows.size() && rows[low].key == key ? &rows[low] : nullptr;
}

/// Finds each required key in one of two tables. Returns the first missing index, or -1.
template <class Row>
int64_t bind_keys(const flatbuffers::Vector<uint64_t>* keys, std::span<const Row> rows,
                  std::span<const Row> more, const Row** bound) {
  for (uint32_t i = 0; keys != nullptr && i < keys->size(); ++i) {
    const Row* row = find_key(rows, keys->Get(i));
    if (row == nullptr) row = find_key(more, keys->Get(i));
    if (row == nullptr) return i;
    bound[i] = row;
  }
  return -1;
}

/// Fails unless the node's operands lie in the memory that its kernel reads and writes.
Status check_memory(const SessionState& state, const plan::Node& node, const Kernel& kernel,
                    const KernelContext& context) {
  const bool device = state.device != nullptr && state.device->device.has(&kernel);
  const bool reads = device && kernel.key != kernel_key(kToDevice);
  const bool writes = device && kernel.key != kernel_key(kToHost);
  const uint32_t formal = uint32_t{node.inputs()} + node.outputs();
  const uint32_t scratch =
      ((node.shape() & kHasWorkspace) != 0 ? 1u : 0u) + ((node.shape() & kHasState) != 0 ? 1u : 0u);
  for (uint32_t i = 0; i < formal + scratch; ++i) {
    const uint32_t operand = state.plan.operands[node.operands() + i];
    if (operand == kNone) continue;
    const bool found = on_device(static_cast<Memory>(state.plan.tensors[operand].memory()));
    const bool expected = i < node.inputs() ? reads : writes;
    if (found == expected) continue;
    return context.fail(Code::kCorruptPlan, "memory of the operand (0 host, 1 device)",
                        expected ? 1 : 0, found ? 1 : 0, static_cast<int>(i));
  }
  return {};
}

/// Runs every node's `check` at the planned extents. Where extents vary, planned maxima of
/// different operands need not agree with one another; such a node is checked again before each
/// run.
Status check_nodes(SessionState& state) {
  KernelContext context;
  Frame frame{};
  for (uint32_t i = 0; i < state.plan.node_count; ++i) {
    const plan::Node& node = state.plan.nodes[i];
    if (!bind_node(state, i, state.views, state.view_count, context, frame)) {
      return state.fail(Code::kCorruptPlan, "operand views",
                        int64_t{node.inputs()} + node.outputs(), state.view_count);
    }
    const Kernel& kernel = *state.kernels[node.kernel()];
    if (Status status = check_memory(state, node, kernel, context); !status) return status;
    if (kernel.check == nullptr) continue;
    const int count = context.input_count() + context.output_count();
    for (int j = 0; j < count; ++j) state.views[j].data = nullptr;
    const Status status = kernel.check(context);
    if (status.ok()) continue;
    if (frame.varies && status.code() == Code::kWrongExtent) continue;
    if (state.diagnostic.code != status.code()) return context.fail(status.code(), "node refused");
    return status;
  }
  state.diagnostic = {};
  return {};
}

/// Inputs whose extents are the same symbol must agree in them.
Status check_symbols(SessionState& state, const plan::Entry& entry) {
  const auto* symbols = state.plan.root->symbols();
  if (symbols == nullptr || entry.inputs() == nullptr) return {};
  for (int32_t symbol = 0; symbol < static_cast<int32_t>(symbols->size()); ++symbol) {
    int32_t first = -1;
    for (uint32_t i = 0; i < entry.inputs()->size(); ++i) {
      const plan::Port& port = *entry.inputs()->Get(i);
      const plan::Tensor& tensor = state.plan.tensors[state.plan.slots[port.slot()].tensor()];
      const int32_t* extents = state.extents_of(tensor);
      for (uint32_t axis = 0; port.symbols() != nullptr && axis < port.symbols()->size(); ++axis) {
        if (port.symbols()->Get(axis) != symbol) continue;
        if (first < 0) first = extents[axis];
        if (extents[axis] == first) continue;
        return state.fail(Code::kWrongExtent, "input extents of one symbolic dimension differ",
                          first, extents[axis], static_cast<int>(i), static_cast<int>(axis));
      }
    }
  }
  return {};
}

Status update_states(SessionState& state) {
  const auto* updates = state.plan.root->states();
  for (uint32_t i = 0; updates != nullptr && i < updates->size(); ++i) {
    const plan::StateUpdate& update = *updates->Get(i);
    const plan::Tensor& tensor = state.plan.tensors[state.plan.slots[update.slot()].tensor()];
    const TensorView source = state.view(update.source());
    for (int axis = 0; axis < tensor.rank(); ++axis) {
      if (tensor.extents() < state.plan.dynamic_extents) {
        state.extents[tensor.extents() + axis] = source.extents[axis];
      }
    }
    void* target = state.slots[update.slot()];
    if (target != source.data)
      std::memmove(target, source.data, static_cast<size_t>(source.bytes()));
  }
  return {};
}

const plan::Entry* entry_at(const SessionState* state, int index) {
  if (state == nullptr || index < 0) return nullptr;
  const auto* entries = state->plan.root->entries();
  return static_cast<uint32_t>(index) < entries->size() ? entries->Get(static_cast<uint32_t>(index))
                                                        : nullptr;
}

using Ports = flatbuffers::Vector<flatbuffers::Offset<plan::Port>>;

std::string_view text_of(const flatbuffers::String* string) {
  return string != nullptr ? std::string_view(string->c_str(), string->size()) : "";
}

const plan::Port* port_at(const Ports* ports, int index) {
  return ports != nullptr && index >= 0 && static_cast<uint32_t>(index) < ports->size()
             ? ports->Get(static_cast<uint32_t>(index))
             : nullptr;
}

Result<Port> port_of(SessionState* state, const Ports* ports, int index, const char* what) {
  if (state == nullptr) return Code::kInvalidArgument;
  const plan::Port* port = port_at(ports, index);
  if (port == nullptr) {
    const int64_t last = ports != nullptr ? int64_t{ports->size()} - 1 : -1;
    return state->fail(Code::kInvalidArgument, what, last, index);
  }
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

Status bind_port(SessionState* state, const Ports* ports, int index, void* buffer, size_t bytes,
                 const char* what) {
  if (state == nullptr) return Code::kInvalidArgument;
  const plan::Port* port = port_at(ports, index);
  if (port == nullptr) {
    const int64_t last = ports != nullptr ? int64_t{ports->size()} - 1 : -1;
    return state->fail(Code::kInvalidArgument, what, last, index);
  }
  const plan::Slot& slot = state->plan.slots[port->slot()];
  if (buffer == nullptr) {
    state->slots[port->slot()] = state->tensors + slot.place() * kArenaUnit;
    return {};
  }
  const plan::Tensor& tensor = state->plan.tensors[slot.tensor()];
  const auto type = static_cast<DataType>(tensor.type());
  const TensorView planned{nullptr, state->plan.extents + tensor.extents(), type, tensor.rank()};
  if (bytes < static_cast<uint64_t>(planned.bytes())) {
    return state->fail(Code::kInvalidArgument, "bytes of the bound buffer", planned.bytes(),
                       static_cast<int64_t>(bytes), index);
  }
  const auto alignment =
      static_cast<uintptr_t>(element_bits(type) > 8 ? element_bits(type) / 8 : 1);
  const uintptr_t natural = alignment > 8 ? 8 : alignment;
  if (reinterpret_cast<uintptr_t>(buffer) % natural != 0) {
    return state->fail(Code::kInvalidArgument, "alignment of the bound buffer",
                       static_cast<int64_t>(natural),
                       static_cast<int64_t>(reinterpret_cast<uintptr_t>(buffer) % natural), index);
  }
  state->slots[port->slot()] = buffer;
  return {};
}

/// Calls `create` or `destroy` of the nodes that keep a state of their own.
Status create_nodes(SessionState& state) {
  KernelContext context;
  Frame frame{};
  for (uint32_t i = 0; i < state.plan.node_count; ++i) {
    const Kernel& kernel = *state.kernels[state.plan.nodes[i].kernel()];
    if (kernel.create == nullptr) continue;
    bind_node(state, i, state.views, state.view_count, context, frame);
    if (Status status = kernel.create(context); !status) {
      for (uint32_t j = i; j-- > 0;) {
        const Kernel& created = *state.kernels[state.plan.nodes[j].kernel()];
        if (created.destroy == nullptr) continue;
        bind_node(state, j, state.views, state.view_count, context, frame);
        created.destroy(context);
      }
      return status;
    }
  }
  return {};
}

struct OpenArguments {
  std::span<const std::byte> bytes;
  const PlanView& plan;
  std::span<std::byte> arena;
  KernelSet kernels;
  const SessionOptions& options;
  /// `check_nodes` for untrusted plans, else null: a pointer, so that trusted programs do not link
  /// it.
  Status (*check)(SessionState&);
};

Result<SessionState*> open_session(const OpenArguments& arguments, Diagnostic& diagnostic) {
  const auto fail = [&diagnostic](Code code, const char* what, uint64_t expected, uint64_t found) {
    diagnostic = Diagnostic{
        code,    what, -1, -1, -1, static_cast<int64_t>(expected), static_cast<int64_t>(found),
        nullptr, 0};
    return Status(code);
  };
  const PlanView& plan = arguments.plan;
  const plan::Memory& memory = *plan.root->memory();
  const uint64_t misalignment =
      reinterpret_cast<uintptr_t>(arguments.arena.data()) % kArenaAlignment;
  if (arguments.arena.data() == nullptr || misalignment != 0) {
    return fail(Code::kArenaMisaligned, "alignment of the arena", kArenaAlignment, misalignment);
  }
  if (arguments.arena.size() < memory.arena_bytes()) {
    return fail(Code::kArenaTooSmall, "arena bytes", memory.arena_bytes(), arguments.arena.size());
  }
  const Parallel* parallel = arguments.options.parallel;
  if (parallel != nullptr && static_cast<uint32_t>(parallel->threads) > plan.root->threads()) {
    return fail(Code::kInvalidArgument, "threads", plan.root->threads(),
                static_cast<uint64_t>(parallel->threads));
  }

  const Device* device = arguments.options.device;
  if (device == nullptr && memory.device_arena_bytes() != 0) {
    return fail(Code::kUnsupported,
                "the plan is for a CUDA device; open it with intarsia::cuda::Session", 0, 0);
  }

  const MetadataCounts counts = metadata_counts(plan);
  Carver carver(arguments.arena.data() + kStateBytes);
  auto* state = new (arguments.arena.data()) SessionState;
  state->plan = plan;
  state->tensors = arguments.arena.data() + memory.metadata_bytes();
  state->kernels = carver.take<const Kernel*>(counts.kernels);
  state->shapes = carver.take<const ShapeFunction*>(counts.shapes);
  state->slots = carver.take<void*>(counts.slots);
  state->views = carver.take<TensorView>(counts.views);
  if (device != nullptr && counts.segments != 0) {
    std::byte* place = carver.take<std::byte>(kDeviceStateBytes + kSegmentBytes * counts.segments);
    state->device = new (place) DeviceState{*device, static_cast<uint32_t>(counts.segments)};
  }
  state->extents = carver.take<int32_t>(counts.dynamic_extents);
  state->view_count = static_cast<uint32_t>(counts.views);
  state->observer = arguments.options.observer;
  state->services = arguments.options.services;
  state->bytes = arguments.bytes;
  state->host = {parallel,           arguments.options.isa, &state->diagnostic, host_run_graph,
                 host_resize_output, host_service,          host_capacity,      plan.graph_count};
  if (counts.dynamic_extents != 0) {
    std::memcpy(state->extents, plan.extents, counts.dynamic_extents * sizeof(int32_t));
  }
  for (uint32_t i = 0; i < plan.slot_count; ++i) {
    state->slots[i] = state->tensors + plan.slots[i].place() * kArenaUnit;
  }
  // The first node that needs what is missing tells more than its key.
  const auto fail_missing = [&](const char* what, uint64_t key, int64_t missing,
                                uint16_t (*index_of)(const plan::Node&)) {
    const Status status = fail(Code::kMissingKernel, what, key, static_cast<uint64_t>(missing));
    for (uint32_t i = plan.node_count; i-- > 0;) {
      if (index_of(plan.nodes[i]) == missing) diagnostic.node = static_cast<int32_t>(i);
    }
    return status;
  };
  if (const int64_t missing = bind_keys(
          plan.root->kernels(), arguments.kernels.kernels,
          state->device != nullptr ? device->kernels : std::span<const Kernel>(), state->kernels);
      missing >= 0) {
    return fail_missing("kernel", plan.root->kernels()->Get(static_cast<uint32_t>(missing)),
                        missing, [](const plan::Node& node) { return node.kernel(); });
  }
  if (const int64_t missing =
          bind_keys(plan.root->shapes(), arguments.kernels.shapes, {}, state->shapes);
      missing >= 0) {
    return fail_missing(
        "shape function", plan.root->shapes()->Get(static_cast<uint32_t>(missing)), missing,
        [](const plan::Node& node) { return static_cast<uint16_t>(node.shape() & kNoShape); });
  }
  Status status;
  if (arguments.check != nullptr) status = arguments.check(*state);
  if (status.ok()) status = create_nodes(*state);
  if (!status.ok()) {
    diagnostic = state->diagnostic;
    return status;
  }
  return state;
}

}  // namespace

Result<PlanInfo> plan_info(std::span<const std::byte> bytes, Diagnostic* diagnostic) {
  PlanView plan;
  Diagnostic ignored;
  Diagnostic& found = diagnostic != nullptr ? *diagnostic : ignored;
  if (Status status = read_untrusted(bytes, true, plan, found); !status) return status;
  const plan::Memory& memory = *plan.root->memory();
  return PlanInfo{kPlanFormatVersion,
                  memory.arena_bytes(),
                  bytes.size(),
                  plan.weights_bytes,
                  plan.node_count,
                  plan.root->threads(),
                  memory.device_arena_bytes(),
                  memory.device_weights_bytes()};
}

namespace {

Result<Session> adopt(Result<SessionState*> state, Session& session, SessionState*& slot) {
  if (!state.ok()) return state.status();
  slot = state.value();
  session.reset_states();
  return std::move(session);
}

}  // namespace

Result<Session> Session::open(std::span<const std::byte> bytes, std::span<std::byte> arena,
                              KernelSet kernels, const SessionOptions& options,
                              Diagnostic* diagnostic) {
  Diagnostic ignored;
  Diagnostic& found = diagnostic != nullptr ? *diagnostic : ignored;
  PlanView plan;
  if (Status status = read_untrusted(bytes, options.checksum, plan, found); !status) return status;
  Session session;
  return adopt(open_session({bytes, plan, arena, kernels, options, &check_nodes}, found), session,
               session.state_);
}

Result<Session> Session::open_trusted(std::span<const std::byte> bytes, std::span<std::byte> arena,
                                      KernelSet kernels, const SessionOptions& options,
                                      Diagnostic* diagnostic) {
  Diagnostic ignored;
  Diagnostic& found = diagnostic != nullptr ? *diagnostic : ignored;
  PlanHeader header;
  if (Status status = read_header(bytes, header, found); !status) return status;
  const PlanView plan = view_of(bytes, header);
  Session session;
  return adopt(open_session({bytes, plan, arena, kernels, options, nullptr}, found), session,
               session.state_);
}

void Session::close() {
  if (state_ == nullptr) return;
  KernelContext context;
  Frame frame{};
  for (uint32_t i = 0; i < state_->plan.node_count; ++i) {
    const Kernel& kernel = *state_->kernels[state_->plan.nodes[i].kernel()];
    if (kernel.destroy == nullptr) continue;
    bind_node(*state_, i, state_->views, state_->view_count, context, frame);
    kernel.destroy(context);
  }
  state_ = nullptr;
}

Status begin_run(SessionState& state, const plan::Entry& entry) {
  if (state.busy.exchange(true, std::memory_order_acquire)) return Code::kBusy;
  state.diagnostic = {};
  const Status status = check_symbols(state, entry);
  if (!status) state.busy.store(false, std::memory_order_release);
  return status;
}

Status end_run(SessionState& state, Status status) {
  if (status.ok()) status = update_states(state);
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
  if (Status status = begin_run(*state_, *entry); !status) return status;
  return end_run(*state_, run_graph(*state_, entry->graph(), state_->views, state_->view_count, 0));
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

namespace {
const Ports* inputs_of(const SessionState* state, int entry) {
  const plan::Entry* found = entry_at(state, entry);
  return found != nullptr ? found->inputs() : nullptr;
}
const Ports* outputs_of(const SessionState* state, int entry) {
  const plan::Entry* found = entry_at(state, entry);
  return found != nullptr ? found->outputs() : nullptr;
}
int size_of(const Ports* ports) {
  return ports != nullptr ? static_cast<int>(ports->size()) : 0;
}
}  // namespace

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
Status Session::bind_input(int index, const void* buffer, size_t bytes, int entry) {
  // Nodes never write a graph input: verify_plan refuses such plans.
  return bind_port(state_, inputs_of(state_, entry), index, const_cast<void*>(buffer), bytes,
                   "input index (at most)");
}
Status Session::bind_output(int index, void* buffer, size_t bytes, int entry) {
  return bind_port(state_, outputs_of(state_, entry), index, buffer, bytes,
                   "output index (at most)");
}

Status Session::resize_input(int index, std::span<const int32_t> extents, int entry) {
  if (state_ == nullptr) return Code::kInvalidArgument;
  const plan::Port* port = port_at(inputs_of(state_, entry), index);
  if (port == nullptr) {
    return state_->fail(Code::kInvalidArgument, "input index (at most)", input_count(entry) - 1,
                        index);
  }
  const plan::Tensor& tensor = state_->plan.tensors[state_->plan.slots[port->slot()].tensor()];
  if (extents.size() != tensor.rank()) {
    return state_->fail(Code::kWrongRank, "input rank", tensor.rank(),
                        static_cast<int64_t>(extents.size()), index);
  }
  const bool varies = tensor.extents() < state_->plan.dynamic_extents;
  const auto* symbols = port->symbols();
  for (int axis = 0; axis < tensor.rank(); ++axis) {
    const int32_t found = extents[static_cast<size_t>(axis)];
    const int32_t planned = state_->plan.extents[tensor.extents() + static_cast<uint32_t>(axis)];
    const int32_t symbol =
        symbols != nullptr && symbols->size() != 0 ? symbols->Get(static_cast<uint32_t>(axis)) : -1;
    if (!varies || symbol < 0) {
      if (found == planned) continue;
      return state_->fail(Code::kWrongExtent, "input extent", planned, found, index, axis);
    }
    const plan::Symbol& range = *state_->plan.root->symbols()->Get(static_cast<uint32_t>(symbol));
    if (found > planned || found > range.maximum()) {
      return state_->fail(Code::kWrongExtent, "input extent above its maximum", planned, found,
                          index, axis);
    }
    if (found < range.minimum() || found < 0) {
      return state_->fail(Code::kWrongExtent, "input extent below its minimum", range.minimum(),
                          found, index, axis);
    }
  }
  for (int axis = 0; varies && axis < tensor.rank(); ++axis) {
    state_->extents[tensor.extents() + static_cast<uint32_t>(axis)] =
        extents[static_cast<size_t>(axis)];
  }
  return {};
}

int Session::state_count() const {
  return state_ == nullptr ? 0 : size_of(state_->plan.root->state_ports());
}
Result<Port> Session::state(int index) const {
  return port_of(state_, state_ != nullptr ? state_->plan.root->state_ports() : nullptr, index,
                 "state index (at most)");
}
void Session::reset_states() {
  for (int i = 0; i < state_count(); ++i) {
    const TensorView tensor = state(i).value().tensor;
    if (tensor.data != nullptr) std::memset(tensor.data, 0, static_cast<size_t>(tensor.bytes()));
  }
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
