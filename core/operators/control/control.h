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

struct LoopAttributes {
  uint32_t body = 0xffffffffu;
  template <class V>
  void fields(V& v) {
    v.internal("body", body);
  }
};
static_assert(is_plan_struct<LoopAttributes>);

/// Where the operands of a Loop stand in a plan. To ONNX's own come, behind its inputs, the results
/// of the body; behind its outputs, what the body is given that is no output. A carried value's
/// memory is the output's: the body reads it there. Where the initial value, or the body's result,
/// is in that very tensor already, the operand is absent.
///
///     inputs   trip count, condition, initial values | condition, carried results, elements
///     outputs  carried values, collections of elements | number of the trip, condition
struct LoopOperands {
  constexpr LoopOperands(int inputs, int outputs)
      : carried(inputs - outputs - 1), collected(outputs - 2 - carried) {}
  constexpr bool valid() const { return carried >= 0 && collected >= 0; }

  static constexpr int kTripCount = 0;
  static constexpr int kCondition = 1;
  constexpr int initial(int i) const { return 2 + i; }
  constexpr int next_condition() const { return 2 + carried; }
  constexpr int result(int i) const { return 3 + carried + i; }
  constexpr int element(int i) const { return 3 + 2 * carried + i; }
  constexpr int collection(int i) const { return carried + i; }  // an output, as those below
  constexpr int trip() const { return carried + collected; }
  constexpr int condition() const { return carried + collected + 1; }

  int carried;    // values handed from trip to trip
  int collected;  // results of which the elements of all trips are kept; of sequences, one of all
};

}  // namespace intarsia
