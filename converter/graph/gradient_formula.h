// SPDX-License-Identifier: Apache-2.0
//
// Gradient rules as text, for operators that do not come with Intarsia: a list of calls, in the
// textual form that ONNX has for nodes.
//
//     dx = my.ReluBackward(y, dy)                    another operator, of domain "my"
//     s = Sign(x); dx = Mul(s, dy)                   several nodes, of ONNX's own operators
//     da, db = my.PairBackward<rate = @rate>(a, b, dy)
//
// Operands are the names of the node's inputs and outputs, `d` and the name of an output (its
// gradient), results of calls before, and numbers, which have the type of the call's first tensor.
// An optional input that the node lacks is lacking there, too.
// What `d` and the name of an input is assigned is that input's gradient. Attributes are numbers,
// "texts", [lists] of these, or @NAME: the node's own, left out where the node has none. Statements
// end with ';' or with the line; '#' begins a comment.
#pragma once

#include <string_view>

#include "core/definitions/definition.h"
#include "core/definitions/gradient.h"

namespace intarsia::converter {

/// Writes what the formula says. Only calls are made that an input's gradient needs. Refuses, with
/// the place, what is no formula or names nothing.
void apply_gradient_formula(std::string_view formula, const definitions::OperatorDefinition& op,
                            definitions::GradientContext& context);

}  // namespace intarsia::converter
