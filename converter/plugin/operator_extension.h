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

#include "converter/plugin/extension.h"
#include "core/definitions/rows.h"
#include "intarsia/operator.h"

namespace intarsia::converter {

namespace internal {

/// Passes the member of K's attributes that `info.axis` names to `use`.
template <class K, class Attributes, class Use>
bool use_axis(Attributes& attributes, const Use& use) {
  bool found = false;
  const auto visit = [&](std::string_view name, auto& field) {
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(field)>, int32_t> ||
                  std::is_same_v<std::remove_cvref_t<decltype(field)>, int64_t>) {
      if (name == K::info.axis) use(field), found = true;
    }
  };
  definitions::FieldVisitor visitor(visit);
  attributes.fields(visitor);
  return found;
}

/// The attribute that `info.axis` names, for the passes.
template <class K>
definitions::IntegerAttribute axis_attribute() {
  using A = typename intarsia::internal::Binding<K>::Attributes;
  definitions::IntegerAttribute result;
  A defaults{};
  if (!use_axis<K>(defaults, [](auto&) {})) return result;
  result.name = [] { return K::info.axis; };
  result.get = [](const std::byte* attributes) {
    std::vector<int64_t> axes;
    // `fields` is one function for reading and writing; this only reads.
    use_axis<K>(*reinterpret_cast<A*>(const_cast<std::byte*>(attributes)),
                [&axes](auto& field) { axes.push_back(field); });
    return axes;
  };
  result.set = [](std::byte* attributes, std::span<const int64_t> axes) {
    use_axis<K>(*reinterpret_cast<A*>(attributes), [axes](auto& field) {
      field = static_cast<std::remove_cvref_t<decltype(field)>>(axes.front());
    });
  };
  return result;
}

/// What `info` says of axes, as the facts of a definition.
template <class K>
void use_facts(definitions::OperatorDefinition& definition) {
  definition.facts.element_wise = K::info.element_wise;
  definition.facts.gradient_formula = K::info.gradient;
  if constexpr (!K::info.axis.empty()) {
    definition.facts.axes.form = definitions::AxisForm::kOne;
    definition.facts.axes.attribute = axis_attribute<K>();
    if (!definition.facts.axes.attribute) return;
  } else if constexpr (!K::info.element_wise) {
    return;
  }
  const bool element_wise = K::info.element_wise && K::info.axis.empty();
  for (definitions::Parameter& input : definition.inputs) {
    input.axes = element_wise ? definitions::AxisRole::kBroadcast : definitions::AxisRole::kSame;
  }
  for (definitions::Parameter& output : definition.outputs) {
    output.axes = definitions::AxisRole::kSame;
  }
}

/// A shape function whose operator alone can tell the extents: those that it sets are the largest.
inline definitions::SymbolicRule as_bounds(definitions::SymbolicRule rule) {
  return [rule = std::move(rule)](definitions::SymbolicShapeContext& context) {
    Status status = rule(context);
    for (int i = 0; status.ok() && i < context.output_count(); ++i) {
      const definitions::SymbolicOutput output = context.outputs()[static_cast<size_t>(i)];
      if (!output.has_shape) continue;
      Shape<definitions::Dim> bounds;
      for (int axis = 0; axis < output.shape.rank; ++axis) {
        bounds.push(definitions::Dim::unknown(0, output.shape[axis].upper()));
      }
      status = context.set_output(i, output.type, bounds);
    }
    return status;
  };
}

/// The definition that operator type K belongs to, without the type sets.
template <class K>
definitions::OperatorDefinition definition_of(const ProgramSource& source) {
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
    list.push_back({operand.name, operand.variable, kind, operand.minimum, operand.may_lack});
  }
  definition.kernel_types.assign(Binding::variables.names,
                                 Binding::variables.names + Binding::variables.count);
  using Attributes = typename Binding::Attributes;
  constexpr bool kSized = std::is_empty_v<Attributes> || is_plan_struct<Attributes>;
  constexpr bool kSound = intarsia::internal::are_fields_sound<Attributes>();
  // Of what is wrong with them, Binding speaks.
  if constexpr (kSized && kSound) definition.attributes = definitions::codec_of<Attributes>();
  definitions::use_rule<OperatorShape<K>>(definition);
  definition.source = source;
  definition.impure = K::info.impure || requires {
    KernelType::state_bytes;
  };
  // Where another variable than the first three says so, the kernel's types do not.
  for (const auto& operand : Binding::operands) {
    definition.makes_strings |= is_output(operand.kind) && operand.type == DataType::kString;
  }
  definition.extents_vary = K::info.extents_vary;
  definition.promises_extents = K::info.extents_vary;
  use_facts<K>(definition);
  if (K::info.extents_vary) definition.infer = as_bounds(std::move(definition.infer));
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
    return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                      [](const auto& x, const auto& y) {
                        return x.name == y.name && x.type == y.type && x.kind == y.kind &&
                               x.minimum == y.minimum && x.may_lack == y.may_lack;
                      });
  };
  return equal(a.inputs, b.inputs) && equal(a.outputs, b.outputs) &&
         a.until_version == b.until_version && a.attributes.bytes == b.attributes.bytes;
}

