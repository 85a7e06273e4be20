// SPDX-License-Identifier: Apache-2.0
//
// From operator types (intarsia/operator.h) to an Extension: one definition for the types of one
// operator and version, and a kernel row for each. Host only; a plug-in's generated source calls
// `extension_of`.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "converter/extension.h"
#include "core/definitions/rows.h"
#include "intarsia/operator.h"

namespace intarsia::converter {

/// How C++ spells type T, for generated programs. T must not be local to a function or a file.
template <class T>
std::string cpp_name_of() {
  // "... [with T = ns::Type]" (GCC, where more may follow after a semicolon), "... [T = ns::Type]"
  // (clang).
  const std::string_view text = __PRETTY_FUNCTION__;
  const size_t begin = text.find("T = ") + 4;
  const size_t end = std::min(text.find(';', begin), text.rfind(']'));
  return std::string(text.substr(begin, end - begin));
}

namespace internal {

/// The definition that operator type K belongs to, without the type sets.
template <class K>
definitions::OperatorDefinition definition_of(const std::string& header) {
  using Binding = intarsia::internal::Binding<K>;
  using KernelType = typename intarsia::internal::KernelOf<K>::type;
  definitions::OperatorDefinition definition;
  definition.domain = K::info.domain;
  definition.name = K::info.name;
  definition.since_version = K::info.since_version;
  definition.until_version = K::info.until_version;
  definition.kernel_revision = KernelType::id.revision;
  for (int i = 0; i < Binding::kInputs + Binding::kOutputs; ++i) {
    const auto& operand = Binding::operands[static_cast<size_t>(i)];
    const auto kind = is_variadic(operand.kind)   ? definitions::Parameter::kVariadic
                      : is_optional(operand.kind) ? definitions::Parameter::kOptional
                                                  : definitions::Parameter::kRequired;
    auto& list = i < Binding::kInputs ? definition.inputs : definition.outputs;
    list.push_back({operand.name, operand.variable, kind, operand.minimum});
  }
  definition.kernel_types.assign(Binding::variables.names,
                                 Binding::variables.names + Binding::variables.count);
  definition.attributes = definitions::codec_of<typename Binding::Attributes>();
  // Names live as long as the program: the plug-in that holds them is never unloaded.
  static const std::string kRule = "intarsia::OperatorShape<" + cpp_name_of<K>() + ">";
  static const std::string kHeader = header;
  definitions::use_rule<OperatorShape<K>>(definition, kRule, kHeader);
  for (int i = 0; i < K::info.in_place.count; ++i) {
    definition.in_place.push_back(K::info.in_place[i]);
  }
  definition.impure = K::info.impure || requires {
    KernelType::state_bytes;
  };
  definition.extents_vary = K::info.extents_vary;
  return definition;
}

/// Adds the element types of K to the definition's type sets.
template <class K>
void add_types(definitions::OperatorDefinition& definition) {
  for (const auto& operand : intarsia::internal::Binding<K>::operands) {
    auto row = std::find_if(definition.types.begin(), definition.types.end(),
                            [&](const auto& each) { return each.variable == operand.variable; });
    if (row == definition.types.end()) {
      row = definition.types.insert(row, definitions::TypeConstraint{operand.variable, 0});
    }
    row->allowed |= operand.type == DataType::kUndefined ? definitions::kAnyTypes
                                                         : definitions::types({operand.type});
  }
}

inline bool same_signature(const definitions::OperatorDefinition& a,
                           const definitions::OperatorDefinition& b) {
  const auto equal = [](const auto& left, const auto& right) {
    return std::equal(
        left.begin(), left.end(), right.begin(), right.end(), [](const auto& x, const auto& y) {
          return x.name == y.name && x.type == y.type && x.kind == y.kind && x.minimum == y.minimum;
        });
  };
  return equal(a.inputs, b.inputs) && equal(a.outputs, b.outputs) &&
         a.until_version == b.until_version && a.attributes.bytes == b.attributes.bytes;
}

template <class K>
std::string add_operator(Extension& extension, const std::string& header) {
  definitions::OperatorDefinition fresh = definition_of<K>(header);
  auto known = std::find_if(extension.definitions.begin(), extension.definitions.end(),
                            [&](const auto& each) {
                              return each.domain == fresh.domain && each.name == fresh.name &&
                                     each.since_version == fresh.since_version;
                            });
  if (known == extension.definitions.end()) {
    known = extension.definitions.insert(known, std::move(fresh));
  } else if (!same_signature(*known, fresh)) {
    return extension.name + ": the types of operator " + fresh.qualified_name() +
           " disagree in their operands, versions or attributes: " + cpp_name_of<K>();
  }
  add_types<K>(*known);
  using KernelType = typename intarsia::internal::KernelOf<K>::type;
  std::string kernel = "intarsia::OperatorKernel<" + cpp_name_of<K>() + ">";
  if constexpr (requires { typename K::Kernel; }) kernel = cpp_name_of<KernelType>();
  extension.kernels.push_back(definitions::describe<KernelType>(std::move(kernel), header));
  return {};
}

template <class... Ks>
std::string add_operators(OperatorList<Ks...>, Extension& extension, const std::string& header) {
  std::string failure;
  ((failure = failure.empty() ? add_operator<Ks>(extension, header) : failure), ...);
  return failure;
}

}  // namespace internal

/// Fills `extension` with the operators of `List`, an OperatorList, that are declared in `header`
/// as a program includes it. Returns "" or which of them disagree.
template <class List>
std::string extension_of(Extension& extension, const std::string& header) {
  return internal::add_operators(List(), extension, header);
}

}  // namespace intarsia::converter
