// SPDX-License-Identifier: Apache-2.0
//
// The context of a shape function in a kernel's `check`: where outputs would be set, they have to
// have those extents already. Not for direct inclusion; all kernels, of the library and of a
// program's own, are checked through it.
#pragma once

#include "intarsia/shape.h"

namespace intarsia {

/// Compares; an output that the node leaves out agrees with any extents.
class ExtentCheck : public ShapeContext {
 public:
  using ShapeContext::ShapeContext;
  Status set_output(int output, DataType type, const Shape<Dim>& shape) const;
};

}  // namespace intarsia
