// SPDX-License-Identifier: Apache-2.0
#include "pyop_optional/host/python.h"

namespace intarsia::pyop {
namespace {

/// The lines that the module `traceback` makes of an exception; an empty Ref if it cannot.
Ref formatted(PyObject* type, PyObject* value, PyObject* traceback) {
  const Ref module = Ref::take(PyImport_ImportModule("traceback"));
  if (!module) return {};
  const Ref lines = Ref::take(PyObject_CallMethod(module.get(), "format_exception", "OOO", type,
                                                  value != nullptr ? value : Py_None,
                                                  traceback != nullptr ? traceback : Py_None));
  if (!lines) return {};
  const Ref empty = Ref::take(PyUnicode_FromString(""));
  return empty ? Ref::take(PyUnicode_Join(empty.get(), lines.get())) : Ref();
}

}  // namespace

std::string take_exception_text(Ref* exception) {
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&type, &value, &traceback);
  if (type == nullptr) return "no exception was set";
  PyErr_NormalizeException(&type, &value, &traceback);
  if (value != nullptr && traceback != nullptr) PyException_SetTraceback(value, traceback);
  std::string text = utf8(formatted(type, value, traceback).get());
  if (text.empty()) {
    // The exception's own __str__ may raise, and modules may be broken: the type is left.
    PyErr_Clear();
    text = utf8(Ref::take(PyObject_Str(type)).get());
  }
  PyErr_Clear();
  if (exception != nullptr) *exception = Ref::share(value);
  Py_XDECREF(traceback);
  Py_XDECREF(value);
  Py_XDECREF(type);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

Failure take_exception(const char* what_failed, const std::string& explanation) {
  const bool interrupted = PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) != 0;
  const bool is_error = PyErr_Occurred() == nullptr || PyErr_ExceptionMatches(PyExc_Exception) != 0;
  auto exception = std::make_shared<Ref>();
  Failure failure(Code::kOperatorFailed, what_failed,
                  explanation + take_exception_text(exception.get()));
  failure.interrupted = interrupted;
  failure.is_error = is_error;
  if (*exception) failure.exception = std::move(exception);
  return failure;
}

void throw_exception(const char* what_failed) {
  Failure failure = take_exception(what_failed, "");
  failure.exception.reset();
  throw failure;
}

Ref python_text(std::string_view text) {
  // Attributes are bytes in ONNX; what is no UTF-8 arrives as surrogates instead of not at all.
  return checked(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogateescape"),
      "text for Python");
}

std::string utf8(PyObject* text) {
  if (text == nullptr || PyUnicode_Check(text) == 0) return {};
  const Ref bytes = Ref::take(PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace"));
  char* data = nullptr;
  Py_ssize_t length = 0;
  if (!bytes || PyBytes_AsStringAndSize(bytes.get(), &data, &length) < 0) {
    PyErr_Clear();
    return {};
  }
  return std::string(data, static_cast<size_t>(length));
}

std::string kind_of(PyObject* object) {
  if (object == Py_None) return "None";
  const Ref name = Ref::take(PyType_GetName(Py_TYPE(object)));
  if (!name) PyErr_Clear();
  const std::string text = utf8(name.get());
  return text.empty() ? "an object" : "an object of type " + text;
}

}  // namespace intarsia::pyop
