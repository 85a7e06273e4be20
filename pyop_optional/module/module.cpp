// SPDX-License-Identifier: Apache-2.0
#include "pyop_optional/module/bindings.h"

PYBIND11_MODULE(_native, module) {
  module.attr("version") = INTARSIA_VERSION;
  intarsia::python::bind_session(module);
  intarsia::python::bind_converter(module);
}
