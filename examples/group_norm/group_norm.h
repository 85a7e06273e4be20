// SPDX-License-Identifier: Apache-2.0
//
// The operator of the PyTorch model: group normalisation, mydomain::testgroupnorm.
//
// x has extents [N, C, ...]; the C channels form `num_groups` groups. Every group of every sample
// is brought to mean 0 and variance 1, then channel c is multiplied by scale[c] and shifted by
// bias[c].
#pragma once

#include "intarsia/operator.h"

namespace mydomain {

template <class T>
struct GroupNorm {
  static constexpr intarsia::OperatorInfo info{
      .domain = "mydomain",
      .name = "testgroupnorm",
      .inputs = {"X", {"num_groups", "G"}, "scale", "bias"},
      .outputs = {"Y"}};

  struct Attributes {
    float epsilon = 0;
    template <class V>
    void fields(V& v) {
      v.required("epsilon", epsilon);
    }
  };

  template <class S>
  static intarsia::Status infer(S& s) {
    if (s.rank(0) < 2) return s.fail(intarsia::Code::kWrongRank, "rank", 2, s.rank(0), 0);
    for (int input : {2, 3}) {
      if (s.rank(input) != 1) {
        return s.fail(intarsia::Code::kWrongRank, "rank", 1, s.rank(input), input);
      }
      const auto status = s.require_equal(s.dim(0, 1), s.dim(input, 0), "channels", input, 0);
      if (!status) return status;
    }
    return s.set_output(0, s.type(0), s.shape(0));
  }

  static intarsia::Status run(const intarsia::KernelContext& context, const Attributes& attributes,
                              intarsia::Input<T> x, float num_groups, intarsia::Input<T> scale,
                              intarsia::Input<T> bias, intarsia::Output<T> y);
};

using Operators = intarsia::OperatorList<GroupNorm<float>, GroupNorm<double>>;

}  // namespace mydomain
