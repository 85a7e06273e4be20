// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rule of Softmax, LogSoftmax and Hardmax (ONNX operator set 13: along one
// axis).
#pragma once

#include "core/operators/common/attributes.h"
#include "intarsia/shape.h"

namespace intarsia {

struct SoftmaxAttributes {
  int32_t axis = -1;
  template <class V>
  void fields(V& v) {
    v("axis", axis);
  }
};
static_assert(is_plan_struct<SoftmaxAttributes>);

namespace ops {

struct Softmax {
  using Attributes = SoftmaxAttributes;
  static constexpr std::string_view name = "Softmax";
  template <class S>
  static Status infer(S& s) {
    const int32_t axis = s.template attributes<SoftmaxAttributes>().axis;
    const int32_t rank = s.rank(0) > 0 ? s.rank(0) : 1;
    if (axis < -rank || axis >= rank) {
      return s.fail(Code::kIndexOutOfRange, "axis out of range", rank, axis, 0);
    }
    return s.set_output(0, s.type(0), s.shape(0));
  }
};

}  // namespace ops
}  // namespace intarsia
