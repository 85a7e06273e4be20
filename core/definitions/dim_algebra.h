// SPDX-License-Identifier: Apache-2.0
//
// What is behind Dim (dim.h): the form of polynomials and atoms, and the arithmetic of intervals.
// Included by the sources of Dim, and by what tells its layout.
#pragma once

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <utility>

#include "core/definitions/dim.h"
#include "intarsia/checked_int.h"

namespace intarsia::definitions {

/// Types and functions behind Dim. Terms are sorted by a graded lexicographic order, largest first;
/// the factors of a term are sorted by `compare`.
struct Algebra {
  enum class Kind : uint8_t { kSymbol, kUnknown, kFloorDiv, kMax, kMin, kBroadcast };

  struct Atom {
    Kind kind = Kind::kSymbol;
    int64_t id = 0;                      // of a symbol or an unknown value
    const SymbolTable* table = nullptr;  // of a symbol
    int64_t lower = -kInfinite;          // of an unknown value
    int64_t upper = kInfinite;
    std::vector<Dim> arguments;  // of the other kinds
    int64_t size = 1;            // of the arguments too
  };
  struct Factor {
    std::shared_ptr<const Atom> atom;
    int power = 1;
  };
  using Monomial = std::vector<Factor>;
  struct Term {
    int64_t coefficient = 0;
    Monomial monomial;
  };
  using Terms = std::vector<Term>;
  struct Interval {
    int64_t lower = -kInfinite;
    int64_t upper = kInfinite;
    Interval operator&(const Interval& other) const {
      return {std::max(lower, other.lower), std::min(upper, other.upper)};
    }
  };

  static int compare(const Dim& a, const Dim& b);
  static int compare(const Atom& a, const Atom& b);
  static int compare(const Monomial& a, const Monomial& b);

  static const Terms& terms(const Dim& dim);
  /// Factors and terms of an expression, those of nested ones included.
  static int64_t size(const Dim& dim);
  /// The terms of `dim`, its constant included.
  static Terms all_terms(const Dim& dim);
  static Dim make(Terms terms);
  static Dim make(Atom atom);
  static Dim make(const Term& term) { return make(Terms{term}); }
  static bool exact(const Dim& dim);
  static bool divide(const Monomial& a, const Monomial& b, Monomial& quotient);
  static std::pair<Dim, Dim> divide(const Dim& a, const Dim& b);
  static Dim divide_by_constant(const Dim& a, int64_t divisor);
  static Dim extremum(Kind kind, const Dim& a, const Dim& b);
  /// The atom if `dim` is `atom + constant`, else null.
  static const Atom* lone_atom(const Dim& dim);
  static Dim apply(const Atom& atom, const std::vector<Dim>& arguments);

  static Interval interval(const Dim& dim);
  static Interval interval(const Dim& dim, int depth);
  static Interval interval(const std::shared_ptr<const Atom>& atom, int depth);
  static Interval interval(const Atom& atom, int depth);
  static Interval relaxed(const Dim& dim, int depth);
  static bool split(const Dim& dim, int depth, Interval& result);
  static Interval monotone(const Dim& dim, int depth);

  static bool is_variable(const Atom& atom) {
    return atom.kind == Kind::kSymbol || atom.kind == Kind::kUnknown;
  }
  static DimVariable variable(const Atom& atom);
  static void visit(const Dim& dim, const std::function<void(const Atom&)>& visitor);
  static std::string text(const Term& term);
  static std::string text(const Atom& atom);
  static std::string operand(const Dim& dim);

  /// How far bounds are refined beyond term-wise interval arithmetic. None of that inside a
  /// refinement that builds expressions, each of which asks for bounds again.
  static inline thread_local int depth_ = 3;

  /// What one call from outside has found of atoms at a depth: a refinement meets the same ones
  /// again and again. Keeps them, so that no other atom gets their address.
  using AtomIntervals = std::map<std::pair<std::shared_ptr<const Atom>, int>, Interval>;
  static inline thread_local AtomIntervals* found_ = nullptr;
};

struct Dim::Polynomial {
  Algebra::Terms terms;
  int64_t size = 0;
};

using Interval = Algebra::Interval;

/// Largest size of an expression, and the largest whose bounds are refined.
inline constexpr int64_t kMaxSize = 1000;
inline constexpr int64_t kMaxRefinedSize = 200;
inline constexpr size_t kMaxRefinedSymbols = 8;

// Sums and products saturate.

inline int64_t add(int64_t a, int64_t b) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) return a > 0 ? kInfinite : -kInfinite;
  return std::max(sum, -kInfinite);
}
inline int64_t multiply(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) return (a > 0) == (b > 0) ? kInfinite : -kInfinite;
  return std::max(product, -kInfinite);
}
/// Rounded towards minus infinity; 0 when the divisor is 0, as for numbers at run time.
inline int64_t floor_quotient(int64_t a, int64_t b) {
  return constant_value(floor_div(CheckedInt(a), CheckedInt(b)));
}
inline bool infinite(int64_t bound) {
  return bound == kInfinite || bound == -kInfinite;
}

// Infinity of its own side absorbs: a sum without an upper bound has none.
inline Interval operator+(const Interval& a, const Interval& b) {
  const bool below = a.lower == -kInfinite || b.lower == -kInfinite;
  const bool above = a.upper == kInfinite || b.upper == kInfinite;
  return {below ? -kInfinite : add(a.lower, b.lower), above ? kInfinite : add(a.upper, b.upper)};
}

inline Interval hull(const std::array<int64_t, 4>& corners) {
  const auto [low, high] = std::minmax_element(corners.begin(), corners.end());
  return {*low, *high};
}

inline Interval operator*(const Interval& a, const Interval& b) {
  return hull({multiply(a.lower, b.lower), multiply(a.lower, b.upper), multiply(a.upper, b.lower),
               multiply(a.upper, b.upper)});
}

inline int64_t divide_bound(int64_t a, int64_t b) {
  if (infinite(b)) return a == kInfinite ? a : a >= 0 ? 0 : a == -kInfinite ? a : -1;
  return infinite(a) ? a : floor_quotient(a, b);
}

inline Interval floor_div(const Interval& a, const Interval& b) {
  if (b.upper < 0) return floor_div(a * Interval{-1, -1}, b * Interval{-1, -1});
  if (b.lower > 0) {
    return hull({divide_bound(a.lower, b.lower), divide_bound(a.lower, b.upper),
                 divide_bound(a.upper, b.lower), divide_bound(a.upper, b.upper)});
  }
  const int64_t magnitude = std::max(std::abs(a.lower), std::abs(a.upper));
  return {-magnitude, magnitude};
}

}  // namespace intarsia::definitions
