// SPDX-License-Identifier: Apache-2.0
//
// Models with the operators of sample_operators.h.
#pragma once

#include "test/operators/sample_library.h"
#include "test/runtime/small_plan.h"

namespace intarsia::test {

inline converter::ConvertOptions sample_options() {
  return options_with<sample::Operators>();
}

/// A node of domain "sample", which the model imports in `version`; 0: not at all.
inline onnx::NodeProto& sample_node(converter::OnnxBuilder& model, const std::string& type,
                                    const std::vector<std::string>& inputs,
                                    const std::vector<std::string>& outputs, int version = 0) {
  if (version != 0) model.import_opset("sample", version);
  auto& node = model.node(type, inputs, outputs);
  node.set_domain("sample");
  return node;
}

/// The outputs of a model with one float input "x" of the given values.
inline std::vector<float> run_once(const converter::OnnxBuilder& model, const std::vector<float>& x,
                                   const converter::ConvertOptions& options = sample_options()) {
  SmallPlan plan(model, options);
  auto session = plan.open();
  if (!session.ok()) {
    ADD_FAILURE() << plan.text(plan.diagnostic);
    return {};
  }
  write(*session, 0, x);
  if (Status status = session->run(); !status) {
    ADD_FAILURE() << plan.text(session->diagnostic());
    return {};
  }
  return read(*session, 0);
}

}  // namespace intarsia::test
