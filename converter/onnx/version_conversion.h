// SPDX-License-Identifier: Apache-2.0
//
// Operator sets: every node brought to the form that its operator has in the newest one.
//
// ONNX changed operators over the years, mostly by turning attributes into inputs. The rest of the
// converter knows only the newest forms (core/definitions). A row of the table in
// version_conversion_rules.cpp says: nodes of this type, older than that version, are changed by
// this function; rows of one type apply one after another, oldest first.
#pragma once

#include <span>
#include <string_view>

#include "converter/graph/graph.h"

namespace intarsia::converter {

/// Rewrites all nodes, nested graphs included, and tells the element type of values as far as it
/// follows from the types of the inputs. Throws if an old form has no counterpart.
void convert_versions(Model& model);

/// Finds the definition of every operator, checks the number of operands, and reads attributes into
/// their structs. Throws one error that lists every node at fault. REQUIRES: versions converted.
void resolve(Model& model);

// The table; for version_conversion.cpp.

/// Applies to every version: what a row does then concerns how a form is used, not its age.
inline constexpr int kAnyVersion = 1'000'000;

struct VersionRule {
  std::string_view type;  ///< "Add" or "ai.onnx.ml:ZipMap".
  /// The first version that has the newer form.
  int below;
  void (*rewrite)(Node& node);
};

/// Of one type in ascending order of `below`.
std::span<const VersionRule> version_rules();

}  // namespace intarsia::converter
