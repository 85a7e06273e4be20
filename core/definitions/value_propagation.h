// SPDX-License-Identifier: Apache-2.0
//
// Elements of small tensors that models compute from extents (Shape -> Gather -> Mul -> Concat ->
// Reshape), as expressions over the model's symbols.
//
// Host only. Pure functions.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "core/definitions/definition.h"

namespace intarsia::definitions {

/// Largest number of elements of a tensor that is followed.
inline constexpr int64_t kMaxPropagatedElements = 256;

/// Elements of each output of a node by the operator's rule; nothing for an output of which nothing
/// follows, nor for operators that have no rule. `attributes` is the operator's attributes struct;
/// `outputs` have the inferred types and extents.
KnownElements propagate_values(const OperatorDefinition& op, const std::byte* attributes,
                               std::span<const SymbolicInput> inputs,
                               std::span<const SymbolicOutput> outputs);

/// The rules that definitions name.
namespace propagation {
// Element by element, inputs broadcast.
extern const PropagationRule kAbsolute, kSum, kDifference, kProduct, kQuotient, kRemainder,
    kNegation, kFloor, kCeil, kRound, kMaximum, kMinimum, kCast, kSelect;
extern const PropagationRule kEqual, kGreater, kGreaterOrEqual, kLess, kLessOrEqual, kNot;
// Of all elements together.
extern const PropagationRule kReduceMax, kReduceMin, kReduceProduct, kReduceSum;
// Moving elements.
extern const PropagationRule kCopy, kConcat, kGather, kRepeat, kSlice, kSplit, kTranspose;
// Making elements.
extern const PropagationRule kFill, kRange, kShape, kSize;
}  // namespace propagation

}  // namespace intarsia::definitions
