// SPDX-License-Identifier: Apache-2.0
//
// Sequences, optional values and maps as the converter has them: as constants, and as what is known
// of their elements.
#pragma once

#include <vector>

#include "converter/graph/graph.h"

namespace intarsia::converter {

/// A constant of type kSequence, kOptional or kMap with these elements; those of a map are its keys
/// and its values.
Constant sequence_of(DataType kind, const std::vector<Constant>& elements);
/// The elements of such a constant. Throws if its bytes are none.
std::vector<Constant> elements_of(const Constant& sequence);

/// What a constant sequence, or whatever inference has found of a value, holds; null for tensors,
/// and where nothing is known.
definitions::SequencePointer sequence_type(const Constant& sequence);
definitions::SequencePointer sequence_type(const Value& value);

/// True of tensors of strings, and of sequences, optional values and maps that may hold some.
bool may_hold_strings(const Value& value);

}  // namespace intarsia::converter
