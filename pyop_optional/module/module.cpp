// SPDX-License-Identifier: Apache-2.0
#include "pyop_optional/module/bindings.h"

// What Python calls is an entry of our own, which refuses a sub-interpreter before nanobind has
// made anything in it.
#define PyInit__native make_native_module
NB_MODULE(_native, module) {
  module.attr("version") = INTARSIA_VERSION;
  intarsia::python::bind_session(module);
  intarsia::python::bind_dlpack(module);
  intarsia::python::bind_converter(module);
}
#undef PyInit__native

extern "C" NB_EXPORT PyObject* PyInit__native() {
  return intarsia::python::in_main_interpreter() ? make_native_module() : nullptr;
}
