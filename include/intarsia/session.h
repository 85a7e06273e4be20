// SPDX-License-Identifier: Apache-2.0
//
// `Session`: runs a plan in memory that the caller owns.
//
//     alignas(intarsia::kArenaAlignment) std::byte arena[kBytes];   // PlanInfo::arena_bytes
//     auto session = intarsia::Session::open(plan, arena, intarsia::kernel_set<...>());
//     if (!session.ok()) ...
//     float* x = session->input<float>(0).value().data();
//     ... fill x ...
//     if (intarsia::Status s = session->run(); !s) ... session->diagnostic() ...
//     const float* y = session->output<float>(0).value().data();
//
// Memory: the plan's bytes, the arena and the kernel set must outlive the session. Everything that
// the session keeps lies in the arena; nothing is allocated from open to close. Weights are used in
// place in the plan's bytes, which may be in flash or memory-mapped.
//
// Threads: one thread at a time may call a session; a second concurrent `run` returns kBusy.
// Sessions over the same plan bytes are independent.
//
// Trust: `open` checks every offset, extent, type and attribute before use, in time linear in the
// plan's size, and is safe on hostile bytes. `open_trusted` checks magic number, version and sizes
// only; it is for plans linked into the program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "intarsia/kernel_set.h"
#include "intarsia/status.h"
#include "intarsia/tensor.h"

