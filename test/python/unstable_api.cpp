// SPDX-License-Identifier: Apache-2.0
//
// The negative control of python_stable_api: a call that is no part of CPython's stable API, which
// must not compile.
#include <nanobind/nanobind.h>

PyInterpreterState* main_interpreter() {
  return PyInterpreterState_Main();
}
