// SPDX-License-Identifier: Apache-2.0
#include "pyop_optional/host/interpreter.h"

// Configuring an interpreter is not part of the stable API, hence not pyop_optional/host/python.h.
#include <Python.h>
#include <dlfcn.h>

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

std::string initialize() {
  show_libpython_to_all();
  PyConfig config;
  PyConfig_InitPythonConfig(&config);
  config.install_signal_handlers = 0;  // signals are the host program's
  config.parse_argv = 0;
  const PyStatus status = Py_InitializeFromConfig(&config);
  PyConfig_Clear(&config);
  if (PyStatus_Exception(status) != 0) {
    return status.err_msg != nullptr ? status.err_msg : "Python could not be initialised";
  }
  // This thread got the GIL with the interpreter; from now on it is taken where it is needed.
  PyEval_SaveThread();
  return "";
}

}  // namespace

std::string start_interpreter() {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  return Py_IsInitialized() != 0 ? "" : initialize();
}

bool interpreter_runs() {
  return Py_IsInitialized() != 0;
}

}  // namespace intarsia::pyop
