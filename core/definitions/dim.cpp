// SPDX-License-Identifier: Apache-2.0
//
// The algebra of extents: canonical polynomials, division with remainder, maximum and minimum.
#include "core/definitions/dim_algebra.h"

#include <atomic>

namespace intarsia::definitions {
namespace {

template <class T>
int order(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

}  // namespace

// ---- Order and construction ----

const Algebra::Terms& Algebra::terms(const Dim& dim) {
  static const Terms kNone;
  return dim.polynomial_ == nullptr ? kNone : dim.polynomial_->terms;
}

int64_t Algebra::size(const Dim& dim) {
  return dim.polynomial_ == nullptr ? 0 : dim.polynomial_->size;
}

DimError::DimError() : std::runtime_error("an extent is too large an expression of the symbols") {}

Algebra::Terms Algebra::all_terms(const Dim& dim) {
  Terms result = terms(dim);
  if (dim.constant_ != 0) result.push_back({dim.constant_, {}});
  return result;
}

int Algebra::compare(const Atom& a, const Atom& b) {
  if (&a == &b) return 0;
  if (a.kind != b.kind) return order(a.kind, b.kind);
  if (a.id != b.id) return order(a.id, b.id);
  if (a.arguments.size() != b.arguments.size()) {
    return order(a.arguments.size(), b.arguments.size());
  }
  for (size_t i = 0; i < a.arguments.size(); ++i) {
    if (const int result = compare(a.arguments[i], b.arguments[i])) return result;
  }
  return 0;
}

int Algebra::compare(const Monomial& a, const Monomial& b) {
  const auto degree = [](const Monomial& monomial) {
    int sum = 0;
    for (const Factor& factor : monomial) sum += factor.power;
    return sum;
  };
  if (const int result = order(degree(a), degree(b))) return result;
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) {
    // The monomial that has the smaller atom here has more of it: it is the larger one.
    if (const int result = compare(*a[i].atom, *b[i].atom)) return -result;
    if (const int result = order(a[i].power, b[i].power)) return result;
  }
  return order(a.size(), b.size());
}

int Algebra::compare(const Dim& a, const Dim& b) {
  if (a.polynomial_ != b.polynomial_) {
    const Terms& left = terms(a);
    const Terms& right = terms(b);
    if (left.size() != right.size()) return order(left.size(), right.size());
    for (size_t i = 0; i < left.size(); ++i) {
      if (const int result = compare(left[i].monomial, right[i].monomial)) return result;
      if (const int result = order(left[i].coefficient, right[i].coefficient)) return result;
    }
  }
  return order(a.constant_, b.constant_);
}

Dim Algebra::make(Terms terms) {
  std::stable_sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) {
    return compare(a.monomial, b.monomial) > 0;
  });
  Terms merged;
  Dim result;
  for (Term& term : terms) {
    if (term.monomial.empty()) {
      result.constant_ = add(result.constant_, term.coefficient);
    } else if (!merged.empty() && compare(merged.back().monomial, term.monomial) == 0) {
      merged.back().coefficient = add(merged.back().coefficient, term.coefficient);
    } else {
      merged.push_back(std::move(term));
    }
  }
  std::erase_if(merged, [](const Term& term) { return term.coefficient == 0; });
  if (merged.empty()) return result;
  int64_t size = 0;
  for (const Term& term : merged) {
    ++size;
    for (const Factor& factor : term.monomial) size += factor.power * factor.atom->size;
  }
  if (size > kMaxSize) throw DimError();
  result.polynomial_ =
      std::make_shared<const Dim::Polynomial>(Dim::Polynomial{std::move(merged), size});
  return result;
}

Dim Algebra::make(Atom atom) {
  for (const Dim& argument : atom.arguments) atom.size += 1 + size(argument);
  return make(Term{1, {{std::make_shared<const Atom>(std::move(atom)), 1}}});
}

Dim Dim::unknown(int64_t lower, int64_t upper) {
  static std::atomic<int64_t> next{0};
  Algebra::Atom atom;
  atom.kind = Algebra::Kind::kUnknown;
  atom.id = next.fetch_add(1, std::memory_order_relaxed);
  atom.lower = lower;
  atom.upper = upper;
  return lower == upper ? Dim(lower) : Algebra::make(std::move(atom));
}

