// SPDX-License-Identifier: Apache-2.0
//
// The operator Gradient of ai.onnx.preview.training in a model.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "test/converter/onnx_builder.h"

namespace intarsia::test {

using Names = std::vector<std::string>;

/// A Gradient node among `nodes`; an empty name in `outputs` leaves the output out.
inline onnx::NodeProto& add_gradient(google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes,
                                     const Names& inputs, const Names& outputs, const Names& xs,
                                     const std::string& y, const Names& zs = {}) {
  using converter::OnnxBuilder;
  auto& node = OnnxBuilder::add_node(nodes, "Gradient", inputs, outputs);
  node.set_domain("ai.onnx.preview.training");
  OnnxBuilder::set(node, "y", y.c_str());
  for (const auto& [attribute, names] : {std::pair("xs", &xs), std::pair("zs", &zs)}) {
    if (names->empty()) continue;
    auto& list = OnnxBuilder::attribute(node, attribute, onnx::AttributeProto::STRINGS);
    for (const std::string& name : *names) list.add_strings(name);
  }
  return node;
}

}  // namespace intarsia::test