namespace intarsia {

/// Required alignment of an arena and of a plan's bytes, in bytes.
inline constexpr size_t kArenaAlignment = 64;

/// Called around every node, for profiling and for dumping intermediate results. Either may be
/// null. Must outlive the session. The context is valid during the call.
struct Observer {
  void* self = nullptr;
  void (*before)(void* self, const KernelContext& context) = nullptr;
  void (*after)(void* self, const KernelContext& context) = nullptr;
};

/// Something of the host program that kernels may ask for by key (KernelContext::service).
struct Service {
  uint64_t key = 0;
  void* pointer = nullptr;
};

struct Device;  // memory and queue of an accelerator; core/runtime/session_state.h

/// Choices of one session. The defaults suit a single-threaded program.
struct SessionOptions {
  /// Threads to share the work of a node; null runs on the calling thread. Must outlive the
  /// session. More threads than the plan was converted for (`--threads`) is kInvalidArgument.
  const Parallel* parallel = nullptr;
  /// Instruction set to use; by default what the processor offers.
  Isa isa = detect_isa();
  /// Called around every node. Must outlive the session.
  const Observer* observer = nullptr;
  /// Must outlive the session.
  std::span<const Service> services;
  /// `open` compares the checksum of the plan's structure. Without it a damaged plan may give wrong
  /// results, but never an access outside the arena and the plan.
  bool checksum = true;
  /// The most nodes of sub-graphs (of loops, above all) that one run may execute; a run that would
  /// exceed it fails with kTooManySteps, and the session can run again. Nodes of the main graph run
  /// once and do not count.
  int64_t max_steps = int64_t{1} << 32;
  /// Set by the sessions of accelerators ("intarsia/cuda.h") only. Without it a plan that places
  /// tensors in the memory of a device is refused with kUnsupported.
  const Device* device = nullptr;
};

/// What a plan needs and offers, read without opening it.
///
/// For programs that load plans at run time and must find memory first. Programs with a model
/// linked in have the same figures as constants in the generated header.
struct PlanInfo {
  uint32_t format_version = 0;
  uint64_t arena_bytes = 0;
  uint64_t plan_bytes = 0;
  uint64_t weights_bytes = 0;
  uint32_t node_count = 0;
  uint32_t threads = 1;
  /// Bytes of memory on the device, both 0 for plans of the CPU.
  uint64_t device_arena_bytes = 0;
  uint64_t device_weights_bytes = 0;
};

/// Reads the header and the memory figures of a plan. Verifies the structure of untrusted bytes. On
/// failure `diagnostic`, if given, says what is wrong.
Result<PlanInfo> plan_info(std::span<const std::byte> plan, Diagnostic* diagnostic = nullptr);

/// A named input, output or state of an entry point. A snapshot: binding a buffer or setting
/// extents afterwards does not change it.
struct Port {
  std::string_view name;  ///< In the plan's bytes.
  TensorView tensor;      ///< Current buffer and extents.
};

struct SessionState;  // in the arena; core/runtime/session_state.h

/// An open plan. Movable, not copyable; the destructor closes it.
///
/// The object itself is one pointer into the arena. A session that is not open (default made, moved
/// from, closed) answers every call with kInvalidArgument or a count of 0.
///
/// Cost: opening takes one pass over the structure (nothing per weight); a run costs its kernels
/// plus some nanoseconds a node, and makes no heap call, lock or system call of its own.
class Session {
 public:
  Session() = default;
  Session(Session&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  Session& operator=(Session&& other) noexcept {
    if (this != &other) {
      close();
      state_ = std::exchange(other.state_, nullptr);
    }
    return *this;
  }
  ~Session() { close(); }

  /// Verifies `plan`, binds it to `arena` and `kernels`. On failure `diagnostic`, if given, says
  /// what is wrong. Lifetimes: see the top of this file; `options` is copied.
  static Result<Session> open(std::span<const std::byte> plan, std::span<std::byte> arena,
                              KernelSet kernels, const SessionOptions& options = {},
                              Diagnostic* diagnostic = nullptr);
  /// The same for plans that are part of the program: no verification of the structure.
  static Result<Session> open_trusted(std::span<const std::byte> plan, std::span<std::byte> arena,
                                      KernelSet kernels, const SessionOptions& options = {},
                                      Diagnostic* diagnostic = nullptr);
  /// Ends the session; nodes with state are told. Views obtained from it become invalid.
  void close();
  bool is_open() const { return state_ != nullptr; }

  /// Entry points; most plans have one, number 0.
  int entry_count() const;
  Result<int> find_entry(std::string_view name) const;

  /// Inputs and outputs of an entry point, in the model's order. A view's buffer may be written
  /// (inputs) until `run`, and read (outputs) until the next `run`. The contents of an input are
  /// undefined after `run`, unless the caller bound a buffer of its own. Runs of other entry points
  /// change neither contents nor extents.
  int input_count(int entry = 0) const;
  int output_count(int entry = 0) const;
  Result<Port> input_port(int index, int entry = 0) const;
  Result<Port> output_port(int index, int entry = 0) const;
  Result<int> find_input(std::string_view name, int entry = 0) const;
  Result<int> find_output(std::string_view name, int entry = 0) const;

  /// Elements of an input or output. kWrongType unless T is its element type.
  template <class T>
  Result<std::span<T>> input(int index, int entry = 0) const {
    return elements<T>(input_port(index, entry));
  }
  template <class T>
  Result<std::span<const T>> output(int index, int entry = 0) const {
    return elements<const T>(output_port(index, entry));
  }

  /// Strings. An input's elements are StringRefs, which this makes of characters; they are copied.
  ///
  ///     std::span<StringRef> words = session.input<StringRef>(0).value();
  ///     words[0] = session.add_string("Hello").value();
  ///
  /// What was added serves the next run of the entry point; the first string added after that run
  /// begins anew, so the program gives all strings again. Fails with kTooManyCharacters beyond the
  /// room that the plan has (`--max-string`).
  Result<StringRef> add_string(std::string_view text, int entry = 0);
  /// The characters of an element of an output, in place: valid until the entry point runs again.
  std::string_view string(StringRef element) const;

  /// Sets the extents of an input whose shape varies, before it is written. Extents outside the
  /// planned range are kWrongExtent. They stay until set again; at open they are the maxima.
  Status resize_input(int index, std::span<const int32_t> extents, int entry = 0);

  /// Uses the caller's buffer in place of the arena's: no copy is made. `bytes` must hold the
  /// tensor at its planned maximum; the address must be a multiple of the element size. The buffer
  /// must stay until the session is closed or another is bound; null returns to the arena's. Inputs
  /// are never written through it. Two ports must not be bound to overlapping memory, unless both
  /// are inputs, nor any to the arena: `run`, and for the arena this call, fails with
  /// kInvalidArgument.
  Status bind_input(int index, const void* buffer, size_t bytes, int entry = 0);
  Status bind_output(int index, void* buffer, size_t bytes, int entry = 0);

  /// Runs an entry point: computes every output from the inputs and states. Blocks until done. On
  /// failure outputs are undefined, states are unchanged or partly updated only if the failing node
  /// comes after an update in place, and the session may be run again.
  ///
  /// An entry point that continues another (`backward`, see docs/training.md) reads what the
  /// other's run has left, its inputs included, and takes its extents from it. It is refused with
  /// kInvalidArgument unless that was the last run, succeeded, and nothing of it was resized, bound
  /// or reset since.
  Status run(int entry = 0);

  /// States: tensors that one run leaves for the next (`--state OUTPUT=INPUT`). At open they are
  /// what the model's initialiser says, or zero.
  int state_count() const;
  Result<Port> state(int index) const;
  /// Sets the extents of a state whose shape varies, before it is written: to give a session what
  /// another one has left. Errors as of `resize_input`; the next run finds them.
  Status resize_state(int index, std::span<const int32_t> extents);
  /// Forgets all runs: states are what they were at open, and operators that keep an object of
  /// their own ("intarsia/operator.h") get a new one, as at open; random numbers are those of the
  /// first run again. Extents and buffers of inputs and outputs stay. If an operator refuses, none
  /// has an object, and no run succeeds until this does.
  Status reset_states();

  /// Why the last call on this session failed. Text: `describe` in "intarsia/describe.h".
  const Diagnostic& diagnostic() const;
  /// The plan's bytes as given to open.
  std::span<const std::byte> plan() const;

 private:
  friend struct SessionAccess;  // for sessions of accelerators
  template <class T>
  Result<std::span<T>> elements(Result<Port> port) const {
    if (!port.ok()) return port.status();
    const TensorView& tensor = port->tensor;
    if (tensor.type != data_type_of<T>) {
      return wrong_type(data_type_of<T>, tensor.type);
    }
    return std::span<T>(static_cast<T*>(tensor.data), static_cast<size_t>(tensor.count()));
  }
  Status wrong_type(DataType requested, DataType found) const;

  SessionState* state_ = nullptr;
};

}  // namespace intarsia
