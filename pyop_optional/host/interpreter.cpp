// SPDX-License-Identifier: Apache-2.0
#include "pyop_optional/host/interpreter.h"

// Configuring an interpreter is not part of the stable API, hence not pyop_optional/host/python.h.
#include <Python.h>
#include <dlfcn.h>
#include <pthread.h>

#include <filesystem>
#include <mutex>

namespace intarsia::pyop {
namespace {

/// Extension modules such as numpy take Python's symbols from the whole process. Where this code is
/// part of a plug-in, libpython was loaded for the plug-in alone.
void show_libpython_to_all() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<void*>(&Py_InitializeFromConfig), &info) != 0 &&
      info.dli_fname != nullptr) {
    dlopen(info.dli_fname, RTLD_NOW | RTLD_GLOBAL | RTLD_NOLOAD);
  }
}

/// A fork while another thread holds Python's locks would leave them held in the child for ever. So
/// the forking thread takes them first. Where Python itself forks, it has done so.
struct Fork {
  bool ours = false;
  PyGILState_STATE state{};
};
thread_local Fork current_fork;

void before_fork() {
  current_fork.ours = PyGILState_Check() == 0;
  if (!current_fork.ours) return;
  current_fork.state = PyGILState_Ensure();
  PyOS_BeforeFork();
}
void after_fork_in_parent() {
  if (!current_fork.ours) return;
  PyOS_AfterFork_Parent();
  PyGILState_Release(current_fork.state);
}
void after_fork_in_child() {
  if (!current_fork.ours) return;
  PyOS_AfterFork_Child();
  PyGILState_Release(current_fork.state);
}

PyStatus configure(PyConfig& config, const std::string& interpreter) {
  PyPreConfig before;
  PyPreConfig_InitIsolatedConfig(&before);
  before.utf8_mode = 1;  // whatever the locale, which is the host program's
  PyStatus status = Py_PreInitialize(&before);
  // Isolated: signals, arguments and the environment are the host program's.
  PyConfig_InitIsolatedConfig(&config);
  config.write_bytecode = 0;  // so are the folders that modules come from
  for (wchar_t** field : {&config.program_name, &config.executable}) {
    if (PyStatus_Exception(status) != 0) return status;
    status = PyConfig_SetBytesString(&config, field, interpreter.c_str());
  }
  return status;
}

/// In the module sys, since a plug-in has its own copy of this code.
constexpr const char* kOurs = "_intarsia_has_started";

std::string initialize(const std::string& interpreter) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(interpreter, ignored)) {
    return "there is no interpreter '" + interpreter +
           "'; name that of this machine by PyHostOptions::interpreter (--pyop-python)";
  }
  show_libpython_to_all();
  PyConfig config;
  PyStatus status = configure(config, interpreter);
  if (PyStatus_Exception(status) == 0) status = Py_InitializeFromConfig(&config);
  PyConfig_Clear(&config);
  if (PyStatus_Exception(status) != 0) {
    return std::string(status.err_msg != nullptr ? status.err_msg : "it could not be initialised") +
           " (the interpreter is '" + interpreter + "')";
  }
  pthread_atfork(&before_fork, &after_fork_in_parent, &after_fork_in_child);
  PySys_SetObject(kOurs, Py_True);
  // This thread got the GIL with the interpreter; from now on it is taken where it is needed.
  PyEval_SaveThread();
  return "";
}

/// What is wrong if Python runs and is not the one that is asked for.
std::string compare(const std::string& interpreter) {
  const PyGILState_STATE state = PyGILState_Ensure();
  PyObject* path = PySys_GetObject("executable");
  const char* text = path != nullptr && PyUnicode_Check(path) ? PyUnicode_AsUTF8(path) : nullptr;
  const std::string running = text != nullptr ? text : "";
  PyErr_Clear();
  PyGILState_Release(state);
  if (running == interpreter) return "";
  return "'" + interpreter + "' is asked for, but the process has an interpreter: '" + running +
         "'";
}

}  // namespace

std::string start_interpreter(const char* interpreter) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const bool runs = Py_IsInitialized() != 0;
  if (interpreter == nullptr) return runs ? "" : initialize(INTARSIA_PYTHON);
  std::error_code ignored;
  const std::string path = std::filesystem::absolute(interpreter, ignored).string();
  return runs ? compare(path) : initialize(path);
}

bool interpreter_is_ours() {
  return PySys_GetObject(kOurs) == Py_True;
}

bool interpreter_runs() {
  return Py_IsInitialized() != 0;
}

}  // namespace intarsia::pyop
