// SPDX-License-Identifier: Apache-2.0
//
// `OperatorRegistry`: the operators that one conversion knows, by domain, name and version.
//
// It holds the built-in definitions and those of extensions: rows, and functions that supply a
// definition on request (an operator that stands for many, such as PyOp in any domain). Host only;
// fill it before use, then read it from any thread if the supplied functions allow that.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/definitions/definition.h"

namespace intarsia::definitions {

/// Stands for "the newest there is", for nodes of a domain that the model does not import.
inline constexpr int kLatestVersion = 0x7fffffff;

/// Supplies the definition of an operator that no row has, or null. What it returns must outlive
/// the registry.
using DefinitionFinder = std::function<const OperatorDefinition*(
    std::string_view domain, std::string_view name, int version)>;

class OperatorRegistry {
 public:
  /// The definitions that Intarsia brings.
  static const OperatorRegistry& builtin();

  /// Adds definitions, which must outlive the registry. Returns the qualified names of those that
  /// overlap in versions with one that is there already; they are not added.
  std::vector<std::string> add(const std::vector<OperatorDefinition>& rows);
  /// Puts `fresh`, of the same domain and name, in the place of a row.
  void replace(const OperatorDefinition* row, const OperatorDefinition* fresh);
  /// Finders are asked after all rows, in the order of their addition.
  void add(DefinitionFinder finder) { finders_.push_back(std::move(finder)); }

  /// The definition whose version range holds `version`, or null. Domain "ai.onnx" is "".
  const OperatorDefinition* find(std::string_view domain, std::string_view name,
                                 int version = kLatestVersion) const;

  /// All rows, ordered by domain, name and version.
  const std::vector<const OperatorDefinition*>& all() const { return rows_; }

  /// What to say of an operator that `find` does not know: the versions in which it is registered,
  /// or up to three names that resemble it, nearest first; "" if there are none.
  std::string hint(std::string_view domain, std::string_view name) const;
  std::vector<std::string> nearest(std::string_view domain, std::string_view name) const;

 private:
  std::vector<const OperatorDefinition*> rows_;
  std::vector<DefinitionFinder> finders_;
};

}  // namespace intarsia::definitions
