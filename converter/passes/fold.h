// SPDX-License-Identifier: Apache-2.0
//
// Constant folding: values that inference knows become constants.
//
// Inference executes what depends on constants alone, because extents may follow from the results,
// and leaves what it finds in `Value::known`. Here the nodes that computed it go.
#pragma once

#include <optional>

#include "converter/graph/graph.h"

namespace intarsia::converter {

/// Replaces every known result of `graph` and nested graphs by a constant, and removes nodes whose
/// results nobody needs any more.
void fold(Graph& graph);

/// Replaces output `index` of `node` by a constant wherever it is used.
void become_constant(Node& node, size_t index, Constant constant);

/// The elements of a value that is a constant, or is known to have those of one; null otherwise.
inline const Constant* known_constant(const Value& value) {
  if (value.constant) return &*value.constant;
  return value.known ? &*value.known : nullptr;
}

}  // namespace intarsia::converter
