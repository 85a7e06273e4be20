// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rules of ConstantOfShape and EyeLike.
#pragma once

#include "core/operators/common/attributes.h"
#include "core/operators/common/lists.h"

namespace intarsia {

/// ONNX's attribute `value`, a tensor of one element, as its bits and type.
struct ConstantOfShapeAttributes {
  int64_t value_bits = 0;  ///< The element in the low bytes, little endian.
  int32_t value_type = static_cast<int32_t>(DataType::kFloat);
  int32_t reserved = 0;
  template <class V>
  void fields(V& v) {
    v.scalar("value", value_bits, value_type);
  }
};
static_assert(is_plan_struct<ConstantOfShapeAttributes>);

struct EyeLikeAttributes {
  int32_t dtype = 0;  ///< 0: the input's type.
  int32_t k = 0;      ///< Which diagonal.
  template <class V>
  void fields(V& v) {
    v("dtype", dtype, kElementType);
    v("k", k);
  }
};
static_assert(is_plan_struct<EyeLikeAttributes>);

namespace ops {

struct ConstantOfShape {
  using Attributes = ConstantOfShapeAttributes;
  static constexpr std::string_view name = "ConstantOfShape";
  template <class S>
  static Status infer(S& s) {
    const auto& attributes = s.template attributes<ConstantOfShapeAttributes>();
    Shape<typename S::Dim> result;
    if (Status status = read_rank(s, 0, result.rank); !status) return status;
    for (int axis = 0; axis < result.rank; ++axis) {
      result[axis] = s.value(0, axis);
      if (Status status = s.require_at_least(0, result[axis], "listed extent", 0, axis); !status) {
        return status;
      }
    }
    return s.set_output(0, static_cast<DataType>(attributes.value_type), result);
  }
};

struct EyeLike {
  using Attributes = EyeLikeAttributes;
  static constexpr std::string_view name = "EyeLike";
  template <class S>
  static Status infer(S& s) {
    if (s.rank(0) != 2) return s.fail(Code::kWrongRank, "rank", 2, s.rank(0), 0);
    const int32_t dtype = s.template attributes<EyeLikeAttributes>().dtype;
    return s.set_output(0, dtype == 0 ? s.type(0) : static_cast<DataType>(dtype), s.shape(0));
  }
};

}  // namespace ops
}  // namespace intarsia
