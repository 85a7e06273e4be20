// SPDX-License-Identifier: Apache-2.0
//
// A plan opened for a Python program: the file's bytes and the arena are this object's own, every
// kernel is there, and runs of one session are serialised. Nothing here knows Python: the binding
// calls these functions without the interpreter's lock, and they never take it.
//
// Elements cross in the form in which numpy holds them: as in a plan, except that elements of less
// than a byte take one byte each. Strings cross as a table of StringRefs, which count from its end,
// and the characters behind it.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "converter/graph/aligned_bytes.h"
#include "intarsia/session.h"
#include "intarsia/thread_team.h"

namespace intarsia {
namespace converter {
class OperatorLibrary;
}
namespace internal {
struct PyHostCalls;
}
}  // namespace intarsia

namespace intarsia::python {

using converter::AlignedBytes;

/// A failure with its text; `code` is that of the library, or kOk where none applies. `exception`
/// is what an operator raised (PyHostCalls::take_exception): the receiver's, or null.
class Failure : public std::runtime_error {
 public:
  Failure(Code code, const std::string& text, void* exception = nullptr)
      : std::runtime_error(text), code_(code), exception_(exception) {}
  Code code() const { return code_; }
  void* exception() const { return exception_; }

 private:
  Code code_;
  void* exception_;
};

/// An input, output or state as the plan declares it.
struct PortInfo {
  std::string name;
  DataType type = DataType::kUndefined;
  std::vector<int32_t> extents;  ///< Planned, which are the largest.
  std::vector<int32_t> symbols;  ///< Per axis: an index into `symbols()`, kFixed or kDerived.
  std::vector<int32_t> holds;    ///< Port::holds of the plan.
};
inline constexpr int32_t kFixed = -1;
inline constexpr int32_t kDerived = -2;  ///< Varies, but is not a symbol alone.

struct EntryInfo {
  std::string name;
  std::vector<PortInfo> inputs, outputs;
  /// Another entry point reads what a run of this one leaves, so nothing may be bound for the run
  /// alone.
  bool continued = false;
  int continues = -1;  ///< The entry point whose last run this one reads; -1: none.
};

struct SymbolInfo {
  std::string name;
  int32_t minimum = 0, maximum = 0;
};

/// Elements that the caller gives.
struct InputData {
  std::vector<int32_t> extents;
  std::span<const std::byte> bytes;
  /// The kernels read `bytes` themselves, which hold the planned maximum and do not change during
  /// the run; otherwise they are copied first.
  bool bound = false;
};

/// Where an output goes: into `target`, which holds the planned maximum and is written in place
/// where possible; or, without a target, into `own`, of the size that the run gave; nowhere, where
/// it is not wanted.
struct OutputData {
  bool wanted = true;
  bool has_target = false;
  std::span<std::byte> target;
  std::optional<AlignedBytes> own;
  std::vector<int32_t> extents;
};

/// What a node has cost since `start_profile`.
struct NodeTime {
  int64_t nanoseconds = 0, runs = 0;
};

/// Operators that do not come with Intarsia, as the command's --operators, --allow-pyop and
/// --pyop-path name them.
struct OperatorRequest {
  std::vector<std::string> files;
  bool allow_pyop = false;
  std::vector<std::string> pyop_paths;
  /// Is given what Python operators warn of, behind the name of the plan.
  void (*warning)(const std::string& text) = nullptr;
};

/// Kernels for a session and what they ask for; `owner` keeps them alive.
struct Operators {
  KernelSet kernels;
  std::span<const Service> services;
  std::shared_ptr<const void> owner;
};

/// What the plug-in of Python operators offers; null without it.
intarsia::internal::PyHostCalls* python_calls(std::span<const Service> services);
/// Failure::exception for the call of this thread that has failed. Kept from the first time on.
void* take_exception(std::span<const Service> services);

/// Throws Failure (load_operators.cpp).
Operators load_operators(const OperatorRequest& request);
/// The same for a conversion; null if nothing is asked for.
std::shared_ptr<const converter::OperatorLibrary> operator_library(const OperatorRequest& request);

/// The file as a copy: a mapping would fault when somebody truncates or replaces the file's
/// contents under a running program. Throws Failure with the path and the reason.
AlignedBytes read_plan(const std::string& path);
/// A copy with the alignment that a plan needs.
AlignedBytes copy_of(std::span<const std::byte> bytes);

/// Thread-safe: a call waits until a run in another thread is done. What would wait for ever is a
/// Failure with kBusy: a call from inside a run, by the thread that runs (an operator written in
/// Python), and one in the child of a fork that took place while another thread ran the session.
class PlanSession {
 public:
  /// Verifies the plan in `bytes`. Throws Failure with `name` (its path, for instance) and the
  /// reason.
  PlanSession(AlignedBytes bytes, const std::string& name, int threads,
              const OperatorRequest& request);
  ~PlanSession();
  PlanSession(const PlanSession&) = delete;
  PlanSession& operator=(const PlanSession&) = delete;

  std::span<const std::byte> plan() const { return plan_.span(); }
  const std::vector<EntryInfo>& entries() const { return entries_; }
  const std::vector<SymbolInfo>& symbols() const { return symbols_; }
  const std::vector<PortInfo>& states() const { return states_; }

  /// Brings the inputs in, runs, and delivers the outputs; one element of each span per port.
  void run(int entry, std::span<const InputData> inputs, std::span<OutputData> outputs);

  /// Whether a run reads `bytes` in place as this input, if InputData::bound asks for it. Truth
  /// values are copied, as a caller's may be neither 0 nor 1, and so is what a Python operator
  /// could keep.
  bool may_bind(int entry, int index, std::span<const std::byte> bytes) const;

  OutputData read_state(int index);
  void write_state(int index, const InputData& value);
  void reset_states();

  /// Measures every node of the runs from here on, those of bodies as part of their loop, too.
  void start_profile();
  /// Per node of the plan.
  std::vector<NodeTime> stop_profile();

 private:
  class Exclusive;
  struct Profile;
  [[noreturn]] void fail() const;
  intarsia::internal::PyHostCalls* python() const { return python_calls(operators_.services); }
  void* take_exception() const { return python::take_exception(operators_.services); }
  void require(Status status) const;

  std::string name_;
  void (*warning_)(const std::string& text);
  Operators operators_;
  AlignedBytes plan_, arena_;
  std::unique_ptr<ThreadTeam> team_;
  std::unique_ptr<Profile> profile_;
  Session session_;
  std::vector<EntryInfo> entries_;
  std::vector<SymbolInfo> symbols_;
  std::vector<PortInfo> states_;
  /// Who holds the session: 0, or 1 + the process's fork_count().
  std::atomic<uint32_t> holder_{0};
  std::atomic<std::thread::id> owner_{};
};

}  // namespace intarsia::python
