// SPDX-License-Identifier: Apache-2.0
//
// Attributes of operators over sequences and optional values. Their extents follow from what the
// converter knows of the elements (core/definitions/sequence.cpp); at run time only kernels tell
// them, so there are no shape rules here.
#pragma once

#include "core/operators/common/attributes.h"

namespace intarsia {

struct SequenceEmptyAttributes {
  int32_t dtype = static_cast<int32_t>(DataType::kFloat);
  template <class V>
  void fields(V& v) {
    v("dtype", dtype, kElementType);
  }
};
static_assert(is_plan_struct<SequenceEmptyAttributes>);

/// The type of the element of an optional value that is empty, as the importer writes it down:
/// for each level of sequences and optional values its DataType, then the element type of the
/// tensor.
struct OptionalAttributes {
  ListAttribute<int64_t> type;
  template <class V>
  void fields(V& v) {
    v("type", type, {});
  }
};
static_assert(is_plan_struct<OptionalAttributes>);

struct ConcatFromSequenceAttributes {
  int32_t axis = 0;
  int32_t new_axis = 0;
  template <class V>
  void fields(V& v) {
    v.required("axis", axis);
    v("new_axis", new_axis, kFlag);
  }
};
static_assert(is_plan_struct<ConcatFromSequenceAttributes>);

struct SplitToSequenceAttributes {
  int32_t axis = 0;
  int32_t keepdims = 1;
  template <class V>
  void fields(V& v) {
    v("axis", axis);
    v("keepdims", keepdims, kFlag);
  }
};
static_assert(is_plan_struct<SplitToSequenceAttributes>);

}  // namespace intarsia
