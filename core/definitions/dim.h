// SPDX-License-Identifier: Apache-2.0
//
// `Dim`: an extent as an expression over symbols, for instance "floor((N + 1)/2)*3".
//
// A Dim is a polynomial with integer coefficients. Its variables are symbols (named, with an
// interval that the user may set) and atoms that stand for what is no polynomial: floor division,
// maximum, minimum, broadcast, and values that nothing is known of. Expressions are kept in a
// canonical form, so that equal forms are equal extents; forms that differ may still be equal for
// every assignment. A quotient is simplified only where the divisor provably is not 0, and so that
// it equals what the arithmetic on numbers (intarsia/shape.h) gives for every assignment within the
// intervals.
//
// Values: copying is cheap, sharing is safe. A Dim refers to its SymbolTable, which must outlive
// it. Arithmetic saturates at +-kInfinite; it throws DimError where an expression would become
// unreasonably large. Host only.
#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "intarsia/tensor.h"

namespace intarsia::definitions {

/// A bound that does not exist.
inline constexpr int64_t kInfinite = std::numeric_limits<int64_t>::max();

/// Thrown where an expression grows beyond what any real model has. A few nodes suffice to square
/// an extent again and again, and every operation takes time in the size of its operands.
class DimError : public std::runtime_error {
 public:
  DimError();
};

class SymbolTable;

/// What an expression varies with: a symbol, or a value of which only an interval is known.
struct DimVariable {
  bool is_symbol = true;
  int64_t id = 0;  ///< Of a symbol its number.
  int64_t lower = -kInfinite, upper = kInfinite;

  friend auto operator<=>(const DimVariable&, const DimVariable&) = default;
};

class Dim {
 public:
  /// Of a shape: throws std::out_of_range where none can have it.
  static void check_axis(int axis) {
    if (axis < 0 || axis >= kMaxRank) throw std::out_of_range("a shape has no such axis");
  }

  Dim() = default;
  Dim(int64_t value) : constant_(value < -kInfinite ? -kInfinite : value) {}  // NOLINT: implicit
  /// A value of which only the interval is known; different from every other.
  static Dim unknown(int64_t lower = -kInfinite, int64_t upper = kInfinite);

  bool is_constant() const { return polynomial_ == nullptr; }
  /// REQUIRES: is_constant().
  int64_t constant() const { return constant_; }

  /// Bounds over all assignments within the symbols' intervals; not always the tightest.
  int64_t lower() const;
  int64_t upper() const;

  /// The value if symbol i has the value assignment[i]; none if it depends on an unknown value or
  /// on a symbol beyond the list.
  std::optional<int64_t> evaluate(std::span<const int64_t> assignment) const;
  /// Every symbol replaced by what `replace` gives for its number.
  Dim substitute(const std::function<Dim(int symbol)>& replace) const;
  /// Every variable replaced for which `replace` gives something.
  Dim substitute(const std::function<std::optional<Dim>(const DimVariable&)>& replace) const;
  /// What it varies with, unknown values first, each once.
  std::vector<DimVariable> variables() const;
  /// Numbers of the symbols that occur, ascending.
  std::vector<int> symbols() const;
  /// True if a value occurs of which nothing but an interval is known.
  bool has_unknown() const;

  std::string to_string() const;

  Dim& operator+=(const Dim& other) { return *this = *this + other; }
  Dim& operator-=(const Dim& other) { return *this = *this - other; }
  Dim& operator*=(const Dim& other) { return *this = *this * other; }
  Dim operator-() const { return *this * Dim(-1); }
  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b) { return a + -b; }
  friend Dim operator*(const Dim& a, const Dim& b);
  /// True if the canonical forms agree.
  friend bool operator==(const Dim& a, const Dim& b);

  // The arithmetic of shape functions; the same names and meaning as for numbers.
  friend bool is_constant(const Dim& dim) { return dim.is_constant(); }
  friend int64_t constant_value(const Dim& dim) { return dim.constant(); }
  friend Dim floor_div(const Dim& a, const Dim& b);
  friend Dim ceil_div(const Dim& a, const Dim& b);
  friend Dim dim_max(const Dim& a, const Dim& b);
  friend Dim dim_min(const Dim& a, const Dim& b);
  friend Dim dim_either(const Dim& a, const Dim& b);
  /// The common extent of two axes that broadcast, given that they do.
  friend Dim dim_broadcast(const Dim& a, const Dim& b);

 private:
  friend class SymbolTable;
  friend struct Algebra;  // dim.cpp
  struct Polynomial;

  int64_t constant_ = 0;
  std::shared_ptr<const Polynomial> polynomial_;  // the other terms; null if there are none
};

/// A value that is a or b, nobody knows which. Keeps how it relates to them where that says more
/// than the two intervals: of N and N + 1 it is at most one more than N.
Dim dim_either(const Dim& a, const Dim& b);

/// The symbols of a model, numbered from 0.
class SymbolTable {
 public:
  struct Symbol {
    std::string name;
    int64_t min = 1;
    int64_t max = kInfinite;
  };

  SymbolTable() = default;
  SymbolTable(const SymbolTable&) = delete;
  SymbolTable& operator=(const SymbolTable&) = delete;

  /// A new symbol; names should differ, but nothing relies on it.
  Dim add(std::string name, int64_t min = 1, int64_t max = kInfinite);
  /// The symbol of that number as an expression.
  Dim dim(int symbol) const;
  /// Number of the symbol of that name, or -1.
  int find(std::string_view name) const;

  int size() const { return static_cast<int>(symbols_.size()); }
  const Symbol& operator[](int symbol) const { return symbols_[static_cast<size_t>(symbol)]; }
  Symbol& operator[](int symbol) { return symbols_[static_cast<size_t>(symbol)]; }

 private:
  std::vector<Symbol> symbols_;
};

}  // namespace intarsia::definitions
