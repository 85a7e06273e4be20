// SPDX-License-Identifier: Apache-2.0
//
// `cuda::Session`: runs a plan on a CUDA device, in memory and on a stream that the caller owns.
//
//     auto info = intarsia::plan_info(plan);            // made by: intarsia convert --device cuda
//     ... cudaMalloc info->device_arena_bytes and info->device_weights_bytes ...
//     intarsia::cuda::Memory memory{host_arena, device_arena, device_weights};
//     intarsia::cuda::Options options{.stream = stream};
//     auto session = intarsia::cuda::Session::open(plan, memory, kernels, options);
//     float* x = session->input<float>(0).value().data();
//     ... fill x ...
//     if (intarsia::Status s = session->run(); !s) ... session->diagnostic() ...
//     const float* y = session->output<float>(0).value().data();
//
// The converter has decided which nodes run on the device and which on the host, and where tensors
// are copied. Opening uploads the weights and captures each run of device nodes as a CUDA graph. A
// run copies the inputs, launches the graphs, executes the host's nodes in between, copies the
// outputs, and waits: a model without host nodes is one graph launch.
//
// Inputs and outputs are in the host's memory, as those of `intarsia::Session`, whose functions
// this session has. Extents of nodes on the device are fixed.
//
// Memory: the plan, the three pieces of memory, the kernel sets and the stream must outlive the
// session. Nothing is allocated by this library; CUDA allocates the graphs while a session is
// opened. No run allocates. The host's arena is locked in memory while the session is open, so that
// copies need no staging; that fails without consequence where the system forbids it.
//
// Threads: one thread at a time may call a session; sessions may share a stream's device, not the
// stream. Errors of CUDA are kOperatorFailed; the diagnostic has CUDA's number and text, and the
// node where one is known: an error in device code is found when the stream is waited for.
//
// This header needs no header of CUDA. Programs that use it link intarsia::cuda.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "intarsia/session.h"

namespace intarsia {
struct SessionAccess;  // core/runtime/session_state.h
}

namespace intarsia::cuda {

/// Required alignment of device memory, in bytes; cudaMalloc gives it.
inline constexpr size_t kDeviceAlignment = 256;

/// Memory of a session. Sizes: `plan_info`.
struct Memory {
  /// In the host's memory, aligned to kArenaAlignment: PlanInfo::arena_bytes.
  std::span<std::byte> host_arena;
  /// In the device's memory: PlanInfo::device_arena_bytes.
  std::span<std::byte> device_arena;
  /// In the device's memory: PlanInfo::device_weights_bytes. Sessions of the same plan may share
  /// it, see Options::upload_weights.
  std::span<std::byte> device_weights;
};

/// The kernels that the program links: the CPU's, for nodes that stay on the host, and those of
/// kernels_cuda/, the copies among them. Both may hold more than the plan needs.
struct Kernels {
  KernelSet host;
  KernelSet device;
};

/// Choices of one session.
struct Options {
  /// A cudaStream_t of the caller's own. Not the default stream: that one cannot be captured.
  void* stream = nullptr;
  /// As for a session of the CPU, services ("intarsia/services.h") included. The observer sees
  /// device nodes when they are captured, and host nodes in every run.
  SessionOptions host;
  /// False if another session has filled the same device_weights from the same plan.
  bool upload_weights = true;
};

/// An open plan on a device. Movable, not copyable; the destructor closes it.
///
/// What is not described here is as in `intarsia::Session`.
class Session : private intarsia::Session {
 public:
  Session() = default;
  Session(Session&& other) noexcept
      : intarsia::Session(std::move(other)), pinned_(std::exchange(other.pinned_, nullptr)) {}
  Session& operator=(Session&& other) noexcept;
  ~Session() { close(); }

  /// Verifies `plan`, binds it to memory and kernels, uploads weights, captures graphs. A plan of
  /// the CPU may be opened too; its session uses no device. On failure `diagnostic`, if given, says
  /// what is wrong.
  static Result<Session> open(std::span<const std::byte> plan, const Memory& memory,
                              const Kernels& kernels, const Options& options,
                              Diagnostic* diagnostic = nullptr);
  /// Waits for the stream and ends the session.
  void close();

  /// Runs an entry point and waits for its end. On failure outputs are undefined, and the session
  /// may be run again, unless CUDA's error is one that ends the use of the device.
  Status run(int entry = 0);

  /// Graphs that were captured.
  int graph_count() const;

  using intarsia::Session::add_string;
  using intarsia::Session::bind_input;
  using intarsia::Session::bind_output;
  using intarsia::Session::diagnostic;
  using intarsia::Session::entry_count;
  using intarsia::Session::find_entry;
  using intarsia::Session::find_input;
  using intarsia::Session::find_output;
  using intarsia::Session::input;
  using intarsia::Session::input_count;
  using intarsia::Session::input_port;
  using intarsia::Session::is_open;
  using intarsia::Session::output;
  using intarsia::Session::output_count;
  using intarsia::Session::output_port;
  using intarsia::Session::plan;
  using intarsia::Session::reset_states;
  using intarsia::Session::resize_input;
  using intarsia::Session::state;
  using intarsia::Session::state_count;
  using intarsia::Session::string;

 private:
  friend struct intarsia::SessionAccess;
  explicit Session(intarsia::Session&& host) : intarsia::Session(std::move(host)) {}
  Status prepare(const Options& options);
  Status run_graph(uint32_t graph);
  Status finish();

  void* pinned_ = nullptr;
};

}  // namespace intarsia::cuda
