// SPDX-License-Identifier: Apache-2.0
//
// What a model declares of its values (value_info, outputs), held against what inference finds.
//
// Element types have to agree everywhere. Wrong extents at the outputs of the main graph are a
// warning: converters of classical models declare some, and a plan says itself what it computes.
// They are an error where an operator of one's own computes the output: then the model, or the
// operator's shape function, is wrong, and its author is at hand. Those of values inside are not
// looked at: nothing uses them.
#pragma once

#include <string>

#include "converter/graph/graph.h"

namespace intarsia::converter {

/// Throws Error if a declaration contradicts the value's type, as far as this is known.
void check_declaration(const Value& value);
/// What a user should know of an output whose declaration contradicts its extents; "" if none does.
/// Throws Error if an operator of one's own computes it. REQUIRES: they are known.
std::string contradicted_extents(const Value& output);
/// The same for all outputs of a node.
void check_declarations(const Node& node);

/// Lets `value`, which takes the place of `replaced`, stand for what is declared of that, and
/// checks it.
void inherit_declaration(Value& value, const Value& replaced);

}  // namespace intarsia::converter
