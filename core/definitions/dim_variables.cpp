// SPDX-License-Identifier: Apache-2.0
//
// What expressions vary with: found, replaced by expressions, and by numbers.
#include "core/definitions/dim_algebra.h"

namespace intarsia::definitions {

void Algebra::visit(const Dim& dim, const std::function<void(const Atom&)>& visitor) {
  for (const Term& term : terms(dim)) {
    for (const Factor& factor : term.monomial) {
      visitor(*factor.atom);
      for (const Dim& argument : factor.atom->arguments) visit(argument, visitor);
    }
  }
}

DimVariable Algebra::variable(const Atom& atom) {
  if (atom.kind == Kind::kUnknown) return {false, atom.id, atom.lower, atom.upper};
  const SymbolTable::Symbol& symbol = (*atom.table)[static_cast<int>(atom.id)];
  return {true, atom.id, symbol.min, symbol.max};
}

std::vector<DimVariable> Dim::variables() const {
  std::vector<DimVariable> result;
  Algebra::visit(*this, [&result](const Algebra::Atom& atom) {
    if (Algebra::is_variable(atom)) result.push_back(Algebra::variable(atom));
  });
  std::sort(result.begin(), result.end());
  result.erase(std::unique(result.begin(), result.end()), result.end());
  return result;
}

std::vector<int> Dim::symbols() const {
  std::vector<int> result;
  for (const DimVariable& variable : variables()) {
    if (variable.is_symbol) result.push_back(static_cast<int>(variable.id));
  }
  return result;
}

bool Dim::has_unknown() const {
  const std::vector<DimVariable> all = variables();
  return !all.empty() && !all.front().is_symbol;
}

Dim Algebra::apply(const Atom& atom, const std::vector<Dim>& arguments) {
  switch (atom.kind) {
    case Kind::kFloorDiv:
      return floor_div(arguments[0], arguments[1]);
    case Kind::kBroadcast:
      return dim_broadcast(arguments[0], arguments[1]);
    case Kind::kMax:
    case Kind::kMin: {
      Dim result = arguments[0];
      for (const Dim& argument : arguments) result = extremum(atom.kind, result, argument);
      return result;
    }
    case Kind::kSymbol:
    case Kind::kUnknown:
      break;
  }
  return make(atom);
}

Dim Dim::substitute(const std::function<std::optional<Dim>(const DimVariable&)>& replace) const {
  const auto value_of = [&](const Algebra::Atom& atom) {
    if (Algebra::is_variable(atom)) {
      return replace(Algebra::variable(atom)).value_or(Algebra::make(atom));
    }
    std::vector<Dim> arguments;
    for (const Dim& argument : atom.arguments) arguments.push_back(argument.substitute(replace));
    return Algebra::apply(atom, arguments);
  };
  Dim result = constant_;
  for (const Algebra::Term& term : Algebra::terms(*this)) {
    Dim product = term.coefficient;
    for (const Algebra::Factor& factor : term.monomial) {
      const Dim value = value_of(*factor.atom);
      for (int i = 0; i < factor.power; ++i) product *= value;
    }
    result += product;
  }
  return result;
}

Dim Dim::substitute(const std::function<Dim(int)>& replace) const {
  return substitute([&](const DimVariable& variable) -> std::optional<Dim> {
    if (!variable.is_symbol) return std::nullopt;
    return replace(static_cast<int>(variable.id));
  });
}

std::optional<int64_t> Dim::evaluate(std::span<const int64_t> assignment) const {
  const Dim result = substitute([assignment](int symbol) {
    const auto index = static_cast<size_t>(symbol);
    return index < assignment.size() ? Dim(assignment[index]) : Dim::unknown();
  });
  if (!result.is_constant()) return std::nullopt;
  return result.constant();
}

}  // namespace intarsia::definitions
