// SPDX-License-Identifier: Apache-2.0
//
// Tiny ONNX models for tests, built message by message.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "converter/onnx/import.h"
#include "converter/onnx/onnx.pb.h"

namespace intarsia::converter {

/// A model with one main graph; the messages are open to be bent into anything invalid.
class OnnxBuilder {
 public:
  explicit OnnxBuilder(int opset = 21) {
    model.set_ir_version(10);
    import_opset("", opset);
    model.mutable_graph()->set_name("main");
  }

  onnx::GraphProto& graph() { return *model.mutable_graph(); }

  void import_opset(const std::string& domain, int version) {
    auto* import = model.add_opset_import();
    import->set_domain(domain);
    import->set_version(version);
  }

  /// An extent of 0 leaves the dimension unset.
  onnx::ValueInfoProto& input(const std::string& name, std::vector<int64_t> extents,
                              DataType type = DataType::kFloat) {
    auto* info = graph().add_input();
    info->set_name(name);
    auto* tensor = info->mutable_type()->mutable_tensor_type();
    tensor->set_elem_type(static_cast<int32_t>(type));
    tensor->mutable_shape();
    for (int64_t extent : extents) {
      auto* dim = tensor->mutable_shape()->add_dim();
      if (extent != 0) dim->set_dim_value(extent);
    }
    return *info;
  }

  void output(const std::string& name) { graph().add_output()->set_name(name); }

  onnx::NodeProto& node(const std::string& type, const std::vector<std::string>& inputs,
                        const std::vector<std::string>& outputs) {
    return add_node(*graph().mutable_node(), type, inputs, outputs);
  }

  static onnx::NodeProto& add_node(google::protobuf::RepeatedPtrField<onnx::NodeProto>& nodes,
                                   const std::string& type, const std::vector<std::string>& inputs,
                                   const std::vector<std::string>& outputs) {
    auto* node = nodes.Add();
    node->set_op_type(type);
    node->set_name(type + std::to_string(nodes.size()));
    for (const std::string& name : inputs) node->add_input(name);
    for (const std::string& name : outputs) node->add_output(name);
    return *node;
  }

  static onnx::AttributeProto& attribute(onnx::NodeProto& node, const std::string& name,
                                         onnx::AttributeProto::AttributeType type) {
    auto* attribute = node.add_attribute();
    attribute->set_name(name);
    attribute->set_type(type);
    return *attribute;
  }
  static void set(onnx::NodeProto& node, const std::string& name, int64_t value) {
    attribute(node, name, onnx::AttributeProto::INT).set_i(value);
  }
  static void set(onnx::NodeProto& node, const std::string& name, float value) {
    attribute(node, name, onnx::AttributeProto::FLOAT).set_f(value);
  }
  static void set(onnx::NodeProto& node, const std::string& name, const char* value) {
    attribute(node, name, onnx::AttributeProto::STRING).set_s(value);
  }
  static void set(onnx::NodeProto& node, const std::string& name, std::vector<int64_t> values) {
    auto& list = attribute(node, name, onnx::AttributeProto::INTS);
    for (int64_t value : values) list.add_ints(value);
  }
  static void set(onnx::NodeProto& node, const std::string& name, std::vector<float> values) {
    auto& list = attribute(node, name, onnx::AttributeProto::FLOATS);
    for (float value : values) list.add_floats(value);
  }

  static void fill(onnx::TensorProto& tensor, const std::string& name, DataType type,
                   std::vector<int64_t> extents, const void* raw = nullptr, size_t bytes = 0) {
    tensor.set_name(name);
    tensor.set_data_type(static_cast<int32_t>(type));
    for (int64_t extent : extents) tensor.add_dims(extent);
    if (raw != nullptr) tensor.set_raw_data(raw, bytes);
  }
  onnx::TensorProto& initializer(const std::string& name, DataType type,
                                 std::vector<int64_t> extents, const void* raw = nullptr,
                                 size_t bytes = 0) {
    auto* tensor = graph().add_initializer();
    fill(*tensor, name, type, std::move(extents), raw, bytes);
    return *tensor;
  }
  void floats(const std::string& name, std::vector<int64_t> extents, std::vector<float> values) {
    initializer(name, DataType::kFloat, std::move(extents), values.data(),
                values.size() * sizeof(float));
  }

  std::string bytes() const { return model.SerializeAsString(); }

  Model import() const {
    const std::string text = bytes();
    return import_bytes(std::as_bytes(std::span(text)));
  }
  /// The message of the error that the import gives; "" if it succeeds.
  std::string error() const {
    try {
      import();
    } catch (const Error& error) {
      return error.what();
    }
    return {};
  }

  onnx::ModelProto model;
};

inline bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}
#define EXPECT_CONTAINS(text, part) \
  EXPECT_TRUE(contains(text, part)) << "text: " << (text) << "\npart: " << (part)

/// The first node of that type, in the main graph.
inline Node* find_node(const Model& model, std::string_view type) {
  for (const auto& node : model.graph->nodes()) {
    if (node->type == type) return node.get();
  }
  return nullptr;
}

/// Types of the main graph's nodes in order, separated by blanks.
inline std::string types_of(const Graph& graph) {
  std::string text;
  for (const auto& node : graph.nodes()) text += (text.empty() ? "" : " ") + node->type;
  return text;
}

}  // namespace intarsia::converter
