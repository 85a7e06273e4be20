// SPDX-License-Identifier: Apache-2.0
//
// An operator of a consumer's own, in a header alone.
#pragma once

#include "intarsia/operator.h"

namespace consumer {

struct Twice {
  static constexpr intarsia::OperatorInfo info{
      .domain = "consumer", .name = "Twice", .inputs = {"x"}, .outputs = {"y"}};
  static void run(intarsia::Input<float> x, intarsia::Output<float> y) {
    for (int64_t i = 0; i < x.size(); ++i) y[i] = 2 * x[i];
  }
};

using Operators = intarsia::OperatorList<Twice>;

}  // namespace consumer
