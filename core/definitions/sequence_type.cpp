// SPDX-License-Identifier: Apache-2.0
#include "core/definitions/sequence_type.h"

#include <algorithm>

#include "intarsia/sequence.h"

namespace intarsia::definitions {
namespace {

/// What is true of either extent of elements; `a` itself where it says no more than these bounds,
/// so that joining again and again comes to an end.
Dim between(const Dim& a, const Dim& b) {
  const bool covers = a.has_unknown() && a.lower() <= b.lower() && a.upper() >= b.upper();
  if (covers || a == b) return a;
  return Dim::unknown(std::min(a.lower(), b.lower()), std::max(a.upper(), b.upper()));
}

/// Bytes of an element whose extents are numbers; kInfinite if there are none.
int64_t bytes_at(DataType type, const Shape<Dim>& shape, int64_t (Dim::*bound)() const) {
  Dim count = 1;
  for (int axis = 0; axis < shape.rank; ++axis) {
    count = count * Dim(std::max<int64_t>((shape[axis].*bound)(), 0));
  }
  if (constant_value(count) >= kMaxElements) return kInfinite;
  return sequence_entry_bytes(byte_size(type, constant_value(count)));
}

using JoinCounts = Dim (*)(const Dim&, const Dim&);

SequencePointer joined_type(const SequencePointer& a, const SequencePointer& b,
                            JoinCounts join_counts) {
  if (a == nullptr || b == nullptr) return nullptr;
  auto joined = std::make_shared<SequenceType>(a->empty() ? *b : *a);
  joined->count = join_counts(a->count, b->count);
  if (a->empty() || b->empty()) {
    if (joined->type == DataType::kUndefined) joined->type = a->type;
    return joined;
  }
  if (a->type != b->type || !a->shape || !b->shape || a->shape->rank != b->shape->rank) {
    joined->shape.reset();
  } else {
    for (int axis = 0; axis < a->shape->rank; ++axis) {
      (*joined->shape)[axis] = between((*a->shape)[axis], (*b->shape)[axis]);
    }
  }
  joined->inner = joined_type(a->inner, b->inner, between);
  return joined;
}

}  // namespace

bool same(const SequencePointer& a, const SequencePointer& b) {
  if (a == b) return true;
  if (a == nullptr || b == nullptr) return false;
  if (a->type != b->type || a->key != b->key || !(a->count == b->count) ||
      a->shape.has_value() != b->shape.has_value()) {
    return false;
  }
  if (a->shape) {
    if (a->shape->rank != b->shape->rank) return false;
    for (int axis = 0; axis < a->shape->rank; ++axis) {
      if (!((*a->shape)[axis] == (*b->shape)[axis])) return false;
    }
  }
  return same(a->inner, b->inner);
}

SequencePointer join(const SequencePointer& a, const SequencePointer& b) {
  return joined_type(a, b, dim_either);
}

SequencePointer widened(const SequencePointer& sequence) {
  if (sequence == nullptr) return nullptr;
  auto wide = std::make_shared<SequenceType>(*sequence);
  for (int axis = 0; wide->shape && axis < wide->shape->rank; ++axis) {
    Dim& extent = (*wide->shape)[axis];
    if (extent.has_unknown()) extent = Dim::unknown(0);
  }
  if (wide->inner != nullptr) {
    auto inner = std::make_shared<SequenceType>(*widened(wide->inner));
    if (inner->count.has_unknown()) inner->count = Dim::unknown(0);
    wide->inner = inner;
  }
  return wide;
}

SequencePointer with_element(const SequencePointer& sequence, const SequenceType& element) {
  if (sequence == nullptr) return nullptr;
  SequenceType one = element;
  one.count = sequence->empty() ? Dim(1) : sequence->count;
  auto joined =
      std::make_shared<SequenceType>(*join(sequence, std::make_shared<SequenceType>(one)));
  joined->count = sequence->count + 1;
  return joined;
}

Dim entry_bytes(DataType type, const std::optional<Shape<Dim>>& shape) {
  if (!shape || type == DataType::kUndefined) return Dim::unknown(sizeof(SequenceEntry));
  const int64_t least = bytes_at(type, *shape, &Dim::lower);
  const int64_t most = bytes_at(type, *shape, &Dim::upper);
  return least == most ? Dim(most) : Dim::unknown(least, most);
}

Dim sequence_bytes(const SequenceType& sequence) {
  if (sequence.key != DataType::kUndefined) {
    Shape<Dim> entries;
    entries.push(sequence.count);
    return entry_bytes(sequence.key, entries) + entry_bytes(sequence.type, entries);
  }
  if (sequence.empty()) return 0;
  const Dim entry = entry_bytes(sequence.type, sequence.shape);
  if (is_constant(entry) && is_constant(sequence.count)) return entry * sequence.count;
  const Dim least = Dim(std::max<int64_t>(sequence.count.lower(), 0)) * Dim(entry.lower());
  const Dim most = Dim(sequence.count.upper()) * Dim(entry.upper());
  return Dim::unknown(constant_value(least), constant_value(most));
}

Dim fresh(const Dim& dim) {
  return dim.has_unknown() ? Dim::unknown(dim.lower(), dim.upper()) : dim;
}

}  // namespace intarsia::definitions
