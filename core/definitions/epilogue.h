// SPDX-License-Identifier: Apache-2.0
//
// Operators with an epilogue. Inputs that ONNX does not know (residuals, MatMul's bias) come after
// its own, and belong to operators of the converter's own domain that only its fusions make; the
// same kernels serve both.
#pragma once

#include "core/definitions/rows.h"

namespace intarsia::definitions {

/// Adds an operator twice: as ONNX has it, and with the inputs of its epilogue as one of the
/// converter's own. `definition` is the latter.
template <class Rule>
void add_with_epilogue(DefinitionRows& rows, OperatorDefinition definition) {
  const Epilogue& epilogue = definition.facts.epilogue;
  OperatorDefinition onnx = definition;
  const int last = epilogue.bias >= 0 ? epilogue.bias : epilogue.residual;
  onnx.inputs.resize(static_cast<size_t>(last));
  add<Rule>(rows, std::move(onnx));
  // Gradients come before fusion.
  definition.facts.gradient = nullptr;
  definition.domain = kInternalDomain;
  definition.kernel_operator = definition.name;
  add<Rule>(rows, std::move(definition));
}

}  // namespace intarsia::definitions
