// SPDX-License-Identifier: Apache-2.0
//
// Attributes of control flow. A sub-graph is an index into the plan's graphs; the indices stand at
// the start of the struct, in the order of the definition's `graphs`.
#pragma once

#include "core/operators/common/attributes.h"

namespace intarsia {

struct IfAttributes {
  uint32_t then_branch = 0xffffffffu;
  uint32_t else_branch = 0xffffffffu;
  template <class V>
  void fields(V& v) {
    v.internal("then_branch", then_branch);
    v.internal("else_branch", else_branch);
  }
};
static_assert(is_plan_struct<IfAttributes>);

}  // namespace intarsia
