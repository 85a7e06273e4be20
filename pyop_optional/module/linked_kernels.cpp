// SPDX-License-Identifier: Apache-2.0
//
// What a session of the module can run: everything that the command can.
#include "converter/tool/program.h"
#include "pyop_optional/module/plan_session.h"

namespace intarsia::python {

KernelSet linked_kernels() {
  return tool::all_kernels();
}

}  // namespace intarsia::python