Dim SymbolTable::add(std::string name, int64_t min, int64_t max) {
  symbols_.push_back({std::move(name), min, max});
  return dim(size() - 1);
}

Dim SymbolTable::dim(int symbol) const {
  Algebra::Atom atom;
  atom.id = symbol;
  atom.table = this;
  return Algebra::make(std::move(atom));
}

int SymbolTable::find(std::string_view name) const {
  for (int symbol = 0; symbol < size(); ++symbol) {
    if ((*this)[symbol].name == name) return symbol;
  }
  return -1;
}

// ---- Arithmetic ----

bool operator==(const Dim& a, const Dim& b) {
  return Algebra::compare(a, b) == 0;
}

Dim operator+(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return add(a.constant_, b.constant_);
  Algebra::Terms sum = Algebra::all_terms(a);
  for (Algebra::Term& term : Algebra::all_terms(b)) sum.push_back(std::move(term));
  return Algebra::make(std::move(sum));
}

Dim operator*(const Dim& a, const Dim& b) {
  if (a.is_constant() && b.is_constant()) return multiply(a.constant_, b.constant_);
  // Before terms of equal monomials are merged; each has its own copy until then.
  const auto terms_of = [](const Dim& dim) {
    return static_cast<int64_t>(Algebra::terms(dim).size()) + 1;
  };
  if (Algebra::size(a) * terms_of(b) + Algebra::size(b) * terms_of(a) > 8 * kMaxSize) {
    throw DimError();
  }
  Algebra::Terms product;
  for (const Algebra::Term& left : Algebra::all_terms(a)) {
    for (const Algebra::Term& right : Algebra::all_terms(b)) {
      Algebra::Term term{multiply(left.coefficient, right.coefficient), left.monomial};
      for (const Algebra::Factor& factor : right.monomial) {
        auto place = std::find_if(
            term.monomial.begin(), term.monomial.end(),
            [&](const auto& other) { return Algebra::compare(*other.atom, *factor.atom) >= 0; });
        if (place != term.monomial.end() && Algebra::compare(*place->atom, *factor.atom) == 0) {
          place->power += factor.power;
        } else {
          term.monomial.insert(place, factor);
        }
      }
      product.push_back(std::move(term));
    }
  }
  return Algebra::make(std::move(product));
}

/// True if b divides a; both are sorted.
bool Algebra::divide(const Monomial& a, const Monomial& b, Monomial& quotient) {
  quotient.clear();
  size_t matched = 0;
  for (const Factor& factor : a) {
    int power = factor.power;
    if (matched < b.size() && compare(*factor.atom, *b[matched].atom) == 0) {
      power -= b[matched++].power;
    }
    if (power < 0) return false;
    if (power > 0) quotient.push_back({factor.atom, power});
  }
  return matched == b.size();
}

/// False if a coefficient has saturated.
bool Algebra::exact(const Dim& dim) {
  const auto saturated = [](const Term& term) { return infinite(term.coefficient); };
  return !infinite(dim.constant_) && std::none_of(terms(dim).begin(), terms(dim).end(), saturated);
}

/// Quotient and remainder with a = quotient * b + remainder; unique for a given b.
std::pair<Dim, Dim> Algebra::divide(const Dim& a, const Dim& b) {
  const Term divisor = all_terms(b).front();
  Dim rest = a;
  Dim quotient;
  Terms remainder;
  while (!(rest == Dim(0))) {
    Term lead = all_terms(rest).front();
    if (infinite(lead.coefficient))
      throw DimError();  // a saturated difference need not get smaller
    Term part;
    if (divide(lead.monomial, divisor.monomial, part.monomial)) {
      part.coefficient = floor_quotient(lead.coefficient, divisor.coefficient);
    }
    if (part.coefficient != 0) {
      const Dim step = make(part);
      quotient += step;
      rest -= step * b;
      lead.coefficient = add(lead.coefficient, -multiply(part.coefficient, divisor.coefficient));
    }
    if (lead.coefficient != 0) {
      rest -= make(lead);
      remainder.push_back(std::move(lead));
    }
  }
  return {quotient, make(std::move(remainder))};
}

