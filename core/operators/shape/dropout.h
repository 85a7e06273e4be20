// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rule of Dropout.
#pragma once

#include "core/operators/common/attributes.h"
#include "core/operators/common/lists.h"

namespace intarsia {

struct DropoutAttributes {
  int32_t seed = 0;
  template <class V>
  void fields(V& v) {
    v("seed", seed);
  }
};
static_assert(is_plan_struct<DropoutAttributes>);

namespace ops {

/// Output 0 is input 0; a second output, Dropout's mask, has the same extents.
struct Dropout {
  using Attributes = DropoutAttributes;
  static constexpr std::string_view name = "Dropout";
  template <class S>
  static Status infer(S& s) {
    if (Status status = s.set_output(0, s.type(0), s.shape(0)); !status) return status;
    return s.set_output(1, DataType::kBool, s.shape(0));
  }
};

}  // namespace ops
}  // namespace intarsia
