// SPDX-License-Identifier: Apache-2.0
//
// Attribute structs that many operators share; intarsia/attributes.h says how such structs are
// written.
#pragma once

#include <cstdint>

#include "intarsia/attributes.h"

namespace intarsia {

/// The one attribute of Softmax, Concat, Gather, Split, Flatten, ... (`axis`).
struct AxisAttributes {
  int32_t axis = 0;
  template <class V>
  void fields(V& v) {
    v("axis", axis);
  }
};
static_assert(is_plan_struct<AxisAttributes>);

}  // namespace intarsia
