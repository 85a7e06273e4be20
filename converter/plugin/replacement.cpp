// SPDX-License-Identifier: Apache-2.0
#include "converter/plugin/replacement.h"

#include <fmt/format.h>

#include <algorithm>

#include "converter/graph/error.h"

namespace intarsia::converter {
namespace {

using definitions::OperatorDefinition;
using definitions::Parameter;

class Comparison {
 public:
  Comparison(const OperatorDefinition& row, const OperatorDefinition& signature,
             const std::string& library)
      : row_(row), own_(signature), library_(library) {}

  void operands() const {
    compare("inputs", row_.inputs, own_.inputs);
    compare("outputs", row_.outputs, own_.outputs);
  }

  void attributes() const {
    const auto known = members(row_), own = members(own_);
    if (row_.attributes.members == nullptr) {
      refuse("its attributes are described by no struct", "leave this operator to its own kernels");
    }
    if (row_.attributes.bytes == own_.attributes.bytes && known == own) return;
    std::vector<std::string> texts;
    for (const auto& member : known) {
      texts.push_back(fmt::format("{} ({} bytes at {})", member.name, member.bytes, member.place));
    }
    refuse(fmt::format("its Attributes are not laid out as the operator's: {} bytes, {}",
                       row_.attributes.bytes,
                       texts.empty() ? "none" : fmt::format("{}", fmt::join(texts, ", "))),
           "use the operator's own struct, from a header of core/operators/");
  }

  void flags() const {
    if (row_.extents_vary != own_.extents_vary) {
      refuse(fmt::format("info.extents_vary has to be {}, as the operator's is", row_.extents_vary),
             "");
    }
    if (row_.kernel_revision != 0 && row_.kernel_revision != own_.kernel_revision) {
      refuse(fmt::format("info.since_version is {}, the operator's is {}", own_.since_version,
                         row_.since_version),
             "");
    }
  }

  /// The type variables that select a kernel, by the operator's names for them. The kernels that
  /// there are look at those of the operator, of which the type's may be fewer or more.
  std::vector<std::string_view> kernel_types() const {
    std::vector<std::string_view> result = row_.kernel_types;
    for (size_t i = 0; i < own_.kernel_types.size(); ++i) {
      const std::string_view variable = of_operator(own_.kernel_types[i]);
      if (i >= result.size()) {
        result.push_back(variable);
      } else if (result[i] != variable) {
        refuse(fmt::format("its type variable number {} is that of \"{}\", where the operator's "
                           "kernels have \"{}\"",
                           i + 1, variable, result[i]),
               "let operands of other types take Any");
      }
    }
    return result;
  }

 private:
  [[noreturn]] void refuse(const std::string& what, const std::string& hint) const {
    throw Error(fmt::format("{}: the kernel that replaces those of {}: {}", library_,
                            row_.qualified_name(), what),
                hint);
  }

  static std::vector<definitions::AttributeMember> members(const OperatorDefinition& definition) {
    const auto list = definition.attributes.members;
    return list != nullptr ? list() : std::vector<definitions::AttributeMember>();
  }

  void compare(const char* side, const std::vector<Parameter>& known,
               const std::vector<Parameter>& own) const {
    static constexpr const char* kKinds[] = {"", "optional ", "variadic "};
    const auto text = [](const std::vector<Parameter>& list) {
      std::vector<std::string> texts;
      for (const Parameter& each : list) {
        texts.push_back(kKinds[each.kind] + std::string(each.name));
      }
      return fmt::format("{}", fmt::join(texts, ", "));
    };
    const bool equal = std::equal(known.begin(), known.end(), own.begin(), own.end(),
                                  [](const Parameter& a, const Parameter& b) {
                                    return a.kind == b.kind && a.minimum == b.minimum;
                                  });
    if (equal) return;
    refuse(fmt::format("its {} are [{}], the operator's are [{}]", side, text(own), text(known)),
           "take them all, in this order");
  }

  std::string_view of_operator(std::string_view variable) const {
    for (const auto& [own, known] :
         {std::pair(&own_.inputs, &row_.inputs), std::pair(&own_.outputs, &row_.outputs)}) {
      for (size_t i = 0; i < own->size(); ++i) {
        if ((*own)[i].type == variable) return (*known)[i].type;
      }
    }
    return {};
  }

  const OperatorDefinition& row_;
  const OperatorDefinition& own_;
  const std::string& library_;
};

/// Element types of an operator of a program's own, and those of another kernel for it.
std::vector<definitions::TypeConstraint> joined(
    std::vector<definitions::TypeConstraint> types,
    const std::vector<definitions::TypeConstraint>& more) {
  for (const definitions::TypeConstraint& each : more) {
    for (definitions::TypeConstraint& known : types) {
      if (known.variable == each.variable) known.allowed |= each.allowed;
    }
  }
  return types;
}

}  // namespace

OperatorDefinition with_replacement(const OperatorDefinition& row,
                                    const OperatorDefinition& signature,
                                    const std::string& library) {
  const Comparison comparison(row, signature, library);
  if (row.view || !row.graphs.empty() || row.domain == definitions::kInternalDomain) {
    throw Error(
        fmt::format("{}: info.replaces: no kernel executes {}: {}", library, row.qualified_name(),
                    row.view ? "its output is its input's memory" : "it is control flow"),
        "give the operator another domain");
  }
  comparison.operands();
  if (row.facts.expand != nullptr) {
    // Others compute it: there is no kernel whose form would matter, nor anything to keep.
    OperatorDefinition result = signature;
    result.since_version = row.since_version;
    result.until_version = row.until_version;
    result.has_replacement = true;
    return result;
  }
  comparison.attributes();
  comparison.flags();
  OperatorDefinition result = row;
  if (!row.source.list.empty()) result.types = joined(row.types, signature.types);
  result.kernel_types = comparison.kernel_types();
  result.impure = row.impure || signature.impure;
  result.has_replacement = true;
  result.facts.epilogue = {};
  result.facts.activation = nullptr;
  result.facts.axes.channels_last = {};
  return result;
}

}  // namespace intarsia::converter
