// SPDX-License-Identifier: Apache-2.0
#include "converter/onnx/import_type.h"

#include <cctype>
#include <limits>

namespace intarsia::converter {
namespace {

/// Exporters write "?" and the like for dimensions that they have no name for; such texts do not
/// make two dimensions the same.
bool is_name(const std::string& dim_param) {
  return !dim_param.empty() &&
         (std::isalpha(static_cast<unsigned char>(dim_param[0])) != 0 || dim_param[0] == '_');
}

const char* kind_of(const onnx::TypeProto& type) {
  switch (type.value_case()) {
    case onnx::TypeProto::kTensorType:
      return "a tensor";
    case onnx::TypeProto::kSequenceType:
      return "a sequence";
    case onnx::TypeProto::kMapType:
      return "a map";
    case onnx::TypeProto::kSparseTensorType:
      return "a sparse tensor";
    case onnx::TypeProto::kOptionalType:
      return "an optional";
    default:
      return "without a type";
  }
}

[[noreturn]] void refuse(const onnx::ValueInfoProto& input, std::string message,
                         std::string hint = {}) {
  throw Error(Problem{"input " + input.name(), {}, std::move(message), std::move(hint)});
}

}  // namespace

void ImportedTypes::read_input(Value& value, const onnx::ValueInfoProto& input) {
  if (!input.type().has_tensor_type()) {
    refuse(input, "is " + std::string(kind_of(input.type())) +
                      "; only tensors are supported as model inputs");
  }
  const onnx::TypeProto::Tensor& type = input.type().tensor_type();
  value.type = element_type(type.elem_type());
  if (value.type == DataType::kUndefined) {
    refuse(input, "has element type " + std::to_string(type.elem_type()) +
                      ", which is none that this version knows");
  }
  if (!type.has_shape()) return;
  if (type.shape().dim_size() > kMaxRank) {
    refuse(input, "has " + std::to_string(type.shape().dim_size()) + " axes; at most " +
                      std::to_string(kMaxRank) + " are supported");
  }
  value.shape.emplace();
  for (const auto& dim : type.shape().dim()) {
    const int64_t extent = dim.dim_value();
    if (extent < -1 || extent > std::numeric_limits<int32_t>::max()) {
      refuse(
          input,
          "has extent " + std::to_string(extent) + " on axis " + std::to_string(value.shape->rank),
          "an extent lies between 1 and 2147483647");
    }
    // Exporters write 0 and -1 for an extent that they do not know.
    if (extent > 0) {
      value.shape->push(definitions::Dim(extent));
    } else {
      value.shape->push(symbol(is_name(dim.dim_param())
                                   ? dim.dim_param()
                                   : input.name() + "@" + std::to_string(value.shape->rank)));
    }
  }
}

void ImportedTypes::read_declaration(Value& value, const onnx::TypeProto::Tensor& type,
                                     bool output) {
  const DataType declared = element_type(type.elem_type());
  if (value.type == DataType::kUndefined) value.type = declared;
  if (declared != DataType::kUndefined) value.declared_type = declared;
  if (!type.has_shape()) return;
  // Of what is declared twice, the output counts.
  value.declared_as_output = output;
  value.declared.emplace();
  for (const auto& dim : type.shape().dim()) {
    value.declared->push_back({dim.dim_value() > 0 ? dim.dim_value() : -1, dim.dim_param()});
  }
}

definitions::Dim ImportedTypes::symbol(const std::string& name) {
  const auto [known, fresh] = known_.emplace(name, symbols_.size());
  return fresh ? symbols_.add(name) : symbols_.dim(known->second);
}

}  // namespace intarsia::converter
