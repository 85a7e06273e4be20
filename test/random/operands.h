// SPDX-License-Identifier: Apache-2.0
//
// What random models do with the facts of an operator's definition (core/definitions/facts.h):
// attributes, extents and elements that have a chance to be taken. An operator that states no facts
// gets arbitrary ones, drawn again and again.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "test/random/execute.h"
#include "test/random/random.h"
#include "test/random/sizes.h"
#include "test/random/values.h"

namespace intarsia::test {

/// Attributes for a node whose first input has `rank` axes.
definitions::AttributeMap draw_attributes(const OperatorDefinition& op, int rank,
                                          const Sizes& sizes, Random& random);

/// True if the operand is a list about other operands: axes, extents, pads, ...
bool is_list(definitions::Domain domain);

/// Extents for a list, given the first input's.
std::vector<int64_t> list_extents(definitions::Domain domain, int rank, Random& random);

/// How the elements of an operand are drawn where only their range matters.
Draw draw_for(definitions::Domain domain, Random& random);

/// True if the elements lie in the domain, as far as it speaks of a range.
bool lies_in(const Constant& tensor, definitions::Domain domain);

/// Elements for an operand of these extents. `inputs` are the other operands in the same run, as
/// far as they are known. Nothing if the domain is one of a range only.
std::optional<Constant> draw_list(const Candidate& candidate, const definitions::Values& values,
                                  DataType type, const std::vector<int64_t>& extents,
                                  std::span<const Constant* const> inputs, Random& random);

/// Extents of an arbitrary tensor.
std::vector<int64_t> draw_extents(const Sizes& sizes, Random& random);

}  // namespace intarsia::test