const Algebra::Atom* Algebra::lone_atom(const Dim& dim) {
  const Terms& list = terms(dim);
  if (list.size() != 1 || list[0].coefficient != 1 || list[0].monomial.size() != 1) return nullptr;
  return list[0].monomial[0].power == 1 ? list[0].monomial[0].atom.get() : nullptr;
}

/// floor(a / divisor) for coefficients of a in [0, divisor), divisor > 1.
Dim Algebra::divide_by_constant(const Dim& a, int64_t divisor) {
  const Interval range = interval(a);
  if (!infinite(range.lower) && !infinite(range.upper)) {
    const int64_t low = floor_quotient(range.lower, divisor);
    if (low == floor_quotient(range.upper, divisor)) return low;
  }
  // floor((g*x + k) / (g*c)) = floor((x + floor(k/g)) / c)
  int64_t common = divisor;
  for (const Term& term : terms(a)) {
    int64_t other = term.coefficient;
    while (other != 0) common = std::exchange(other, common % other);
  }
  Terms reduced;
  for (const Term& term : all_terms(a)) {
    reduced.push_back({floor_quotient(term.coefficient, common), term.monomial});
  }
  Dim numerator = make(std::move(reduced));
  divisor /= common;
  if (divisor == 1) return numerator;
  // Of floor(x/c) and -floor((c-1-x)/c), which are equal, the one with the smaller first
  // coefficient.
  if (terms(numerator).front().coefficient > divisor - terms(numerator).front().coefficient) {
    return -floor_div(Dim(divisor - 1) - numerator, divisor);
  }
  // floor((floor(x/c) + k) / d) = floor((x + k*c) / (c*d))
  const Atom* atom = lone_atom(numerator);
  if (atom != nullptr && atom->kind == Kind::kFloorDiv && atom->arguments[1].is_constant() &&
      atom->arguments[1].constant_ > 0) {
    const Dim& inner = atom->arguments[1];
    return floor_div(atom->arguments[0] + inner * Dim(numerator.constant_), inner * Dim(divisor));
  }
  Atom quotient;
  quotient.kind = Kind::kFloorDiv;
  quotient.arguments = {numerator, Dim(divisor)};
  return make(std::move(quotient));
}

Dim floor_div(const Dim& a, const Dim& b) {
  if (b.is_constant()) {
    if (a.is_constant()) return floor_quotient(a.constant_, b.constant_);
    if (b.constant_ == 0) return 0;
    if (b.constant_ < 0) return floor_div(-a, -b);
    if (b.constant_ == 1) return a;
  }
  const Algebra::Interval divisor = Algebra::interval(b);
  if ((divisor.lower > 0 || divisor.upper < 0) && Algebra::exact(a) && Algebra::exact(b)) {
    const auto [quotient, remainder] = Algebra::divide(a, b);
    if (remainder == Dim(0)) return quotient;
    if (b.is_constant()) return quotient + Algebra::divide_by_constant(remainder, b.constant_);
    const Algebra::Interval rest = floor_div(Algebra::interval(remainder), divisor);
    if (rest.lower == rest.upper) return quotient + Dim(rest.lower);
    if (divisor.lower > 0 && Algebra::interval(remainder).lower >= 0 &&
        Algebra::interval(b - remainder).lower > 0) {
      return quotient;
    }
    const bool single = b.constant_ == 0 && Algebra::terms(b).size() == 1;
    if (single && !(quotient == Dim(0))) return quotient + floor_div(remainder, b);
  }
  Algebra::Atom atom;
  atom.kind = Algebra::Kind::kFloorDiv;
  atom.arguments = {a, b};
  return Algebra::make(std::move(atom));
}

Dim ceil_div(const Dim& a, const Dim& b) {
  const Algebra::Interval divisor = Algebra::interval(b);
  if (divisor.upper < 0) return ceil_div(-a, -b);
  return divisor.lower > 0 ? floor_div(a + b - Dim(1), b) : -floor_div(-a, b);
}

