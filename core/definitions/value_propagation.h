// SPDX-License-Identifier: Apache-2.0
//
// Elements of small tensors that models compute from extents (Shape -> Gather -> Mul -> Concat ->
// Reshape), as expressions over the model's symbols.
//
// Host only. Pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/definitions/symbolic_shape.h"

namespace intarsia::definitions {

/// Largest number of elements of a tensor that is followed.
inline constexpr int64_t kMaxPropagatedElements = 64;

/// Elements of each output of a node, as far as they follow; nothing for an output of which nothing
/// is known, and for operators that shape arithmetic is not made of. `op` is the qualified name,
/// `attributes` the operator's attributes struct; `outputs` have the inferred types and extents.
std::vector<std::optional<std::vector<Dim>>> propagate_values(
    std::string_view op, const std::byte* attributes, std::span<const SymbolicInput> inputs,
    std::span<const SymbolicOutput> outputs);

}  // namespace intarsia::definitions
