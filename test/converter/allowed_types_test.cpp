// SPDX-License-Identifier: Apache-2.0
//
// Element types that a definition allows are served: every combination of them has a kernel, by
// itself or behind the casts that `Facts::computed` asks for. What docs/operators.md lists is true.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "converter/plugin/extension.h"

namespace intarsia::converter {
namespace {

using definitions::OperatorDefinition;
using definitions::Parameter;

std::vector<DataType> allowed(const OperatorDefinition& op, std::string_view variable) {
  std::vector<DataType> types;
  for (const definitions::TypeConstraint& constraint : op.types) {
    if (constraint.variable != variable) continue;
    for (int code = 1; code <= kLastDataType; ++code) {
      const auto type = static_cast<DataType>(code);
      if (definitions::contains(constraint.allowed, type)) types.push_back(type);
    }
  }
  return types;
}

bool has_kernel(const OperatorDefinition& op, const std::vector<DataType>& types) {
  for (const definitions::KernelRow& row : builtin_library().rows()) {
    if (row.id.op != op.kernel_name() || row.device != KernelDevice::kHost) continue;
    bool accepts = true;
    for (size_t i = 0; i < types.size(); ++i) {
      accepts = accepts && i < row.id.types.size() && row.id.types[i].accepts(types[i]);
    }
    if (accepts) return true;
  }
  return false;
}

/// The combinations of types, as text, that no kernel serves.
std::vector<std::string> unserved(const OperatorDefinition& op) {
  std::vector<std::vector<DataType>> choices;
  for (std::string_view variable : op.kernel_types) choices.push_back(allowed(op, variable));
  std::vector<std::string> missing;
  std::vector<std::byte> attributes;
  op.attributes.read({}, attributes);  // as the specification has them by default
  std::vector<size_t> at(choices.size(), 0);
  while (true) {
    std::vector<DataType> variables(op.types.size(), DataType::kUndefined), types;
    std::string text;
    for (size_t i = 0; i < choices.size(); ++i) {
      for (size_t v = 0; v < variables.size(); ++v) {
        if (op.types[v].variable == op.kernel_types[i]) variables[v] = choices[i][at[i]];
      }
      text += (i == 0 ? "" : ", ") + std::string(data_type_name(choices[i][at[i]]));
    }
    if (op.facts.computed != nullptr) op.facts.computed(variables, attributes.data());
    for (std::string_view variable : op.kernel_types) {
      for (size_t v = 0; v < variables.size(); ++v) {
        if (op.types[v].variable == variable) types.push_back(variables[v]);
      }
    }
    if (!has_kernel(op, types)) missing.push_back(text);
    size_t i = 0;
    while (i < at.size() && ++at[i] == choices[i].size()) at[i++] = 0;
    if (i == at.size()) return missing;
  }
}

TEST(AllowedTypes, HaveKernels) {
  int tried = 0;
  for (const OperatorDefinition* op : builtin_library().operators().all()) {
    const bool any = std::all_of(op->kernel_types.begin(), op->kernel_types.end(),
                                 [&](auto v) { return !allowed(*op, v).empty(); });
    if (op->facts.expand != nullptr || op->kernel_types.empty() || !any || op->view) continue;
    ++tried;
    for (const std::string& types : unserved(*op)) {
      ADD_FAILURE() << op->qualified_name() << ": no kernel for " << types;
    }
  }
  EXPECT_GT(tried, 150);
}

}  // namespace
}  // namespace intarsia::converter
