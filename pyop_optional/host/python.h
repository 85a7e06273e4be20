// SPDX-License-Identifier: Apache-2.0
//
// The C API of Python with owners: `Ref` for references, `Gil` for the interpreter's lock.
//
// Only the stable API is used, so that this code serves CPython 3.11 and whatever comes after it.
// Inside `pyop_optional/` a failure is the exception `Failure`; it leaves the folder as a Status.
#pragma once

// Must precede every other header.
#ifndef Py_LIMITED_API
#define Py_LIMITED_API 0x030B0000
#endif
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "intarsia/status.h"

namespace intarsia::pyop {

/// Owns one reference. To be destroyed while the GIL is held.
class Ref {
 public:
  Ref() = default;
  /// Takes over a new reference (null: an error is pending, see `checked`).
  static Ref take(PyObject* object) { return Ref(object); }
  /// Adds a reference to a borrowed one.
  static Ref share(PyObject* object) {
    Py_XINCREF(object);
    return Ref(object);
  }
  Ref(Ref&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Ref& operator=(Ref&& other) noexcept {
    // The old reference goes last: what it frees may run any code.
    PyObject* old = std::exchange(object_, std::exchange(other.object_, nullptr));
    Py_XDECREF(old);
    return *this;
  }
  ~Ref() { Py_XDECREF(object_); }
  PyObject* get() const { return object_; }
  /// Gives the reference away.
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  explicit Ref(PyObject* object) : object_(object) {}
  PyObject* object_ = nullptr;
};

/// Holds the GIL, on any thread, nested or not. An exception that is pending on the thread when it
/// begins is pending again when it ends, and none is added.
class Gil {
 public:
  Gil() : state_(PyGILState_Ensure()) { PyErr_Fetch(&type_, &value_, &traceback_); }
  ~Gil() {
    PyErr_Restore(type_, value_, traceback_);
    PyGILState_Release(state_);
  }
  Gil(const Gil&) = delete;
  Gil& operator=(const Gil&) = delete;

 private:
  PyGILState_STATE state_;
  PyObject *type_ = nullptr, *value_ = nullptr, *traceback_ = nullptr;
};

/// Why something failed: the fields of a Diagnostic, and text that the operator supplies.
struct Failure : std::exception {
  Failure(Code failure_code, const char* failed, std::string explanation)
      : code(failure_code), what_failed(failed), text(std::move(explanation)) {}
  const char* what() const noexcept override { return text.c_str(); }

  Code code;
  const char* what_failed;  ///< A literal, as Diagnostic::what.
  std::string text;
  int64_t expected = 0;
  int64_t found = 0;
  int output = -1;  ///< Number of the output that is concerned.
  int axis = -1;
  bool interrupted = false;  ///< An operator was stopped by Ctrl-C.
  bool is_error = true;      ///< False: it raised no Exception, but KeyboardInterrupt, SystemExit.
  /// What an operator raised, if it did. To be released while the GIL is held.
  std::shared_ptr<Ref> exception;
};

/// The pending exception as Python prints it, traceback, causes and notes included. Clears it, and
/// gives it to `exception`, if that is given.
std::string take_exception_text(Ref* exception = nullptr);
/// The pending exception as a Failure that has it: the explanation, then the exception's text.
Failure take_exception(const char* what_failed, const std::string& explanation);
/// Turns the pending exception into a Failure without it, for places where the GIL goes first.
[[noreturn]] void throw_exception(const char* what_failed);

/// A new reference from a call that may fail.
inline Ref checked(PyObject* object, const char* what_failed) {
  if (object == nullptr) throw_exception(what_failed);
  return Ref::take(object);
}
inline void checked(int result, const char* what_failed) {
  if (result < 0) throw_exception(what_failed);
}

Ref python_text(std::string_view text);
/// The UTF-8 text of a str; "" for anything else.
std::string utf8(PyObject* text);
/// "a dict", "None": how messages name an object.
std::string kind_of(PyObject* object);

}  // namespace intarsia::pyop