template <class K>
std::string add_operator(Extension& extension, const ProgramSource& source) {
  definitions::OperatorDefinition fresh = definition_of<K>(source);
  using KernelType = typename intarsia::internal::KernelOf<K>::type;
  if constexpr (intarsia::internal::on_cuda<K>) {
    extension.kernels.push_back(intarsia::internal::describe_apart<KernelType>());
    extension.kernels.back().device = KernelDevice::kCuda;
  } else {
    extension.kernels.push_back(describe<KernelType>());
  }
  extension.kernels.back().source = source;
  if constexpr (requires { &KernelType::state_at; }) {
    extension.kernels.back().state_at = &KernelType::state_at;
  }
  if constexpr (!K::info.replaces.empty()) {
    static_assert(!KernelType::id.variant.empty(),
                  "info.replaces: the kernel that `Kernel` names has to have a variant");
    add_types<K>(fresh);
    extension.kernels.back().replaces = true;
    extension.replacements.push_back(std::move(fresh));
    return {};
  }
  auto known = std::find_if(extension.definitions.begin(), extension.definitions.end(),
                            [&](const auto& each) {
                              return each.domain == fresh.domain && each.name == fresh.name &&
                                     each.since_version == fresh.since_version;
                            });
  if (known == extension.definitions.end()) {
    known = extension.definitions.insert(known, std::move(fresh));
  } else if (!same_signature(*known, fresh)) {
    return extension.name + ": the types of operator " + fresh.qualified_name() +
           " disagree in their operands, versions or attributes: " + kernel_text(KernelType::id);
  }
  add_types<K>(*known);
  return {};
}

template <class... Ks>
std::string add_operators(OperatorList<Ks...>, Extension& extension, const ProgramSource& source) {
  std::string failure;
  ((failure =
        failure.empty() ? add_operator<intarsia::internal::Sound<Ks>>(extension, source) : failure),
   ...);
  return failure;
}

}  // namespace internal

namespace internal {

template <class T>
inline constexpr bool is_operator_list = false;
template <class... Ks>
inline constexpr bool is_operator_list<OperatorList<Ks...>> = true;

/// True if T, or a type that it is made of, has no name outside the file that declares it.
template <class T>
constexpr bool is_nameless() {
  const std::string_view text = __PRETTY_FUNCTION__;
  return text.find("{anonymous}") != text.npos || text.find("(anonymous") != text.npos ||
         text.find("<unnamed") != text.npos;
}

}  // namespace internal

/// Fills `extension` with the operators of `List`, an OperatorList; `source` says how programs name
/// that list and include it, in text that is never freed. Returns "" or which of them disagree.
template <class List>
std::string extension_of(Extension& extension, const ProgramSource& source) {
  static_assert(internal::is_operator_list<List>,
                "LIST of intarsia_add_operators names an intarsia::OperatorList<...> that HEADER "
                "declares");
  if constexpr (internal::is_operator_list<List>) {
    return internal::add_operators(List(), extension, source);
  } else {
    return {};
  }
}

/// The same for a list that programs name in their own sources.
template <class List>
std::string program_extension_of(Extension& extension, const ProgramSource& source) {
  static_assert(!internal::is_nameless<List>(),
                "an operator is declared in an anonymous namespace, where programs find another "
                "type, without a kernel; give the namespace a name");
  return extension_of<List>(extension, source);
}

}  // namespace intarsia::converter
