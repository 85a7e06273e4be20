// SPDX-License-Identifier: Apache-2.0
//
// Models with a Gradient node, what they compute, and what the node becomes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "converter/graph/gradient.h"
#include "test/converter/gradient_cases.h"
#include "test/converter/inferred_model.h"
#include "test/runtime/small_plan.h"

namespace intarsia::test {

using Floats = std::vector<float>;

inline converter::OnnxBuilder model_of(const Names& inputs, std::vector<int64_t> extents = {2}) {
  converter::OnnxBuilder model(28);
  model.import_opset("ai.onnx.preview.training", 1);
  for (const std::string& name : inputs) model.input(name, extents);
  return model;
}

/// A model whose outputs are the gradients.
inline converter::OnnxBuilder with_gradient(converter::OnnxBuilder model, const Names& inputs,
                                            const Names& outputs, const Names& xs, const char* y,
                                            const Names& zs = {}) {
  add_gradient(*model.graph().mutable_node(), inputs, outputs, xs, y, zs);
  for (const std::string& name : outputs) {
    if (!name.empty()) model.output(name);
  }
  return model;
}

inline std::vector<Floats> run(const converter::OnnxBuilder& model,
                               const std::vector<Floats>& inputs,
                               const converter::ConvertOptions& options = {}) {
  SmallPlan plan(model, options);
  if (testing::Test::HasFailure()) return {};
  Session session = plan.open().value();
  for (size_t i = 0; i < inputs.size(); ++i) write(session, static_cast<int>(i), inputs[i]);
  EXPECT_TRUE(session.run().ok()) << plan.text(session.diagnostic());
  std::vector<Floats> outputs;
  for (int i = 0; i < model.model.graph().output_size(); ++i) outputs.push_back(read(session, i));
  return outputs;
}

/// The model behind the expansion, before any pass.
inline converter::Model expanded_model(const converter::OnnxBuilder& builder) {
  InferredModel inferred(builder);
  converter::expand_gradients(inferred.graph(), inferred.inference);
  inferred.graph().sort();
  EXPECT_EQ(inferred.graph().check(), "");
  return std::move(inferred.model);
}
/// The types of its nodes.
inline std::string expanded(const converter::OnnxBuilder& builder) {
  return types_of(*expanded_model(builder).graph);
}

}  // namespace intarsia::test
