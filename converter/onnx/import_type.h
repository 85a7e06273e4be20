// SPDX-License-Identifier: Apache-2.0
//
// Types and extents as a model declares them.
#pragma once

#include <string>
#include <unordered_map>

#include "converter/graph/graph.h"
#include "converter/onnx/import_tensor.h"

namespace intarsia::converter {

class ImportedTypes {
 public:
  /// Names of dimensions become symbols in `symbols`.
  explicit ImportedTypes(definitions::SymbolTable& symbols) : symbols_(symbols) {}

  /// Type and extents of an input of the model.
  void read_input(Value& value, const onnx::ValueInfoProto& input);
  /// What the model says of a value that it computes; `output`: of one of the model's outputs.
  static void read_declaration(Value& value, const onnx::TypeProto& declaration, bool output);

 private:
  definitions::Dim symbol(const std::string& name);

  definitions::SymbolTable& symbols_;
  std::unordered_map<std::string, int> known_;
};

/// A type as an attribute (OptionalAttributes::type).
std::vector<int64_t> type_numbers(const onnx::TypeProto& type);

}  // namespace intarsia::converter
