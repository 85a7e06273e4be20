// SPDX-License-Identifier: Apache-2.0
//
// The parts of the extension module `intarsia._native`, an interior of the Python package: it
// checks what memory safety needs, and leaves numpy, names and messages about inputs to the
// package. It sees arrays through the buffer protocol only, so it is tied to no version of numpy.
#pragma once

#include <nanobind/nanobind.h>

#include "pyop_optional/module/plan_session.h"

namespace intarsia::python {

/// True, or false with an ImportError pending: in a sub-interpreter.
bool in_main_interpreter();

/// A C++ string of unknown origin (a name in a plan, a path) as a Python string.
nanobind::str text(const std::string& bytes);
/// A path, which comes as bytes: it need not be UTF-8.
std::string path_of(nanobind::handle bytes);

/// From the package's (files, allow_pyop, pyop_paths), the names as bytes.
OperatorRequest request_of(const nanobind::tuple& operators);

/// Class PlanSession, class Block, and the translation of Failure to intarsia.Error.
void bind_session(nanobind::module_& module);

/// Class DlpackTensor.
void bind_dlpack(nanobind::module_& module);

/// Functions convert_model, external_files and plan_json.
void bind_converter(nanobind::module_& module);

}  // namespace intarsia::python
