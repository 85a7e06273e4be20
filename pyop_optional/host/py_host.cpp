// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <system_error>

#include "pyop_optional/host/host_state.h"
#include "pyop_optional/host/interpreter.h"
#include "pyop_optional/host/operators_module.h"
#include "pyop_optional/host/warnings.h"

namespace intarsia {
namespace {

using pyop::checked;
using pyop::Failure;
using pyop::Ref;

constexpr const char* kPath = "search path of Python";

/// The list sys.path, borrowed.
PyObject* search_path() {
  PyObject* path = PySys_GetObject("path");
  if (path == nullptr || PyList_Check(path) == 0) {
    throw Failure(Code::kOperatorFailed, kPath, "sys.path is no list");
  }
  return path;
}

/// The place of a directory in the search path, or -1.
Py_ssize_t find_path(PyObject* path, const std::string& directory) {
  const Py_ssize_t size = PyList_Size(path);
  for (Py_ssize_t i = 0; i < size; ++i) {
    PyObject* entry = PyList_GetItem(path, i);
    if (PyUnicode_Check(entry) != 0 && pyop::utf8(entry) == directory) return i;
  }
  return -1;
}

/// The working directory in the search path, at the end, for the hosts that want it. "" is that of
/// the moment; "." would be that of the first import. One that is there already is left to whoever
/// has added it, and may take it away.
class WorkingDirectory {
 public:
  /// False if the interpreter's own program has said that it is not to be searched (python -I, -P).
  bool begin(PyObject* path) {
    if (!interpreter_allows()) return false;
    if (hosts_ == 0) checked(PyList_Append(path, pyop::python_text("").get()), kPath);
    ++hosts_;
    return true;
  }
  /// Takes it out with the last host.
  void end(PyObject* path) {
    if (--hosts_ != 0) return;
    for (Py_ssize_t i = path != nullptr ? PyList_Size(path) : 0; i-- > 0;) {
      PyObject* entry = PyList_GetItem(path, i);
      if (PyUnicode_Check(entry) == 0 || pyop::utf8(entry) != "") continue;
      PySequence_DelItem(path, i);
      return;
    }
  }

 private:
  static bool interpreter_allows() {
    if (pyop::interpreter_is_ours()) return true;
    const Ref safe = Ref::take(PyObject_GetAttrString(PySys_GetObject("flags"), "safe_path"));
    PyErr_Clear();
    return !safe || PyObject_IsTrue(safe.get()) != 1;
  }

  int hosts_ = 0;
};
WorkingDirectory working_directory;  // guarded by the GIL

/// PyHostCalls::take_exception.
void* exception_of_thread(internal::PyHostCalls& calls) {
  const pyop::Gil gil;
  auto& state = static_cast<PyHost::State&>(calls);
  state.tools.keep_exceptions = true;
  const auto found = state.exceptions.extract(std::this_thread::get_id());
  return found.empty() ? nullptr : found.mapped().release();
}

void flush_streams() {
  for (const char* name : {"stdout", "stderr"}) {
    PyObject* stream = PySys_GetObject(name);
    if (stream != nullptr && stream != Py_None) {
      const Ref ignored = Ref::take(PyObject_CallMethod(stream, "flush", nullptr));
    }
    PyErr_Clear();
  }
}

/// Keeps the text of a failing `start`, which leaves no object behind that could, until the next
/// one on this thread.
Status report(Diagnostic* diagnostic, const Failure& failure) {
  thread_local std::string text;
  text = failure.text;
  if (diagnostic != nullptr) {
    *diagnostic = Diagnostic{failure.code,
                             failure.what_failed,
                             -1,
                             -1,
                             -1,
                             0,
                             0,
                             text.data(),
                             static_cast<uint32_t>(text.size())};
  }
  return failure.code;
}

}  // namespace

PyHost::State::State(const PyHostOptions& options)
    : PyHostCalls{&pyop::create_callee, &PyOp::run, &PyOp::destroy,
                  &exception_of_thread, false,      options.logger} {
  std::vector<std::string> directories;
  for (const char* each : options.module_paths) {
    std::error_code error;
    // Absolute, so that they stay what they are when the program changes its working directory.
    const std::filesystem::path directory = std::filesystem::absolute(each, error);
    if (error || !std::filesystem::is_directory(directory, error)) {
      throw Failure(Code::kInvalidArgument, "directory of Python modules",
                    std::string("'") + each + "' is not a directory");
    }
    directories.push_back(directory.lexically_normal().string());
  }
  if (!options.operators.empty())
    allowed.emplace(options.operators.begin(), options.operators.end());
  tools = pyop::Tools::make();
  pyop::provide_operators_module();
  if (logger.warning != nullptr) pyop::watch_warnings();
  PyObject* path = search_path();
  Py_ssize_t place = 0;
  for (const std::string& directory : directories) {
    const Ref text = pyop::python_text(directory);
    checked(PyList_Insert(path, place++, text.get()), kPath);
    added_paths.push_back(directory);
  }
  uses_working_directory = options.working_directory && working_directory.begin(path);
}

void PyHost::State::keep(const pyop::Failure& failure) {
  if (failure.exception) exceptions[std::this_thread::get_id()] = std::move(*failure.exception);
}

bool PyHost::State::is_interrupted() const {
  const auto found = exceptions.find(std::this_thread::get_id());
  return found != exceptions.end() &&
         PyObject_IsInstance(found->second.get(), PyExc_Exception) == 0;
}

void PyHost::State::end_if_unused() {
  if (!closed || !operators.empty()) return;
  PyObject* path = PySys_GetObject("path");
  if (path != nullptr && PyList_Check(path) == 0) path = nullptr;
  for (const std::string& directory : std::exchange(added_paths, {})) {
    const Py_ssize_t place = path != nullptr ? find_path(path, directory) : -1;
    if (place >= 0) PySequence_DelItem(path, place);
    PyErr_Clear();
  }
  if (std::exchange(uses_working_directory, false)) working_directory.end(path);
  tools = {};
  open_failures.clear();
  exceptions.clear();
}

Result<PyHost> PyHost::start(const PyHostOptions& options, Diagnostic* diagnostic) {
  try {
    const std::string problem = pyop::start_interpreter(options.interpreter);
    if (!problem.empty()) {
      throw Failure(Code::kOperatorFailed, "Python cannot be started", problem);
    }
    const pyop::Gil gil;
    // For ever (end_if_unused), and where leak checkers find it.
    static auto& all = *new std::vector<State*>;
    PyHost host;
    host.state_ = all.emplace_back(new State(options));
    return host;
  } catch (const Failure& failure) {
    return report(diagnostic, failure);
  } catch (const std::exception& error) {
    return report(diagnostic,
                  Failure(Code::kOperatorFailed, "Python cannot be started", error.what()));
  }
}

Service PyHost::service() const {
  return {kPyHostKey, static_cast<internal::PyHostCalls*>(state_)};
}

void PyHost::close() {
  State* state = std::exchange(state_, nullptr);
  // A Python process that ends has freed everything already.
  if (state == nullptr || !pyop::interpreter_runs()) return;
  const pyop::Gil gil;
  flush_streams();
  state->closed = true;
  state->end_if_unused();
}

}  // namespace intarsia
