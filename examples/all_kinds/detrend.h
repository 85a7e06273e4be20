// SPDX-License-Identifier: Apache-2.0
//
// An operator in C++: takes the straight line that fits best out of each row.
#pragma once

#include "intarsia/operator.h"

namespace kinds {

struct Detrend {
  static constexpr intarsia::OperatorInfo info{
      .domain = "kinds", .name = "Detrend", .inputs = {"x"}, .outputs = {"y"}};
  static void run(intarsia::Input<float> x, intarsia::Output<float> y);
};

using Operators = intarsia::OperatorList<Detrend>;

}  // namespace kinds
