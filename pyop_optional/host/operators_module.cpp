// SPDX-License-Identifier: Apache-2.0
#include "pyop_optional/host/operators_module.h"

#include "pyop_optional/host/python.h"

namespace intarsia::pyop {

void provide_operators_module() {
  constexpr const char* kName = "intarsia_operators";
  constexpr const char* kWhat = "module intarsia_operators";
  const Ref found = Ref::take(PyImport_ImportModule(kName));
  // Python takes any folder of that name in the working directory for a module without contents.
  if (found && PyObject_HasAttrString(found.get(), "Function") != 0) return;
  if (!found && PyErr_ExceptionMatches(PyExc_ImportError) == 0) throw_exception(kWhat);
  PyErr_Clear();
  const Ref code = checked(Py_CompileString(kOperatorsModule, kName, Py_file_input), kWhat);
  checked(PyImport_ExecCodeModule(kName, code.get()), kWhat);
}

}  // namespace intarsia::pyop
