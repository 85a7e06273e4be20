// SPDX-License-Identifier: Apache-2.0
//
// Bounds of expressions: interval arithmetic, refined where an expression is monotone.
#include "core/definitions/dim_algebra.h"

namespace intarsia::definitions {

// ---- Intervals ----

Algebra::Interval Algebra::interval(const Atom& atom, int depth) {
  std::vector<Interval> ranges;
  for (const Dim& argument : atom.arguments) ranges.push_back(interval(argument, depth));
  switch (atom.kind) {
    case Kind::kSymbol: {
      const SymbolTable::Symbol& symbol = (*atom.table)[static_cast<int>(atom.id)];
      return {symbol.min, symbol.max};
    }
    case Kind::kUnknown:
      return {atom.lower, atom.upper};
    case Kind::kFloorDiv:
      return floor_div(ranges[0], ranges[1]);
    case Kind::kMax:
    case Kind::kMin:
    case Kind::kBroadcast:
      break;
  }
  Interval result = ranges[0];
  for (const Interval& range : ranges) {
    result.lower = atom.kind == Kind::kMax ? std::max(result.lower, range.lower)
                                           : std::min(result.lower, range.lower);
    result.upper = atom.kind == Kind::kMin ? std::min(result.upper, range.upper)
                                           : std::max(result.upper, range.upper);
  }
  return result;
}

Algebra::Interval Algebra::interval(const std::shared_ptr<const Atom>& atom, int depth) {
  if (is_variable(*atom)) return interval(*atom, depth);
  const std::pair key(atom, depth);
  if (const auto known = found_->find(key); known != found_->end()) return known->second;
  const Interval result = interval(*atom, depth);
  found_->emplace(key, result);
  return result;
}

Algebra::Interval Algebra::interval(const Dim& dim) {
  if (found_ != nullptr) return interval(dim, depth_);
  AtomIntervals found;
  struct Scope {
    explicit Scope(AtomIntervals& intervals) { found_ = &intervals; }
    ~Scope() { found_ = nullptr; }
  } scope(found);
  return interval(dim, depth_);
}

Algebra::Interval Algebra::interval(const Dim& dim, int depth) {
  Interval direct{dim.constant_, dim.constant_};
  for (const Term& term : terms(dim)) {
    Interval product{term.coefficient, term.coefficient};
    for (const Factor& factor : term.monomial) {
      const Interval range = interval(factor.atom, depth);
      for (int i = 0; i < factor.power; ++i) product = product * range;
    }
    direct = direct + product;
  }
  if (depth <= 0 || terms(dim).size() < 2 || size(dim) > kMaxRefinedSize) return direct;
  try {
    Interval refined;
    if (split(dim, depth, refined)) return direct & refined;
    return direct & relaxed(dim, depth) & monotone(dim, depth);
  } catch (const DimError&) {
    return direct;  // only the refinement is too large
  }
}

/// Treats a maximum or minimum as its arguments in turn: exact where these are bounded exactly.
bool Algebra::split(const Dim& dim, int depth, Interval& result) {
  for (const Term& term : terms(dim)) {
    if (term.monomial.size() != 1 || term.monomial[0].power != 1) continue;
    const Atom& atom = *term.monomial[0].atom;
    if (atom.kind != Kind::kMax && atom.kind != Kind::kMin) continue;
    const bool is_max = (atom.kind == Kind::kMax) == (term.coefficient > 0);
    const Dim rest = dim - make(term);
    bool first = true;
    for (const Dim& argument : atom.arguments) {
      const Interval range = interval(rest + argument * Dim(term.coefficient), depth - 1);
      if (first) {
        result = range;
      } else if (is_max) {
        result = {std::max(result.lower, range.lower), std::max(result.upper, range.upper)};
      } else {
        result = {std::min(result.lower, range.lower), std::min(result.upper, range.upper)};
      }
      first = false;
    }
    return true;
  }
  return false;
}

/// Replaces c*floor(x/c) by its bounds x - (c-1) and x, which may cancel other terms.
Algebra::Interval Algebra::relaxed(const Dim& dim, int depth) {
  const auto divisor_of = [](const Term& term) -> int64_t {
    if (term.monomial.size() != 1 || term.monomial[0].power != 1) return 0;
    const Atom& atom = *term.monomial[0].atom;
    if (atom.kind != Kind::kFloorDiv || !atom.arguments[1].is_constant()) return 0;
    const int64_t divisor = atom.arguments[1].constant_;
    return divisor > 0 && divisor < (int64_t{1} << 20) ? divisor : 0;
  };
  int64_t scale = 1;
  for (const Term& term : terms(dim)) {
    if (const int64_t divisor = divisor_of(term)) {
      if (scale % divisor != 0) scale *= divisor;
      if (scale >= int64_t{1} << 40) return {};
    }
  }
  if (scale == 1) return {};
  Dim upper = Dim(multiply(dim.constant_, scale));
  int64_t slack = 0;  // what `upper` exceeds the lower bound by
  for (const Term& term : terms(dim)) {
    const int64_t divisor = divisor_of(term);
    if (divisor == 0) {
      upper += make(term) * Dim(scale);
      continue;
    }
    const int64_t factor = multiply(term.coefficient, scale / divisor);
    upper += term.monomial[0].atom->arguments[0] * Dim(factor);
    const int64_t width = multiply(std::abs(factor), divisor - 1);
    if (factor < 0) upper += Dim(width);
    slack = add(slack, width);
  }
  const Interval range = interval(upper, depth - 1);
  Interval result;
  if (range.lower != -kInfinite) {
    result.lower = -floor_quotient(add(slack, -range.lower), scale);
  }
  if (!infinite(range.upper)) result.upper = floor_quotient(range.upper, scale);
  return result;
}

/// Bounds at the ends of a symbol's interval where the expression is monotone in that symbol.
Algebra::Interval Algebra::monotone(const Dim& dim, int depth) {
  Interval result;
  const std::vector<int> symbols = dim.symbols();
  if (symbols.size() > kMaxRefinedSymbols) return result;
  struct Unrefined {
    int outer = std::exchange(depth_, 0);
    ~Unrefined() { depth_ = outer; }
  } unrefined;
  const SymbolTable* table = nullptr;
  visit(dim, [&table](const Atom& atom) {
    if (atom.kind == Kind::kSymbol) table = atom.table;
  });
  for (int symbol : symbols) {
    const auto at = [&](const Dim& value) {
      return dim.substitute([&](int other) { return other == symbol ? value : table->dim(other); });
    };
    const SymbolTable::Symbol& range = (*table)[symbol];
    if (range.min == -kInfinite || range.max == kInfinite) continue;
    const Interval step = interval(at(table->dim(symbol) + Dim(1)) - dim, depth - 2);
    if (step.lower < 0 && step.upper > 0) continue;
    const Interval first = interval(at(range.min), depth - 1);
    const Interval last = interval(at(range.max), depth - 1);
    result = result & (step.lower >= 0 ? Interval{first.lower, last.upper}
                                       : Interval{last.lower, first.upper});
  }
  return result;
}

int64_t Dim::lower() const {
  return is_constant() ? constant_ : Algebra::interval(*this).lower;
}
int64_t Dim::upper() const {
  return is_constant() ? constant_ : Algebra::interval(*this).upper;
}

}  // namespace intarsia::definitions
