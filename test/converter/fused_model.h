// SPDX-License-Identifier: Apache-2.0
//
// What the fusion passes leave of a model, and what the model then computes.
#pragma once

#include <string>
#include <vector>

#include "converter/passes/fuse.h"
#include "converter/passes/simplify.h"
#include "test/converter/inferred_model.h"
#include "test/runtime/small_plan.h"

namespace intarsia::test {

/// Operators left after fusion, in order.
inline std::string fused(const converter::OnnxBuilder& builder) {
  InferredModel model(builder);
  converter::simplify(model.graph());
  converter::fuse(model.graph(), model.inference);
  converter::simplify(model.graph());
  EXPECT_EQ(model.graph().check(), "");
  std::string text;
  for (const auto& node : model.graph().nodes()) {
    text += (text.empty() ? "" : " ") + node->qualified_type();
  }
  return text;
}

inline std::vector<float> run(const converter::OnnxBuilder& model, const std::vector<float>& x) {
  SmallPlan plan(model);
  Session session = plan.open().value();
  write(session, 0, x);
  EXPECT_TRUE(session.run().ok()) << plan.text(session.diagnostic());
  return read(session, 0);
}

inline std::vector<float> ramp(int64_t count) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(i * 7 % 13) / 4 - 1.5f);
  return values;
}

}  // namespace intarsia::test
