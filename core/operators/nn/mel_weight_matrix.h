// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rule of MelWeightMatrix: [dft_length / 2 + 1, num_mel_bins].
#pragma once

#include "core/operators/common/attributes.h"
#include "intarsia/shape.h"

namespace intarsia {

struct MelWeightMatrixAttributes {
  int32_t output_datatype = static_cast<int32_t>(DataType::kFloat);
  template <class V>
  void fields(V& v) {
    v("output_datatype", output_datatype, kElementType);
  }
};
static_assert(is_plan_struct<MelWeightMatrixAttributes>);

namespace ops {

struct MelWeightMatrix {
  using Attributes = MelWeightMatrixAttributes;
  static constexpr std::string_view name = "MelWeightMatrix";
  template <class S>
  static Status infer(S& s) {
    using Dim = typename S::Dim;
    for (int input = 0; input < 5; ++input) {
      Status t = s.require_equal(1, s.value_count(input), "number of elements", input);
      if (!t) return t;
    }
    const Dim bins = s.value(0, 0), length = s.value(1, 0);
    if (Status t = s.require_at_least(0, bins, "num_mel_bins", 0); !t) return t;
    if (Status t = s.require_at_least(0, length, "dft_length", 1); !t) return t;
    Shape<Dim> y;
    y.push(floor_div(length, Dim(2)) + Dim(1));
    y.push(bins);
    const int32_t type = s.template attributes<MelWeightMatrixAttributes>().output_datatype;
    return s.set_output(0, static_cast<DataType>(type), y);
  }
};

}  // namespace ops
}  // namespace intarsia
