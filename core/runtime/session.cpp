// SPDX-License-Identifier: Apache-2.0
//
// Opening, running and closing sessions. Everything a session keeps is carved from the arena's
// prefix.
#include "intarsia/session.h"

#include <new>

#include "core/runtime/session_state.h"

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
const Row* find_key(std::span<const Row* const> rows, uint64_t key) {
  size_t low = 0, high = rows.size();
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (rows[middle]->key < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < rows.size() && rows[low]->key == key ? rows[low] : nullptr;
}

/// Finds each required key in one of two tables. Returns the first missing index, or -1.
template <class Row>
int64_t bind_keys(const flatbuffers::Vector<uint64_t>* keys, std::span<const Row* const> rows,
                  std::span<const Row* const> more, const Row** bound) {
  for (uint32_t i = 0; keys != nullptr && i < keys->size(); ++i) {
    const Row* row = find_key(rows, keys->Get(i));
    if (row == nullptr) row = find_key(more, keys->Get(i));
    if (row == nullptr) return i;
    bound[i] = row;
  }
  return -1;
}

/// Inputs whose extents are the same symbol must agree in them.
Status check_symbols(SessionState& state, const plan::Entry& entry) {
  const auto* symbols = state.plan.root->symbols();
  if (symbols == nullptr || entry.inputs() == nullptr) return {};
  for (uint32_t symbol = 0; symbol < symbols->size(); ++symbol) state.symbols[symbol] = -1;
  for (uint32_t i = 0; i < entry.inputs()->size(); ++i) {
    const plan::Port& port = *entry.inputs()->Get(i);
    const plan::Tensor& tensor = state.plan.tensors[state.plan.slots[port.slot()].tensor()];
    const int32_t* extents = state.extents_of(tensor);
    for (uint32_t axis = 0; port.symbols() != nullptr && axis < port.symbols()->size(); ++axis) {
      const int32_t symbol = port.symbols()->Get(axis);
      if (symbol < 0) continue;
      int32_t& value = state.symbols[symbol];
      if (value < 0) value = extents[axis];
      if (extents[axis] == value) continue;
      return state.fail(Code::kWrongExtent, "input extents of one symbolic dimension differ", value,
                        extents[axis], static_cast<int>(i), static_cast<int>(axis));
    }
  }
  return {};
}

/// True if [a, a + a_bytes) and [b, b + b_bytes) have a byte in common.
bool overlap(const void* a, uint64_t a_bytes, const void* b, uint64_t b_bytes) {
  const auto first = reinterpret_cast<uintptr_t>(a), second = reinterpret_cast<uintptr_t>(b);
  return a_bytes != 0 && b_bytes != 0 &&
         (first <= second ? second - first < a_bytes : first - second < b_bytes);
}

bool is_bound(const SessionState& state, uint32_t slot) {
  return state.slots[slot] != state.tensors + state.plan.slots[slot].place() * kArenaUnit;
}
/// Bytes of a slot's buffer.
uint64_t slot_bytes(const SessionState& state, uint32_t slot) {
  const plan::Tensor& tensor = state.plan.tensors[state.plan.slots[slot].tensor()];
  return static_cast<uint64_t>(TensorView{nullptr, state.plan.extents + tensor.extents(),
                                          static_cast<DataType>(tensor.type()), tensor.rank()}
                                   .bytes());
}

/// Buffers that the caller has bound may be the same memory only if nothing writes there. Looked at
/// when a run begins, so that a program may exchange buffers one after the other.
Status check_bindings(SessionState& state) {
  for (uint32_t i = 0; i < state.plan.slot_count; ++i) {
    if (!is_bound(state, i)) continue;
    for (uint32_t j = 0; j < i; ++j) {
      const uint32_t both = state.plan.slots[i].flags() & state.plan.slots[j].flags();
      if (!is_bound(state, j) || (both & kReadOnlySlot) != 0) continue;
      if (overlap(state.slots[i], slot_bytes(state, i), state.slots[j], slot_bytes(state, j))) {
        return state.fail(Code::kInvalidArgument, "buffers bound to two ports overlap (slots)", j,
                          i);
      }
    }
  }
  state.check_bindings = nullptr;
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
  const auto type = static_cast<DataType>(state->plan.tensors[slot.tensor()].type());
  const uint64_t planned = slot_bytes(*state, port->slot());
  if (bytes < planned) {
    return state->fail(Code::kInvalidArgument, "bytes of the bound buffer",
                       static_cast<int64_t>(planned), static_cast<int64_t>(bytes), index);
  }
  // The session begins where its arena does.
  if (overlap(buffer, planned, state, state->plan.root->memory()->arena_bytes())) {
    return state->fail(Code::kInvalidArgument, "bound buffer in the session's arena", 0, 0, index);
  }
  if ((slot.flags() & kReadOnlySlot) == 0 &&
      overlap(buffer, planned, state->bytes.data(), state->bytes.size())) {
    return state->fail(Code::kInvalidArgument, "bound buffer in the plan's bytes", 0, 0, index);
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
  state->check_bindings = &check_bindings;
  return {};
}

/// Calls `destroy` of the first `end` nodes that keep a state of their own.
void destroy_nodes(SessionState& state, uint32_t end) {
  KernelContext context;
  Frame frame{};
  for (uint32_t i = end; i-- > 0;) {
    const Kernel& kernel = *state.kernels[state.plan.nodes[i].kernel()];
    if (kernel.destroy == nullptr) continue;
    bind_node(state, i, state.views, state.view_count, context, frame);
    kernel.destroy(context);
  }
  state.has_node_states = false;
}

void use_planned_extents(SessionState& state, const plan::Tensor& tensor) {
  for (uint32_t axis = 0; axis < tensor.rank(); ++axis) {
    const uint32_t place = tensor.extents() + axis;
    if (place < state.plan.dynamic_extents) state.extents[place] = state.plan.extents[place];
  }
}

/// Calls `create` of the nodes that keep a state of their own: of all, or, on failure, of none. It
/// sees its outputs at their planned extents, also after runs.
Status create_nodes(SessionState& state) {
  KernelContext context;
  Frame frame{};
  for (uint32_t i = 0; i < state.plan.node_count; ++i) {
    const Kernel& kernel = *state.kernels[state.plan.nodes[i].kernel()];
    if (kernel.create == nullptr) continue;
    bind_node(state, i, state.views, state.view_count, context, frame);
    const plan::Node& node = state.plan.nodes[i];
    for (uint32_t j = 0; j < node.outputs(); ++j) {
      const uint32_t operand = state.plan.operands[node.operands() + node.inputs() + j];
      if (operand != kNone) use_planned_extents(state, state.plan.tensors[operand]);
    }
    if (Status status = kernel.create(context); !status) {
      destroy_nodes(state, i);
      return status;
    }
  }
  state.has_node_states = true;
  return {};
}

/// Makes the states that ports show what they are at open: zero, with the planned extents.
void clear_states(SessionState& state) {
  for (uint32_t i = 0; i < state.plan.slot_count; ++i) {
    const plan::Slot& slot = state.plan.slots[i];
    if ((slot.flags() & kStateSlot) == 0) continue;
    use_planned_extents(state, state.plan.tensors[slot.tensor()]);
    std::memset(state.slots[i], 0, static_cast<size_t>(state.view(slot.tensor()).bytes()));
  }
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
    return report(diagnostic, code, what, expected, found);
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
  state->symbols = carver.take<int32_t>(counts.symbols);
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
  if (const int64_t missing =
          bind_keys(plan.root->kernels(), arguments.kernels.kernels,
                    state->device != nullptr ? device->kernels : std::span<const Kernel* const>(),
                    state->kernels);
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
  clear_states(*slot);
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
  if (state_->has_node_states) destroy_nodes(*state_, state_->plan.node_count);
  state_ = nullptr;
}

Status begin_run(SessionState& state, const plan::Entry& entry) {
  if (state.busy.exchange(true, std::memory_order_acquire)) return Code::kBusy;
  state.diagnostic = {};
  Status status;
  if (!state.has_node_states) {
    status = state.fail(Code::kInvalidArgument, "states of nodes; reset_states() has failed");
  }
  if (status.ok() && state.check_bindings != nullptr) status = state.check_bindings(state);
  if (status.ok()) status = check_symbols(state, entry);
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
Status Session::reset_states() {
  if (state_ == nullptr) return Code::kInvalidArgument;
  if (state_->busy.exchange(true, std::memory_order_acquire)) return Code::kBusy;
  state_->diagnostic = {};
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
