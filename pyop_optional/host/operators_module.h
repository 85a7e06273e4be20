// SPDX-License-Identifier: Apache-2.0
//
// The module `intarsia_operators`, which operators' files may import. The Python package has it as
// a file; the interpreter of a program gets it from here.
#pragma once

namespace intarsia::pyop {

/// Its text.
extern const char* const kOperatorsModule;

/// Sees to it that the module can be imported. Needs the GIL. Throws Failure.
void provide_operators_module();

}  // namespace intarsia::pyop
