// SPDX-License-Identifier: Apache-2.0
//
// Kernels that the runtime itself provides: control flow over sub-graphs of the plan.
//
// The outputs of an If node are the very tensors that its branches write, so that taking a branch
// costs a call and copies nothing.
#pragma once

#include "core/operators/control/control.h"
#include "intarsia/kernel.h"

namespace intarsia {

/// ONNX If: runs one of two sub-graphs. Input 0 is a bool of one element.
struct If {
  static constexpr KernelId id{"If", "", {}};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

/// Stands for a branch that contradicts itself at the planned extents: fails when it is reached.
/// Its attributes are the message, so that `describe` can show it.
struct Contradiction {
  static constexpr KernelId id{"intarsia:Contradiction", "", {}};
  static Status check(const KernelContext& context);
  static Status run(const KernelContext& context);
};

}  // namespace intarsia
