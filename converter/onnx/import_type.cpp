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

/// The type of a sequence, an optional value or a map; kUndefined of others.
DataType kind_of_sequence(const onnx::TypeProto& type) {
  return type.has_sequence_type()   ? DataType::kSequence
         : type.has_optional_type() ? DataType::kOptional
         : type.has_map_type()      ? DataType::kMap
                                    : DataType::kUndefined;
}

/// Values other than single tensors have no place in a map here, nor in operators that use maps.
definitions::SequencePointer map_type(const onnx::TypeProto::Map& type) {
  auto map = std::make_shared<definitions::SequenceType>();
  map->count = definitions::Dim::unknown(0);
  map->key = element_type(type.key_type());
  if (type.value_type().has_tensor_type()) {
    map->type = element_type(type.value_type().tensor_type().elem_type());
  }
  return map;
}

/// What a sequence, an optional value or a map holds, as far as its type says.
definitions::SequencePointer sequence_type(const onnx::TypeProto& type) {
  if (type.has_map_type()) return map_type(type.map_type());
  const bool optional = type.has_optional_type();
  const onnx::TypeProto& element =
      optional ? type.optional_type().elem_type() : type.sequence_type().elem_type();
  auto sequence = std::make_shared<definitions::SequenceType>();
  sequence->count = optional ? definitions::Dim::unknown(0, 1) : definitions::Dim::unknown(0);
  sequence->type = kind_of_sequence(element);
  if (sequence->type != DataType::kUndefined) {
    sequence->inner = sequence_type(element);
    sequence->shape.emplace();
    sequence->shape->push(definitions::Dim::unknown(0));
    return sequence;
  }
  sequence->type = element_type(element.tensor_type().elem_type());
  if (!element.tensor_type().has_shape()) return sequence;
  const onnx::TensorShapeProto& shape = element.tensor_type().shape();
  if (shape.dim_size() > kMaxRank) return sequence;
  sequence->shape.emplace();
  for (const auto& dim : shape.dim()) {
    sequence->shape->push(dim.dim_value() > 0 ? definitions::Dim(dim.dim_value())
                                              : definitions::Dim::unknown(0));
  }
  return sequence;
}

[[noreturn]] void refuse_value(const onnx::ValueInfoProto& input, std::string message,
                               std::string hint = {}) {
  throw Error(Problem{"input " + input.name(), {}, std::move(message), std::move(hint)});
}

}  // namespace

std::vector<int64_t> type_numbers(const onnx::TypeProto& type) {
  std::vector<int64_t> numbers;
  const onnx::TypeProto* at = &type;
  for (DataType kind = kind_of_sequence(*at);
       kind == DataType::kSequence || kind == DataType::kOptional; kind = kind_of_sequence(*at)) {
    numbers.push_back(static_cast<int64_t>(kind));
    at = at->has_optional_type() ? &at->optional_type().elem_type()
                                 : &at->sequence_type().elem_type();
  }
  numbers.push_back(at->tensor_type().elem_type());
  return numbers;
}

void ImportedTypes::read_input(Value& value, const onnx::ValueInfoProto& input) {
  value.type = kind_of_sequence(input.type());
  if (value.type != DataType::kUndefined) {
    value.sequence = sequence_type(input.type());
    const definitions::SequenceType* innermost = value.sequence.get();
    while (innermost->inner != nullptr) innermost = innermost->inner.get();
    if (innermost->type == DataType::kUndefined) {
      refuse_value(input, "is " + std::string(kind_of(input.type())) +
                              " of which the element type is not known");
    }
    value.shape.emplace();
    value.shape->push(symbols_.add(input.name() + "@0", 0));
    return;
  }
  if (!input.type().has_tensor_type()) {
    refuse_value(
        input, "is " + std::string(kind_of(input.type())) +
                   "; tensors, sequences, optional values and maps are supported as model inputs");
  }
  const onnx::TypeProto::Tensor& type = input.type().tensor_type();
  value.type = element_type(type.elem_type());
  if (value.type == DataType::kUndefined) {
    refuse_value(input, "has element type " + std::to_string(type.elem_type()) +
                            ", which is none that this version knows");
  }
  if (!type.has_shape()) return;
  if (type.shape().dim_size() > kMaxRank) {
    refuse_value(input, "has " + std::to_string(type.shape().dim_size()) + " axes; at most " +
                            std::to_string(kMaxRank) + " are supported");
  }
  value.shape.emplace();
  for (const auto& dim : type.shape().dim()) {
    const int64_t extent = dim.dim_value();
    if (extent < -1 || extent > std::numeric_limits<int32_t>::max()) {
      refuse_value(
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

void ImportedTypes::read_declaration(Value& value, const onnx::TypeProto& declaration,
                                     bool output) {
  if (const DataType kind = kind_of_sequence(declaration); kind != DataType::kUndefined) {
    if (value.type == DataType::kUndefined) value.type = kind;
    value.declared_type = kind;
    return;
  }
  const onnx::TypeProto::Tensor& type = declaration.tensor_type();
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
