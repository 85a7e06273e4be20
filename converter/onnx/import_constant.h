// SPDX-License-Identifier: Apache-2.0
//
// The constants of a model: initialisers, Constant nodes, attributes that are tensors.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <utility>

#include "converter/graph/constant.h"
#include "converter/graph/error.h"
#include "converter/onnx/import_tensor.h"

namespace intarsia::converter {

/// "" for ai.onnx, whichever way the model writes it.
std::string domain_of(const std::string& domain);

/// A problem at a node of the file.
Problem problem_at(const onnx::NodeProto& node, std::string message, std::string hint);

/// Reads each constant of a model once: every call of a function shares those in its body.
class ImportedConstants {
 public:
  explicit ImportedConstants(ExternalFiles& files) : files_(files) {}

  const Constant& tensor(onnx::TensorProto& proto);
  /// The value that attribute `name` gives to `node`, a Constant.
  const Constant& attribute(const onnx::NodeProto& node, const std::string& name,
                            onnx::AttributeProto& attribute);

 private:
  ExternalFiles& files_;
  std::unordered_map<const onnx::TensorProto*, Constant> tensors_;
  std::map<std::pair<const onnx::AttributeProto*, std::string>, Constant> constants_;
};

}  // namespace intarsia::converter
