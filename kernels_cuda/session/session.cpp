// SPDX-License-Identifier: Apache-2.0
//
// A session on a device: core/runtime/session.cpp opens and checks the plan, this file adds the
// runs of device nodes as graphs, and the order of graphs, copies and host nodes.
#include "core/runtime/session_state.h"
#include "intarsia/cuda.h"
#include "intarsia/operator.h"
#include "intarsia/services.h"
#include "kernels_cuda/common/report.h"
#include "kernels_cuda/session/runtime.h"

namespace intarsia::cuda {
namespace {

enum class Side { kHost, kCopy, kDevice };

Side side_of(const SessionState& state, uint32_t node) {
  const Kernel* kernel = state.kernels[state.plan.nodes[node].kernel()];
  if (!state.device->device.has(kernel)) return Side::kHost;
  const bool copies = kernel->key == kernel_key(kToDevice) || kernel->key == kernel_key(kToHost);
  return copies ? Side::kCopy : Side::kDevice;
}

Status cuda_status(SessionState& state, int error) {
  return runtime::status_of(error, &state.diagnostic, -1);
}

Status run_range(SessionState& state, uint32_t first, uint32_t count, uint32_t operands) {
  return run_nodes(state, {first, count, operands, kNone}, state.views, state.view_count, 0);
}

uint32_t operands_of(const SessionState& state, uint32_t first, uint32_t end) {
  uint32_t count = 0;
  for (uint32_t node = first; node < end; ++node) count += operand_count(state.plan.nodes[node]);
  return count;
}

/// Finds the runs of device nodes. Sub-graphs and varying extents belong to the host.
Status find_segments(SessionState& state) {
  uint32_t count = 0;
  for (uint32_t g = 0; g < state.plan.graph_count; ++g) {
    const plan::Graph& graph = state.plan.graphs[g];
    bool open = false;
    uint32_t operands = graph.operands();
    for (uint32_t node = graph.first(); node < graph.first() + graph.count(); ++node) {
      const Side side = side_of(state, node);
      const bool varies = (state.plan.nodes[node].shape() & kNoShape) != kNoShape;
      if (side != Side::kHost && (graph.parent() != kNone || varies)) {
        return state.fail(Code::kCorruptPlan,
                          "node on the device in a sub-graph, or of varying "
                          "extents",
                          0, node);
      }
      if (side == Side::kDevice && !open) {
        if (count == state.device->count) {
          return state.fail(Code::kCorruptPlan, "device segments", count, int64_t{count} + 1);
        }
        state.device->segments()[count++] = {node, 0, operands, 0, {nullptr}};
      }
      open = side == Side::kDevice;
      if (open) ++state.device->segments()[count - 1].count;
      operands += operand_count(state.plan.nodes[node]);
    }
  }
  state.device->count = count;
  return {};
}

Status upload_weights(SessionState& state) {
  const plan::Memory& memory = *state.plan.root->memory();
  if (memory.device_weights_bytes() == 0) return {};
  return cuda_status(state, runtime::copy(state.device->device.weights,
                                          state.plan.weights + memory.device_weights_offset(),
                                          static_cast<size_t>(memory.device_weights_bytes()),
                                          runtime::Copy::kToDevice, state.device->device.queue));
}

Status clear_report(SessionState& state) {
  const Device& device = state.device->device;
  return cuda_status(state, runtime::fill(device.arena, 0xff, sizeof(Report), device.queue));
}

Status capture(SessionState& state, Segment& segment) {
  void* stream = state.device->device.queue;
  if (Status status = cuda_status(state, runtime::begin_capture(stream)); !status) return status;
  const Status recorded = run_range(state, segment.first, segment.count, segment.operands);
  // A capture that was begun must be ended, whatever came of it.
  void* graph = nullptr;
  const int error = runtime::end_capture(stream, &graph);
  if (error == 0) segment.graph = graph;
  return recorded.ok() ? cuda_status(state, error) : recorded;
}

bool fills_nan(const SessionState& state) {
  for (const Service& service : state.services) {
    if (service.key == kSingularMatrixService) {
      return *static_cast<const SingularMatrix*>(service.pointer) == SingularMatrix::kFillNan;
    }
  }
  return false;
}

/// The extents of input 0 of a node on the device.
const int32_t* first_extents(const SessionState& state, uint32_t node) {
  for (uint32_t i = 0; i < state.device->count; ++i) {
    const Segment& segment = state.device->segments()[i];
    if (node < segment.first || node >= segment.first + segment.count) continue;
    const uint32_t operand = segment.operands + operands_of(state, segment.first, node);
    return state.extents_of(state.plan.tensors[state.plan.operands[operand]]);
  }
  return nullptr;
}

/// What device code reported, as the kernels of the CPU say it.
Diagnostic diagnostic_of(const SessionState& state, Report report) {
  const int32_t node = node_of(report);
  if (is_singular_matrix(report)) {
    return {
        Code::kInvalidValue, "matrix {} is singular", node, 0, -1, 0, item_of(report), nullptr, 0};
  }
  const int axis = axis_of(report);
  const int32_t* extents = first_extents(state, static_cast<uint32_t>(node));
  return {Code::kIndexOutOfRange,
          "index out of range",
          node,
          1,
          axis,
          extents != nullptr ? extents[axis] : 0,
          index_of(report),
          nullptr,
          0};
}

Status check_device_memory(std::span<std::byte> memory, uint64_t bytes, const char* size,
                           const char* alignment, Diagnostic& diagnostic) {
  const auto fail = [&](Code code, const char* what, uint64_t expected, uint64_t found) {
    diagnostic = Diagnostic{
        code,    what, -1, -1, -1, static_cast<int64_t>(expected), static_cast<int64_t>(found),
        nullptr, 0};
    return Status(code);
  };
  if (memory.size() < bytes) return fail(Code::kArenaTooSmall, size, bytes, memory.size());
  const uint64_t rest = reinterpret_cast<uintptr_t>(memory.data()) % kDeviceAlignment;
  return rest == 0 ? Status() : fail(Code::kArenaMisaligned, alignment, kDeviceAlignment, rest);
}

}  // namespace

void* Stream::handle() const {
  return static_cast<const Device*>(context_.service(kDeviceService))->queue;
}

Status Stream::launched(int error) const {
  return runtime::status_of(error, context_.host_->diagnostic, context_.node());
}

const void* host_constant(const KernelContext& context, int input) {
  const auto& device = *static_cast<const Device*>(context.service(kDeviceService));
  // A session on a device has kernels: without any a test calls, whose operands are the host's.
  if (device.kernels.empty()) return context.input(input).data;
  const PlanView& plan = static_cast<const Frame*>(context.runtime_)->state->plan;
  const plan::Memory& memory = *plan.root->memory();
  const auto* data = static_cast<const std::byte*>(context.input(input).data);
  const auto place =
      reinterpret_cast<uintptr_t>(data) - reinterpret_cast<uintptr_t>(device.weights);
  if (data == nullptr || place >= memory.device_weights_bytes()) return nullptr;
  return plan.weights + memory.device_weights_offset() + place;
}

Session& Session::operator=(Session&& other) noexcept {
  if (this != &other) {
    close();
    pinned_ = std::exchange(other.pinned_, nullptr);
    intarsia::Session::operator=(std::move(other));
  }
  return *this;
}

Result<Session> Session::open(std::span<const std::byte> plan, const Memory& memory,
                              const Kernels& kernels, const Options& options,
                              Diagnostic* diagnostic) {
  Diagnostic ignored;
  Diagnostic& found = diagnostic != nullptr ? *diagnostic : ignored;
  const Result<PlanInfo> info = plan_info(plan, &found);
  if (!info.ok()) return info.status();
  if (Status status =
          check_device_memory(memory.device_arena, info->device_arena_bytes, "device arena bytes",
                              "alignment of the device arena", found);
      !status) {
    return status;
  }
  if (Status status =
          check_device_memory(memory.device_weights, info->device_weights_bytes,
                              "device weights bytes", "alignment of the device weights", found);
      !status) {
    return status;
  }
  if (options.stream == nullptr && info->device_arena_bytes != 0) {
    found = Diagnostic{Code::kInvalidArgument,
                       "stream (a cudaStream_t of the program's own, not the default stream)",
                       -1,
                       -1,
                       -1,
                       0,
                       0,
                       nullptr,
                       0};
    return found.code;
  }
  const Device device{memory.device_arena.data(), memory.device_weights.data(), options.stream,
                      kernels.device.kernels};
  SessionOptions host = options.host;
  host.device = &device;
  Result<intarsia::Session> opened =
      intarsia::Session::open(plan, memory.host_arena, kernels.host, host, &found);
  if (!opened.ok()) return opened.status();
  Session session(std::move(opened.value()));
  SessionState* state = SessionAccess::state(session);
  if (state->device != nullptr) {
    if (Status status = session.prepare(options); !status) {
      found = state->diagnostic;
      return status;
    }
    if (runtime::pin(memory.host_arena.data(), memory.host_arena.size()) == 0) {
      session.pinned_ = memory.host_arena.data();
    }
  }
  return session;
}

Status Session::prepare(const Options& options) {
  SessionState& state = *SessionAccess::state(*this);
  if (Status status = find_segments(state); !status) {
    state.device->count = 0;  // no graph to destroy
    return status;
  }
  if (options.upload_weights) {
    if (Status status = upload_weights(state); !status) return status;
  }
  // The report, and counters (report.h).
  if (Status status = cuda_status(state, runtime::fill(state.device->device.arena, 0, kDevicePrefix,
                                                       state.device->device.queue));
      !status) {
    return status;
  }
  if (Status status = clear_report(state); !status) return status;
  for (uint32_t i = 0; i < state.device->count; ++i) {
    if (Status status = capture(state, state.device->segments()[i]); !status) return status;
  }
  return cuda_status(state, runtime::synchronize(state.device->device.queue));
}

void Session::close() {
  SessionState* state = SessionAccess::state(*this);
  if (state != nullptr && state->device != nullptr) {
    (void)runtime::synchronize(state->device->device.queue);
    for (uint32_t i = 0; i < state->device->count; ++i) {
      Segment& segment = state->device->segments()[i];
      if (segment.graph != nullptr) runtime::destroy(segment.graph);
    }
  }
  if (pinned_ != nullptr) runtime::unpin(pinned_);
  pinned_ = nullptr;
  intarsia::Session::close();
}

int Session::graph_count() const {
  const SessionState* state = SessionAccess::state(*this);
  return state != nullptr && state->device != nullptr ? static_cast<int>(state->device->count) : 0;
}

Status Session::run(int entry) {
  SessionState* state = SessionAccess::state(*this);
  if (state == nullptr || state->device == nullptr || entry < 0 || entry >= entry_count()) {
    return intarsia::Session::run(entry);
  }
  const plan::Entry& found = *state->plan.root->entries()->Get(static_cast<uint32_t>(entry));
  if (Status status = begin_run(*state, found, entry); !status) return status;
  Status status = run_graph(found.graph());
  if (status.ok()) {
    status = finish();
  } else {
    // What is queued may still write to the arena.
    (void)runtime::synchronize(state->device->device.queue);
  }
  return end_run(*state, entry, status);
}

Status Session::run_graph(uint32_t graph) {
  SessionState& state = *SessionAccess::state(*this);
  const uint32_t first = state.plan.graphs[graph].first();
  const uint32_t end = first + state.plan.graphs[graph].count();
  uint32_t operands = state.plan.graphs[graph].operands();
  void* stream = state.device->device.queue;
  uint32_t next = 0;
  while (next < state.device->count && state.device->segments()[next].first < first) ++next;
  bool queued = false;  // copies
  for (uint32_t node = first; node < end;) {
    const Side side = side_of(state, node);
    if (side == Side::kDevice) {
      const Segment& segment = state.device->segments()[next++];
      if (Status status = cuda_status(state, runtime::launch(segment.graph, stream)); !status) {
        return status;
      }
      operands += operands_of(state, node, node + segment.count);
      node += segment.count;
      continue;
    }
    uint32_t last = node + 1;
    while (last < end && side_of(state, last) == side) ++last;
    // The host reads what was copied to it, and may overwrite what is being copied from it.
    if (side == Side::kHost && queued) {
      if (Status status = cuda_status(state, runtime::synchronize(stream)); !status) return status;
      queued = false;
    }
    if (Status status = run_range(state, node, last - node, operands); !status) return status;
    operands += operands_of(state, node, last);
    queued = queued || side == Side::kCopy;
    node = last;
  }
  return {};
}

/// Waits, and looks at what device code reported.
Status Session::finish() {
  SessionState& state = *SessionAccess::state(*this);
  const Device& device = state.device->device;
  Report report = kNoFailure;
  int error =
      runtime::copy(&report, device.arena, sizeof(report), runtime::Copy::kToHost, device.queue);
  const int waited = runtime::synchronize(device.queue);
  if (error == 0) error = waited;
  if (Status status = cuda_status(state, error); !status) return status;
  if (report == kNoFailure) return {};
  if (Status status = clear_report(state); !status) return status;
  if (is_singular_matrix(report) && fills_nan(state)) return {};
  state.diagnostic = diagnostic_of(state, report);
  return state.diagnostic.code;
}

}  // namespace intarsia::cuda
