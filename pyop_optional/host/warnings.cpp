// SPDX-License-Identifier: Apache-2.0
#include "pyop_optional/host/python.h"
// After Python's headers.
#include "pyop_optional/host/warnings.h"

namespace intarsia::pyop {
namespace {

thread_local const Called* called = nullptr;

/// For operators only: what the program itself warns of is none of a session's.
PyObject* emit(PyObject*, PyObject* text) {
  if (called != nullptr) called->warn(utf8(text));
  return Py_NewRef(Py_None);
}

// `warnings` asks for this very name each time, and programs replace it, for a while
// (catch_warnings) or for ever.
constexpr const char* kWatch = R"python(
import warnings

def watched(show):
    def showwarning(message, category, filename, lineno, file=None, line=None):
        show(message, category, filename, lineno, file, line)
        emit(warnings.formatwarning(message, category, filename, lineno, line).rstrip())
    return showwarning

warnings.showwarning = watched(warnings.showwarning)
)python";

}  // namespace

Called::Called(const PyLogger& logger, int node) : logger_(logger), node_(node), outer_(called) {
  called = this;
}
Called::~Called() {
  called = outer_;
}

void Called::warn(std::string_view text) const {
  if (logger_.warning != nullptr) logger_.warning(logger_.self, {node_, text});
}

void watch_warnings() {
  static bool watched = false;
  if (watched) return;
  static PyMethodDef method{"emit", &emit, METH_O, nullptr};
  constexpr const char* kWhat = "warnings of Python operators";
  const Ref function = checked(PyCFunction_NewEx(&method, nullptr, nullptr), kWhat);
  const Ref code = checked(Py_CompileString(kWatch, "<intarsia>", Py_file_input), kWhat);
  const Ref names = checked(PyDict_New(), kWhat);
  checked(PyDict_SetItemString(names.get(), "__builtins__", PyEval_GetBuiltins()), kWhat);
  checked(PyDict_SetItemString(names.get(), "emit", function.get()), kWhat);
  checked(PyEval_EvalCode(code.get(), names.get(), names.get()), kWhat);
  watched = true;
}

}  // namespace intarsia::pyop
