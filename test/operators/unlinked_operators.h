// SPDX-License-Identifier: Apache-2.0
//
// A list with a type whose kernel nobody has instantiated.
#pragma once

#include "intarsia/operator.h"

namespace unlinked {

using namespace intarsia;  // NOLINT: a user's file would do the same

template <class T>
struct Twice {
  static constexpr OperatorInfo info{
      .domain = "unlinked", .name = "Twice", .inputs = {"x"}, .outputs = {"y"}};
  static void run(Input<T> x, Output<T> y);
};
template <>
inline void Twice<float>::run(Input<float> x, Output<float> y) {
  for (int64_t i = 0; i < x.size(); ++i) y[i] = 2 * x[i];
}

using Operators = OperatorList<Twice<float>, Twice<double>>;

}  // namespace unlinked
