// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rule of MurmurHash3, an operator of ONNX Runtime: a hash of 32 bits for each
// element.
#pragma once

#include "core/operators/common/attributes.h"
#include "intarsia/shape.h"

namespace intarsia {

struct MurmurHash3Attributes {
  /// Of which the lowest 32 bits count.
  int64_t seed = 0;
  /// 1: hashes are uint32; 0: the same bits are int32.
  int32_t positive = 1;
  int32_t reserved = 0;
  template <class V>
  void fields(V& v) {
    v("seed", seed);
    v("positive", positive, kFlag);
  }
};
static_assert(is_plan_struct<MurmurHash3Attributes>);

namespace ops {

struct MurmurHash3 {
  using Attributes = MurmurHash3Attributes;
  static constexpr std::string_view name = "MurmurHash3";
  template <class S>
  static Status infer(S& s) {
    const bool positive = s.template attributes<Attributes>().positive != 0;
    return s.set_output(0, positive ? DataType::kUint32 : DataType::kInt32, s.shape(0));
  }
};

}  // namespace ops
}  // namespace intarsia
