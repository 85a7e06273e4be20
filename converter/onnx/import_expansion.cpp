// SPDX-License-Identifier: Apache-2.0
#include "converter/onnx/import_expansion.h"

#include "converter/graph/error.h"

namespace intarsia::converter {
namespace {

[[noreturn]] void too_many(const onnx::NodeProto* node, int64_t limit, const std::string& what) {
  const std::string message = "the model has more than " + std::to_string(limit) + " " + what +
                              " after its functions are inlined";
  const char* hint =
      "each call of a function is a copy: call fewer of them, or simplify the model first";
  if (node == nullptr) throw Error(message, hint);
  const bool standard = node->domain().empty() || node->domain() == "ai.onnx";
  const std::string type = (standard ? "" : node->domain() + ":") + node->op_type();
  throw Error(Problem{node->name(), type, message, hint});
}

size_t bytes_of(const google::protobuf::RepeatedPtrField<std::string>& names) {
  size_t bytes = 0;
  for (const std::string& name : names) bytes += name.size();
  return bytes;
}

}  // namespace

void Expansion::add_operands(int64_t count, const onnx::NodeProto* node) {
  operands_ += count;
  if (operands_ > kMaxOperands) too_many(node, kMaxOperands, "operands, names and attributes");
}

void Expansion::add_copied(size_t bytes, const onnx::NodeProto& node) {
  copied_bytes_ += static_cast<int64_t>(bytes);
  if (copied_bytes_ > kMaxCopiedBytes) {
    too_many(&node, kMaxCopiedBytes, "bytes of names and attributes in functions");
  }
}

void Expansion::add(const onnx::NodeProto& node, bool in_function) {
  if (++nodes_ > kMaxNodes) too_many(&node, kMaxNodes, "nodes");
  add_operands(int64_t{node.input_size()} + node.output_size() + node.attribute_size(), &node);
  if (!in_function) return;
  add_copied(bytes_of(node.input()) + bytes_of(node.output()) + node.name().size() +
                 node.op_type().size() + node.domain().size(),
             node);
}

void Expansion::add(const onnx::FunctionProto& function, const onnx::NodeProto& node) {
  add_operands(int64_t{function.input_size()} + function.output_size() +
                   function.attribute_proto_size() + function.opset_import_size(),
               &node);
  size_t bytes = bytes_of(function.input()) + bytes_of(function.output());
  for (const onnx::AttributeProto& attribute : function.attribute_proto()) {
    bytes += attribute.name().size();
  }
  for (const onnx::OperatorSetIdProto& import : function.opset_import()) {
    bytes += import.domain().size();
  }
  add_copied(bytes, node);
}

void Expansion::add(const onnx::GraphProto& graph) {
  add_operands(int64_t{graph.initializer_size()} + graph.input_size() + graph.output_size() +
                   graph.value_info_size(),
               nullptr);
}

std::string Expansion::scoped(const std::string& prefix, const std::string& name) {
  const std::string whole = prefix + name;
  if (prefix.empty() || whole.size() <= kMaxName) return whole;
  return "..." + whole.substr(whole.size() - (kMaxName - 3));
}

}  // namespace intarsia::converter
