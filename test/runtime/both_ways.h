// SPDX-License-Identifier: Apache-2.0
//
// One model with all passes and with none: what a pass does to it changes no result.
#pragma once

#include "test/runtime/small_plan.h"

namespace intarsia::test {

template <class Check>
void both(const converter::OnnxBuilder& model, converter::ConvertOptions options,
          const Check& check) {
  for (const bool passes : {true, false}) {
    SCOPED_TRACE(passes ? "all passes" : "no passes");
    if (!passes) options.passes = {};
    SmallPlan plan(model, options);
    ASSERT_FALSE(plan.conversion.plan.bytes.empty());
    auto session = plan.open();
    ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
    check(plan, *session);
  }
}

}  // namespace intarsia::test
