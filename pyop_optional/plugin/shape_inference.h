// SPDX-License-Identifier: Apache-2.0
//
// Shapes of Python operators at conversion: what the operator's own shape function says, and what a
// run on zeros shows.
//
// A function of Python sees numbers. Where extents vary it is asked at the largest and at the
// smallest ones; an axis that differs varies up to the larger answer, and the run checks.
#pragma once

#include "core/definitions/symbolic_shape.h"
#include "pyop_optional/host/host_state.h"

namespace intarsia::pyop {

class ShapeInference {
 public:
  /// `host` must outlive the object. It keeps what operators raise that end a conversion.
  explicit ShapeInference(PyHost::State& host) : host_(host) {}

  /// Sets types and, as far as the operator tells them, extents of the outputs. An operator that
  /// cannot be asked (its module is not here, it has no shape function) leaves extents open, unless
  /// that is for a KeyboardInterrupt or a SystemExit: these end the conversion.
  Status infer(definitions::SymbolicShapeContext& context) const;

  /// The same for extents that nothing tells: fails with the reason why the operator cannot be
  /// asked, or executes it on zeros.
  Status try_on_zeros(definitions::SymbolicShapeContext& context) const;

 private:
  PyHost::State& host_;
};

}  // namespace intarsia::pyop
