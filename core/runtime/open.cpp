// SPDX-License-Identifier: Apache-2.0
//
// Opening sessions. Everything a session keeps is carved from the arena's prefix.
#include <cstddef>
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

/// A table of pointers to rows, sorted by key: of kernels or of shape functions, which both begin
/// with their key, so that one function serves both.
struct Rows {
  template <class Row>
  explicit Rows(std::span<const Row* const> rows) : first(rows.data()), count(rows.size()) {
    static_assert(offsetof(Row, key) == 0 && std::is_standard_layout_v<Row>);
  }
  const void* at(size_t index) const {
    const void* row;
    std::memcpy(&row, static_cast<const std::byte*>(first) + index * sizeof(row), sizeof(row));
    return row;
  }
  const void* first;
  size_t count;
};

uint64_t key_of(const void* row) {
  return *static_cast<const uint64_t*>(row);
}

/// The row with this key, or null.
const void* find_key(const Rows& rows, uint64_t key) {
  size_t low = 0, high = rows.count;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (key_of(rows.at(middle)) < key) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  if (low == rows.count) return nullptr;
  const void* row = rows.at(low);
  return key_of(row) == key ? row : nullptr;
}

/// What a plan requires, and where it is looked up.
struct Requirement {
  const char* what;
  List keys;
  Rows rows;
  Rows more;
  void* bound;  // an array of pointers to rows
  uint16_t (*index_of)(const plan::Node&);
};

