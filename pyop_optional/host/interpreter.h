// SPDX-License-Identifier: Apache-2.0
//
// The process's Python interpreter.
#pragma once

#include <string>

namespace intarsia::pyop {

/// Initialises Python unless it runs already, and lets go of the GIL. Returns "" or what is wrong.
/// To be called without the GIL, or, where Python runs already, with it.
///
/// `interpreter` is the Python program whose library and packages are used; null: the one that this
/// code was built with. Nothing is taken from the environment: no PATH, no PYTHONHOME, no locale.
/// An interpreter of our own survives `fork`, in the child as well.
std::string start_interpreter(const char* interpreter);

/// True if `start_interpreter` has initialised it, the one here or that of a plug-in: it is no
/// program's own. Needs the GIL.
bool interpreter_is_ours();

/// False before `start_interpreter`, and again when a Python process has begun to end.
bool interpreter_runs();

}  // namespace intarsia::pyop
