// SPDX-License-Identifier: Apache-2.0
//
// What a model declares of its values (value_info, outputs), held against what inference finds.
//
// Element types have to agree everywhere, ranks and constant extents at the outputs of the main
// graph: callers rely on them. Extents of values inside are not looked at: models in circulation
// declare wrong ones, and nothing uses them.
#pragma once

#include "converter/graph/graph.h"

namespace intarsia::converter {

/// Throws Error if a declaration contradicts the value's type or extents, as far as these are
/// known.
void check_declaration(const Value& value);
/// The same for all outputs of a node.
void check_declarations(const Node& node);

/// Lets `value`, which takes the place of `replaced`, stand for what is declared of that, and
/// checks it.
void inherit_declaration(Value& value, const Value& replaced);

}  // namespace intarsia::converter
