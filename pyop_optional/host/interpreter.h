// SPDX-License-Identifier: Apache-2.0
//
// The process's Python interpreter.
#pragma once

#include <string>

namespace intarsia::pyop {

/// Initialises Python unless it runs already, and lets go of the GIL. Returns "" or what is wrong.
/// To be called without the GIL, or, where Python runs already, with it.
std::string start_interpreter();

/// False before `start_interpreter`, and again when a Python process has begun to end.
bool interpreter_runs();

}  // namespace intarsia::pyop
