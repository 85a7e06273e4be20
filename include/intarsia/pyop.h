// SPDX-License-Identifier: Apache-2.0
//
// Python operators in a C++ program: PyOp nodes, and operators defined in Python.
//
//     auto python = intarsia::PyHost::start({.module_paths = paths}, &diagnostic);
//     if (!python.ok()) ...
//     const intarsia::Service services[] = {python->service()};
//     auto session = intarsia::Session::open(plan, arena, kernels, {.services = services}, ...);
//
// Opt-in, twice: whoever executes such a plan executes Python code that the plan names. A program
// without the kernel `PyOp` in its kernel set does not open the plan (kMissingKernel); a program
// with the kernel but without a PyHost among its session's services does not either
// (kUnsupported). Nothing here starts Python before `PyHost::start`.
//
// Needs the library `intarsia::pyop`, which links CPython. This header knows nothing of Python.
//
// The interpreter: a process has one. `start` initialises it if nobody has, isolated (no signal
// handlers, nothing from PATH, PYTHONHOME, PYTHONPATH or the locale), and lets go of its lock (the
// GIL) at once; inside a Python process it uses the one that runs. It is never finalised: extension
// modules such as numpy cannot be initialised twice. The program may fork: sessions of operators go
// on in the child.
//
// Operators: each node has an instance of its class of its own, constructed at `open` and released
// when the session closes; what the instance keeps on `self` persists from run to run. Inputs are
// numpy arrays (memoryviews, where numpy is not installed) that show the session's memory: they
// cannot be written, cost no copy, and must not be kept beyond the call. An operator that does is
// told so: the run fails, and what it kept is a copy from then on. Results are anything with the
// buffer protocol, or Python numbers; count, type and shape are checked against the plan, and the
// elements are copied into the arena.
//
// Errors: what an operator raises makes `run` (or `open`, for imports and constructors) fail with
// kOperatorFailed, and `describe` then tells the whole traceback. The session may be run again.
//
// Threads: any, those that Python does not know included. The GIL is held around the call of the
// operator only, and no other lock is held meanwhile, so sessions that wait for Python cannot
// block one another for good, nested ones included. Python allocates memory; nothing else in the
// session does.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "intarsia/session.h"
#include "intarsia/status.h"

namespace intarsia {

namespace internal {
struct PythonCallee;  // intarsia/python_kernel.h
}  // namespace internal

/// What a Python operator warns of: why its call failed, with the words of the diagnostic, or what
/// its code gives to Python's `warnings.warn`.
struct PyWarning {
  std::int32_t node;      ///< Of the plan, as in Diagnostic::node.
  std::string_view text;  ///< Of several lines, perhaps; there until the logger returns.
};

/// Where warnings go as well: failures are told by the session in any case, and `warnings.warn`
/// does what it always does. What operators print stays theirs.
///
/// Called by the thread that runs the session, which holds Python's lock: it may call Python, and
/// must not wait for a thread that wants to. May be null.
struct PyLogger {
  void (*warning)(void* self, const PyWarning& warning) = nullptr;
  void* self = nullptr;  ///< Handed to the function; lives as long as sessions of the PyHost.
};

/// How Python finds the modules that plans name. All of it is read during `start` only.
struct PyHostOptions {
  /// Directories that are searched before all others, the first one first.
  std::span<const char* const> module_paths = {};
  /// Appends the working directory to the end of the search path, unless the interpreter is that of
  /// a Python program which has asked for a safe path (python -I, -P).
  bool working_directory = true;
  /// What may be called, as Python's entry points are written: "module:Class.method" or
  /// "module:function". A plan that names anything else does not open (kUnsupported), and nothing
  /// of what it names is imported. Empty: everything, so that whoever writes the plan chooses among
  /// all modules that Python finds.
  std::span<const char* const> operators = {};
  /// The Python program (also that of a virtual environment) whose standard library and packages
  /// are used. Null: the one that Intarsia was built with. Where Python runs already, any other
  /// than that is kOperatorFailed.
  const char* interpreter = nullptr;
  /// Told of what operators warn of.
  PyLogger logger = {};
};

/// The permission to execute Python, and the search path that comes with it.
///
/// Movable, not copyable. Several may exist; they share the interpreter, hence its `sys.path` and
/// its loaded modules. Sessions may outlive the PyHost that they were opened with: what they need
/// of it lives until the last of them is closed; only then are its directories, and the working
/// directory, taken out of `sys.path`.
class PyHost {
 public:
  PyHost() = default;
  PyHost(PyHost&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
  PyHost& operator=(PyHost&& other) noexcept {
    if (this != &other) {
      close();
      state_ = std::exchange(other.state_, nullptr);
    }
    return *this;
  }
  ~PyHost() { close(); }

  /// Starts Python, or joins the interpreter that runs. On failure `diagnostic`, if given, says
  /// what is wrong.
  static Result<PyHost> start(const PyHostOptions& options = {}, Diagnostic* diagnostic = nullptr);

  /// The service to name in SessionOptions::services. REQUIRES: started and not closed.
  Service service() const;

  /// Takes the permission back: no session can be opened with the service any more. Flushes
  /// Python's standard streams. Open sessions go on.
  void close();

  struct State;  // pyop_optional/host/host_state.h

 private:
  State* state_ = nullptr;
};

/// The key of PyHost's service.
inline constexpr uint64_t kPyHostKey = kernel_key({"intarsia:PyHost", "service", {}, 1});

namespace internal {

/// What the service points to: functions, so that a library whose operators are computed in Python
/// (intarsia/python_kernel.h) need not link what knows Python.
struct PyHostCalls {
  /// Imports, constructs and keeps `callee` for the node.
  Status (*create)(const KernelContext& context, const PythonCallee& callee) = nullptr;
  Status (*run)(const KernelContext& context) = nullptr;
  void (*destroy)(const KernelContext& context) = nullptr;
  /// For a host program in Python: a reference (to a PyObject) to what an operator has raised in
  /// the last failing call of this thread. Null if that was none, and the first time: who asks once
  /// is told from then on.
  void* (*take_exception)(PyHostCalls& self) = nullptr;
  /// True once an operator's input is known to native code for ever (torch.from_numpy): who can
  /// keeps the arena.
  bool memory_kept = false;
  PyLogger logger = {};
};

inline const PyHostCalls* py_host_calls(const KernelContext& context) {
  return static_cast<const PyHostCalls*>(context.service(kPyHostKey));
}
inline constexpr const char* kNoPyHost =
    "Python operators are not allowed here; start a PyHost (intarsia/pyop.h) and name its service "
    "in SessionOptions::services";

}  // namespace internal

/// The kernel of every operator that is written in Python. Name it in `kernel_set` together with
/// the others; sets that the converter emits name it where the plan needs it.
struct PyOp {
  static constexpr KernelId id{"intarsia:PyOp", "", {}};
  /// The address is what tells one node's instance from another's; nothing is stored there.
  static constexpr int64_t state_bytes = 8;
  static Status check(const KernelContext& context);
  static Status create(const KernelContext& context);
  static Status run(const KernelContext& context);
  static void destroy(const KernelContext& context);
};

}  // namespace intarsia
