// SPDX-License-Identifier: Apache-2.0
#include "converter/onnx/declaration.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace intarsia::converter {
namespace {

constexpr const char* kInvalid =
    "the model is invalid; export it again, or correct the declaration";

/// True if the value comes from an operator that Intarsia does not bring.
bool is_own(const Value& value) {
  const Node* node = value.producer;
  return node != nullptr && node->op != nullptr &&
         node->op->domain != definitions::kInternalDomain &&
         definitions::OperatorRegistry::builtin().find(node->op->domain, node->op->name) == nullptr;
}

}  // namespace

void check_declaration(const Value& value) {
  if (!value.constant && !value.shape) return;
  const DataType type = type_of(value);
  if (value.declared_type == DataType::kUndefined || value.declared_type == type) return;
  const std::string message =
      fmt::format("'{}' is declared as {}, but is computed as {}", value.name,
                  data_type_name(value.declared_type), data_type_name(type));
  if (value.producer != nullptr) throw Error(value.producer->problem(message, kInvalid));
  throw Error(message, kInvalid);
}

std::string contradicted_extents(const Value& output) {
  if (!output.declared_as_output || !output.declared) return "";
  const Shape<definitions::Dim> shape = shape_of(output);
  bool agrees = static_cast<int>(output.declared->size()) == shape.rank;
  for (int axis = 0; agrees && axis < shape.rank; ++axis) {
    const int64_t declared = (*output.declared)[static_cast<size_t>(axis)].value;
    agrees = declared < 0 || !is_constant(shape[axis]) || constant_value(shape[axis]) == declared;
  }
  if (agrees) return "";
  std::vector<std::string> extents;
  for (const DeclaredExtent& extent : *output.declared) {
    extents.push_back(extent.value >= 0 ? std::to_string(extent.value) : "?");
  }
  const std::string text = fmt::format("'{}' is declared as [{}], but is computed as {}",
                                       output.name, fmt::join(extents, ","), shape_text(shape));
  if (is_own(output)) throw Error(output.producer->problem(text, kInvalid));
  return fmt::format("output {}, which the plan has", text);
}

void check_declarations(const Node& node) {
  for (const Value* output : node.outputs) {
    if (output != nullptr) check_declaration(*output);
  }
}

void inherit_declaration(Value& value, const Value& replaced) {
  if (replaced.declared_type != DataType::kUndefined) value.declared_type = replaced.declared_type;
  if (replaced.declared) {
    value.declared = replaced.declared;
    value.declared_as_output = replaced.declared_as_output;
  }
  check_declaration(value);
}

}  // namespace intarsia::converter
