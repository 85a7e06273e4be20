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

namespace internal {

/// Compares outputs with the types that the shape function says, and with the extents that it
/// computes of extents alone: what follows from values is not known when a plan is opened.
class KnownExtentCheck : public ExtentCheck {
 public:
  KnownExtentCheck(const KernelContext& context, bool types_only)
      : ExtentCheck(context), types_only_(types_only) {}
  bool has_values(int) const {
    reads_values_ = true;
    return false;
  }
  Dim value(int, int64_t) const {
    reads_values_ = true;
    return 0;
  }
  double real_value(int, int64_t) const {
    reads_values_ = true;
    return 0;
  }
  Status set_output_type(int output, DataType type) const {
    const TensorView& view = context().output(output);
    if (!view.present() || view.type == type) return {};
    return fail(Code::kWrongType, "output type", static_cast<int64_t>(type),
                static_cast<int64_t>(view.type), input_count() + output);
  }
  Status set_output(int output, DataType type, const Shape<Dim>& shape) const {
    if (Status status = set_output_type(output, type); !status) return status;
    return types_only_ || reads_values_ ? Status() : ExtentCheck::set_output(output, type, shape);
  }

 private:
  bool types_only_;
  mutable bool reads_values_ = false;
};

}  // namespace internal
}  // namespace intarsia