Status bind_rows(const PlanView& plan, const Requirement& required, Diagnostic& diagnostic) {
  for (uint32_t i = 0; i < required.keys.count; ++i) {
    const uint64_t key = static_cast<const uint64_t*>(required.keys.data)[i];
    const void* row = find_key(required.rows, key);
    if (row == nullptr) row = find_key(required.more, key);
    if (row == nullptr) {
      const Status status = report(diagnostic, Code::kMissingKernel, required.what, key, i);
      // The first node that needs what is missing tells more than its key.
      for (uint32_t node = plan.node_count; node-- > 0;) {
        if (required.index_of(plan.nodes[node]) == i) diagnostic.node = static_cast<int32_t>(node);
      }
      return status;
    }
    std::memcpy(static_cast<std::byte*>(required.bound) + i * sizeof(row), &row, sizeof(row));
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

Status open_session(const OpenArguments& arguments, SessionState*& opened, Diagnostic& diagnostic) {
  const auto fail = [&diagnostic](Code code, const char* what, uint64_t expected, uint64_t found) {
    return report(diagnostic, code, what, expected, found);
  };
  const PlanView& plan = arguments.plan;
  const plan::Memory& memory = *plan.root->memory();
  std::byte* arena = arguments.arena.data();
  const uint64_t misalignment = reinterpret_cast<uintptr_t>(arena) % kArenaAlignment;
  if (arena == nullptr || misalignment != 0) {
    return fail(Code::kArenaMisaligned, "alignment of the arena", kArenaAlignment, misalignment);
  }
  if (arguments.arena.size() < memory.arena_bytes()) {
    return fail(Code::kArenaTooSmall, "arena bytes", memory.arena_bytes(), arguments.arena.size());
  }
  const SessionOptions& options = arguments.options;
  if (options.parallel != nullptr) {
    const auto threads = static_cast<uint32_t>(options.parallel->threads);
    const uint32_t most = plan.root->threads();
    if (threads > most) return fail(Code::kInvalidArgument, "threads", most, threads);
  }
  const Device* device = options.device;
  if (device == nullptr && memory.device_arena_bytes() != 0) {
    return fail(Code::kUnsupported, "a plan for CUDA needs intarsia::cuda::Session", 0, 0);
  }

  const MetadataCounts counts = metadata_counts(plan);
  Carver carver(arena + kStateBytes);
  auto* kernels = carver.take<const Kernel*>(counts.kernels);
  auto* shapes = carver.take<const ShapeFunction*>(counts.shapes);
  auto* slots = carver.take<void*>(counts.slots);
  auto* views = carver.take<TensorView>(counts.views);
  DeviceState* on_device = nullptr;
  if (device != nullptr && counts.segments != 0) {
    std::byte* place = carver.take<std::byte>(kDeviceStateBytes + kSegmentBytes * counts.segments);
    on_device = new (place) DeviceState{*device, static_cast<uint32_t>(counts.segments)};
  }
  StringState* strings = nullptr;
  if (counts.string_areas != 0) {
    if (arguments.kernels.strings == nullptr) {
      return fail(Code::kUnsupported, "a plan with strings needs KernelSet::with_strings()", 0, 0);
    }
    auto* place = carver.take<std::byte>(kStringPoolBytes + kStringAreaBytes * counts.string_areas);
    strings = arguments.kernels.strings->open(plan, place, arena + memory.arena_bytes());
  }
  auto* extents = carver.take<int32_t>(counts.dynamic_extents);
  auto* state = new (arena) SessionState{
      .plan = plan,
      .tensors = arena + memory.metadata_bytes(),
      .kernels = kernels,
      .shapes = shapes,
      .slots = slots,
      .extents = extents,
      .views = views,
      .view_count = static_cast<uint32_t>(counts.views),
      .symbol_count = static_cast<uint32_t>(counts.symbols),
      .device = on_device,
      .max_steps = options.max_steps,
      .observer = options.observer,
      .services = options.services,
      .host = {options.parallel, options.isa, plan.graph_count, nullptr, host_run_graph,
               host_resize_output, host_service, host_capacity, host_planned_extents,
               strings != nullptr ? &strings->pool : nullptr},
      .diagnostic = {},
      .bytes = arguments.bytes,
  };
  state->host.diagnostic = &state->diagnostic;
  if (counts.dynamic_extents != 0) {
    std::memcpy(extents, plan.extents, counts.dynamic_extents * sizeof(int32_t));
  }
  for (uint32_t i = 0; i < plan.slot_count; ++i) slots[i] = planned_buffer(*state, i);

  using KernelRows = std::span<const Kernel* const>;
  Status status = bind_rows(
      plan,
      {"kernel", list_of(plan.root, plan::Plan::VT_KERNELS), Rows(arguments.kernels.kernels),
       Rows(on_device != nullptr ? device->kernels : KernelRows()), kernels,
       [](const plan::Node& node) { return node.kernel(); }},
      diagnostic);
  if (!status.ok()) return status;
  const Rows shape_rows(arguments.kernels.shapes);
  status = bind_rows(
      plan,
      {"shape function", list_of(plan.root, plan::Plan::VT_SHAPES), shape_rows, shape_rows, shapes,
       [](const plan::Node& node) { return static_cast<uint16_t>(node.shape() & kNoShape); }},
      diagnostic);
  if (!status.ok()) return status;
  if (arguments.check != nullptr) status = arguments.check(*state);
  if (status.ok()) status = create_nodes(*state);
  if (!status.ok()) {
    diagnostic = state->diagnostic;
    return status;
  }
  clear_states(*state);
  opened = state;
  return {};
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

Result<Session> Session::open(std::span<const std::byte> bytes, std::span<std::byte> arena,
                              KernelSet kernels, const SessionOptions& options,
                              Diagnostic* diagnostic) {
  Diagnostic ignored;
  Diagnostic& found = diagnostic != nullptr ? *diagnostic : ignored;
  PlanView plan;
  Session session;
  kernels.strings = &string_support;  // these programs have the room
  Status status = read_untrusted(bytes, options.checksum, plan, found);
  if (status.ok()) {
    status =
        open_session({bytes, plan, arena, kernels, options, &check_nodes}, session.state_, found);
  }
  if (!status.ok()) return status;
  return session;
}

Result<Session> Session::open_trusted(std::span<const std::byte> bytes, std::span<std::byte> arena,
                                      KernelSet kernels, const SessionOptions& options,
                                      Diagnostic* diagnostic) {
  Diagnostic ignored;
  Diagnostic& found = diagnostic != nullptr ? *diagnostic : ignored;
  PlanHeader header;
  if (Status status = read_header(bytes, header, found); !status) return status;
  Session session;
  const Status status = open_session(
      {bytes, view_of(bytes, header), arena, kernels, options, nullptr}, session.state_, found);
  if (!status.ok()) return status;
  return session;
}

}  // namespace intarsia
