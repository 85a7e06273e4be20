// SPDX-License-Identifier: Apache-2.0
//
// A model as passes find it: imported, brought to the newest operators, inferred.
#pragma once

#include "converter/graph/infer.h"
#include "converter/onnx/version_conversion.h"
#include "converter/plugin/extension.h"
#include "test/converter/onnx_builder.h"

namespace intarsia::test {

struct InferredModel {
  explicit InferredModel(const converter::OnnxBuilder& builder,
                         const converter::OperatorLibrary& library = converter::builtin_library())
      : model(resolved(builder, library)), inference(model, library.rows(), {}) {
    inference.run();
  }
  InferredModel(const InferredModel&) = delete;
  converter::Graph& graph() { return *model.graph; }

  converter::Model model;
  converter::Inference inference;

 private:
  static converter::Model resolved(const converter::OnnxBuilder& builder,
                                   const converter::OperatorLibrary& library) {
    converter::Model model = builder.import();
    model.operators = &library.operators();
    converter::convert_versions(model);
    converter::resolve(model);
    return model;
  }
};

}  // namespace intarsia::test
