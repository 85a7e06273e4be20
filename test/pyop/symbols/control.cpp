// SPDX-License-Identifier: Apache-2.0
//
// What the search for Python's symbols must find: a file that refers to one.
extern "C" void Py_Initialize();
void start_python() {
  Py_Initialize();
}
