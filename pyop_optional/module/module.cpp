// SPDX-License-Identifier: Apache-2.0
#include "pyop_optional/module/bindings.h"

// pybind11 would wait for ever in a sub-interpreter, for a lock that its own thread holds. So what
// pybind11 calls the module's entry is another function, which the entry calls where it may.
#define PyInit__native make_native_module
PYBIND11_MODULE(_native, module) {
  module.attr("version") = INTARSIA_VERSION;
  intarsia::python::bind_session(module);
  intarsia::python::bind_dlpack(module);
  intarsia::python::bind_converter(module);
}
#undef PyInit__native

extern "C" PYBIND11_EXPORT PyObject* PyInit__native() {
  return intarsia::python::in_main_interpreter() ? make_native_module() : nullptr;
}
