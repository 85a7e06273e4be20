// SPDX-License-Identifier: Apache-2.0
//
// `SequenceType`: what is known of the elements of a sequence, an optional value or a map.
//
// To planner and runtime a sequence is a vector of bytes (intarsia/sequence.h). What an element is
// that is taken out, and how many bytes a sequence needs at most, follows from this description,
// which inference carries beside type and extents. Host only; values.
#pragma once

#include <memory>
#include <optional>

#include "core/definitions/dim.h"
#include "intarsia/shape.h"

namespace intarsia::definitions {

struct SequenceType {
  /// Type of the elements; of empty sequences perhaps kUndefined.
  DataType type = DataType::kUndefined;
  /// Extents of every element; those that differ are unknown values with their bounds. Absent where
  /// there is no element yet, or where elements differ in rank.
  std::optional<Shape<Dim>> shape;
  /// Number of elements.
  Dim count;
  /// Of elements that are sequences, optional values or maps.
  std::shared_ptr<const SequenceType> inner;
  /// Of a map: the type of its keys. `type` is that of its values then, `count` the number of its
  /// entries; there is no shape.
  DataType key = DataType::kUndefined;

  /// True if there are no elements.
  bool empty() const { return count.upper() <= 0; }
};
using SequencePointer = std::shared_ptr<const SequenceType>;

/// True if nothing tells the two apart.
bool same(const SequencePointer& a, const SequencePointer& b);

/// What is true of a sequence of which one of the two is; null if either is.
SequencePointer join(const SequencePointer& a, const SequencePointer& b);

/// The same with extents, and numbers of elements of what the elements hold, that may grow without
/// bound, where they are not known.
SequencePointer widened(const SequencePointer& sequence);

/// `sequence` with one more element, and with that element's extents and type.
SequencePointer with_element(const SequencePointer& sequence, const SequenceType& element);

/// Bytes that an element of this type and these extents takes in a sequence: a number where the
/// extents are numbers, else a value between bounds. Without extents nothing is known of it.
Dim entry_bytes(DataType type, const std::optional<Shape<Dim>>& shape);

/// Bytes of all elements.
Dim sequence_bytes(const SequenceType& sequence);

/// A value with the same bounds that equals no other, if the value is not known: for extents of
/// elements, of which each has its own.
Dim fresh(const Dim& dim);

}  // namespace intarsia::definitions
