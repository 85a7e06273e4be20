// SPDX-License-Identifier: Apache-2.0
//
// Extents of operands as their definition writes them (`Parameter::extents`), for a node that is
// being made up: a form is chosen, operands are fitted to it or made after it, and what the names
// in it stand for is found on the way.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/definitions/definition.h"
#include "test/random/random.h"
#include "test/random/random_model.h"

namespace intarsia::test {

class ExtentForms {
 public:
  /// `attributes` are those that the node has already; others that forms name are found.
  ExtentForms(const OperatorDefinition& op, const definitions::AttributeMap& attributes,
              const RandomModel& model, Random& random);

  /// Whether the definition says anything of this operand's extents.
  bool has(size_t operand) const { return !form(operand).empty(); }
  /// Whether the chosen form leaves the operand out, or makes it one that has to be there.
  bool absent(size_t operand) const { return form(operand) == "absent"; }
  bool belongs(size_t operand) const;

  /// Whether a tensor of these extents can be the operand. Then names are what it says.
  bool fits(size_t operand, const Shape<Dim>& extents) const;
  bool take(size_t operand, const Shape<Dim>& extents);
  /// Extents for a new operand; names that are open get a number, or a symbol of the model.
  Shape<Dim> draw(size_t operand);

  /// Sets the attributes that forms name and operands have told.
  void complete(definitions::AttributeMap& attributes) const;

 private:
  std::string_view form(size_t operand) const;
  Dim drawn_extent();

  const OperatorDefinition& op_;
  const RandomModel& model_;
  Random& random_;
  size_t number_ = 0;
  /// What names stand for; "..." has a list.
  struct Known {
    std::map<std::string, Dim, std::less<>> names;
    std::optional<std::vector<Dim>> leading;
  } known_;
  std::vector<std::string> integers_;  // attributes that forms name

  bool take(size_t operand, const Shape<Dim>& extents, Known& known) const;
};

/// What is wrong with the forms of an operator: syntax, numbers of forms. Empty if nothing is.
std::string mistake_in_forms(const OperatorDefinition& op);

}  // namespace intarsia::test
