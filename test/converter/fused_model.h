// SPDX-License-Identifier: Apache-2.0
//
// What the fusion passes leave of a model, and what the model then computes.
#pragma once

#include <random>
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

/// The last output of a model of one input.
inline std::vector<float> run(const converter::OnnxBuilder& model, const std::vector<float>& x) {
  SmallPlan plan(model);
  Session session = plan.open().value();
  write(session, 0, x);
  EXPECT_TRUE(session.run().ok()) << plan.text(session.diagnostic());
  return read(session, session.output_count() - 1);
}

inline std::vector<float> ramp(int64_t count) {
  std::vector<float> values;
  for (int64_t i = 0; i < count; ++i) values.push_back(static_cast<float>(i * 7 % 13) / 4 - 1.5f);
  return values;
}

/// What draws of models share.
class DrawnModel {
 protected:
  explicit DrawnModel(unsigned seed) : random_(seed) {}

  int pick(int least, int most) {
    return least + static_cast<int>(random_() % static_cast<unsigned>(most - least + 1));
  }
  /// Numbers from 1/2 to 2, of either sign or positive ones.
  std::string constant(const std::vector<int64_t>& extents, bool positive = false) {
    int64_t count = 1;
    for (int64_t extent : extents) count *= extent;
    std::vector<float> values;
    for (int64_t i = 0; i < count; ++i) {
      const float value = static_cast<float>(pick(8, 32)) / 16;
      values.push_back(!positive && pick(0, 1) != 0 ? -value : value);
    }
    const std::string name = "c" + std::to_string(++constants_);
    model_.floats(name.c_str(), extents, values);
    return name;
  }

  std::mt19937 random_;
  converter::OnnxBuilder model_{28};

 private:
  int constants_ = 0;
};

}  // namespace intarsia::test
