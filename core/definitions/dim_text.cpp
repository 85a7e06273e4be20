// SPDX-License-Identifier: Apache-2.0
//
// Expressions as people read them.
#include "core/definitions/dim_algebra.h"

namespace intarsia::definitions {

std::string Algebra::operand(const Dim& dim) {
  const std::string inner = dim.to_string();
  const bool simple = terms(dim).empty() || lone_atom(dim) != nullptr;
  return simple && inner.find(' ') == std::string::npos ? inner : "(" + inner + ")";
}

std::string Algebra::text(const Atom& atom) {
  switch (atom.kind) {
    case Kind::kSymbol:
      return (*atom.table)[static_cast<int>(atom.id)].name;
    case Kind::kUnknown:
      return "?";
    case Kind::kFloorDiv:
      return "floor(" + operand(atom.arguments[0]) + "/" + operand(atom.arguments[1]) + ")";
    case Kind::kMax:
    case Kind::kMin:
    case Kind::kBroadcast:
      break;
  }
  std::string result = atom.kind == Kind::kMax   ? "max("
                       : atom.kind == Kind::kMin ? "min("
                                                 : "broadcast(";
  for (size_t i = 0; i < atom.arguments.size(); ++i) {
    result += (i > 0 ? ", " : "") + atom.arguments[i].to_string();
  }
  return result + ")";
}

std::string Algebra::text(const Term& term) {
  std::string result;
  for (const Factor& factor : term.monomial) {
    for (int i = 0; i < factor.power; ++i)
      result += (result.empty() ? "" : "*") + text(*factor.atom);
  }
  const int64_t magnitude = std::abs(term.coefficient);
  if (result.empty()) return std::to_string(magnitude);
  return magnitude == 1 ? result : result + "*" + std::to_string(magnitude);
}

std::string Dim::to_string() const {
  std::string result;
  for (const Algebra::Term& term : Algebra::all_terms(*this)) {
    const bool negative = term.coefficient < 0;
    if (result.empty()) {
      result = negative ? "-" : "";
    } else {
      result += negative ? " - " : " + ";
    }
    result += Algebra::text(term);
  }
  return result.empty() ? "0" : result;
}

}  // namespace intarsia::definitions