/// Of more arguments, some of which depend on values, a maximum or minimum says no more than its
/// bounds: it would take each node of a long chain longer than the one before.
constexpr size_t kMostUnknownArguments = 32;

/// Maximum or minimum; nested ones are merged, and what another argument dominates is dropped.
Dim Algebra::extremum(Kind kind, const Dim& a, const Dim& b) {
  const auto candidates = [kind](const Dim& dim) {
    const Atom* atom = lone_atom(dim);
    if (atom == nullptr || atom->kind != kind) return std::vector<Dim>{dim};
    std::vector<Dim> arguments;
    for (const Dim& argument : atom->arguments) arguments.push_back(argument + Dim(dim.constant_));
    return arguments;
  };
  std::vector<Dim> kept = candidates(a), added = candidates(b);
  if (kept.size() + added.size() > kMostUnknownArguments && (a.has_unknown() || b.has_unknown())) {
    const Interval x = interval(a), y = interval(b);
    return kind == Kind::kMax
               ? Dim::unknown(std::max(x.lower, y.lower), std::max(x.upper, y.upper))
               : Dim::unknown(std::min(x.lower, y.lower), std::min(x.upper, y.upper));
  }
  const auto dominates = [kind](const Dim& winner, const Dim& loser) {
    const Interval difference = interval(winner - loser);
    return kind == Kind::kMax ? difference.lower >= 0 : difference.upper <= 0;
  };
  // Arguments of one atom have been compared when that was made.
  const auto drop_dominated = [&](std::vector<Dim>& losers, const std::vector<Dim>& winners) {
    std::erase_if(losers, [&](const Dim& loser) {
      return std::any_of(winners.begin(), winners.end(),
                         [&](const Dim& winner) { return dominates(winner, loser); });
    });
  };
  drop_dominated(added, kept);
  drop_dominated(kept, added);
  kept.insert(kept.end(), added.begin(), added.end());
  if (kept.size() == 1) return kept[0];
  std::sort(kept.begin(), kept.end(),
            [](const Dim& left, const Dim& right) { return compare(left, right) < 0; });
  Atom result;
  result.kind = kind;
  result.arguments = std::move(kept);
  return make(std::move(result));
}

Dim dim_max(const Dim& a, const Dim& b) {
  return Algebra::extremum(Algebra::Kind::kMax, a, b);
}
Dim dim_min(const Dim& a, const Dim& b) {
  return Algebra::extremum(Algebra::Kind::kMin, a, b);
}

Dim dim_broadcast(const Dim& a, const Dim& b) {
  if (a == b || b == Dim(1)) return a;
  if (a == Dim(1)) return b;
  // An extent that cannot be 1 is the result; a constant says more than an expression.
  const bool a_decides = a.lower() > 1 || a == Dim(0);
  const bool b_decides = b.lower() > 1 || b == Dim(0);
  if (a_decides && (a.is_constant() || !b_decides)) return a;
  if (b_decides) return b;
  if (a.lower() > 0 && b.lower() > 0) return dim_max(a, b);
  Algebra::Atom atom;
  atom.kind = Algebra::Kind::kBroadcast;
  atom.arguments = Algebra::compare(a, b) < 0 ? std::vector{a, b} : std::vector{b, a};
  return Algebra::make(std::move(atom));
}

Dim dim_either(const Dim& a, const Dim& b) {
  if (a == b) return a;
  const int64_t lower = std::min(a.lower(), b.lower()), upper = std::max(a.upper(), b.upper());
  if (Algebra::size(a) + Algebra::size(b) + 2 > kMaxSize) return Dim::unknown(lower, upper);
  const Dim apart = b - a;
  const bool close = apart.lower() > -kInfinite && apart.upper() < kInfinite;
  // What lies a varying way apart has a wider interval as a sum than by itself.
  const bool related = !(a.is_constant() && b.is_constant()) &&
                       (apart.is_constant() || (close && upper == kInfinite));
  if (!related) return Dim::unknown(lower, upper);
  return a + Dim::unknown(std::min<int64_t>(0, apart.lower()), std::max<int64_t>(0, apart.upper()));
}

}  // namespace intarsia::definitions
