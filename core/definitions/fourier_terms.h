// SPDX-License-Identifier: Apache-2.0
//
// Fourier transforms as products of matrices, which are constants where the length is.
//
// A short signal is multiplied by the matrix of the transform. A longer one whose length is n1 * n2
// is a matrix: transforms of length n1 down its columns, a factor for each element, transforms of
// length n2 along its rows (J. W. Cooley and J. W. Tukey, 1965). One of a long prime length is a
// convolution with a chirp, by transforms of a length that is a power of two (L. I. Bluestein,
// 1970). Angles are multiples of a turn by n, reduced to an eighth of a turn as integers, and their
// functions are taken in double: so that those that are 0, 1 or the same are exactly so.
#pragma once

#include <cmath>
#include <numbers>
#include <optional>
#include <string>
#include <vector>

#include "core/definitions/expansion.h"

namespace intarsia::definitions {

/// Up to so many numbers one product is as fast as two.
inline constexpr int64_t kShort = 256;
/// Prime lengths up to here are one product too.
inline constexpr int64_t kShortPrime = 1024;

/// Signals [..., elements, parts], or [..., parts, elements] if `planar`. One part is real.
struct Signal {
  Term x;
  int parts;
  bool planar;

  int axis() const { return x.rank() - (planar ? 1 : 2); }
};

/// Up to so many elements, a matrix for each column takes less time than factors on their own.
inline constexpr int64_t kFolded = int64_t{1} << 16;

/// A number of elements: a scalar of int64, and its value if that is known.
struct Length {
  Term term;
  std::optional<int64_t> value;
};

inline std::optional<int64_t> known_integer(Term term) {
  const SymbolicInput known = term.known();
  if (!known.values || known.values->size() != 1 || !is_constant(known.values->front())) return {};
  return constant_value(known.values->front());
}
inline Length length_of(Term scalar) {
  return {scalar, known_integer(scalar)};
}

inline void require_positive(ExpansionContext& e, const char* name, const Length& length) {
  if (!length.value || *length.value > 0) return;
  e.refuse(std::string(name) + " has to be at least 1, found " + std::to_string(*length.value));
}

/// The elements with these extents, of which any may be 0.
inline Term exactly(Term x, Term extents) {
  return call("Reshape", {x, extents}, {{"allowzero", int64_t{1}}});
}

/// The last `replaced` axes as others, given by their extents.
inline Term with_last(Term x, int replaced, std::initializer_list<Term> last) {
  std::vector<Term> list{extents(x, 0, x.rank() - replaced)};
  for (const Term extent : last) list.push_back(unsqueeze(extent, {0}));
  return exactly(x, x.context().add("Concat", list, {{"axis", int64_t{0}}}, 1)[0]);
}

/// What a transform has to give.
struct Wanted {
  /// The first so many elements; all without it.
  std::optional<Length> count = {};
  /// With 1, the real part only.
  int parts = 2;
  bool planar = false;
  /// What the results are multiplied by.
  std::optional<Term> scale = {};
};

class Fourier {
 public:
  /// `sign` is -1 for the transform, 1 for its inverse.
  Fourier(TermContext& context, DataType type, int sign)
      : context_(context), type_(type), sign_(sign) {}

  Length length(int64_t value) const {
    return {context_.number(DataType::kInt64, static_cast<double>(value)), value};
  }

  Signal transform(const Signal& x, const Length& n, const Wanted& wanted) const {
    const int64_t known = n.value.value_or(0);
    const int64_t divisor = largest_divisor(known);
    if (known * x.parts <= kShort || (divisor == 1 && known <= kShortPrime))
      return direct(x, n, wanted);
    const Signal y =
        divisor == 1 ? chirped(x, known, wanted) : divided(x, divisor, known / divisor, wanted);
    return wanted.count ? resized(y, *wanted.count) : y;
  }

  /// `signal` cut off or filled up with zeros to `n` elements.
  Signal resized(const Signal& signal, const Length& n) const {
    const auto [x, parts, planar] = signal;
    const int axis = signal.axis();
    const Dim found = x.extent(axis);
    if (n.value && is_constant(found) && constant_value(found) == *n.value) return signal;
    const Term count = unsqueeze(n.term, {0});
    Term y = x;
    if (!n.value || !is_constant(found) || constant_value(found) > *n.value) {
      y = call("Slice", {y, context_.integers({0}), count, context_.integers({axis})});
    }
    if (!n.value || !is_constant(found) || constant_value(found) < *n.value) {
      const Term missing = count - extents(y, axis, axis + 1);
      y = call("Pad", {y, join({context_.integers({0}), missing}, 0), y.number(0),
                       context_.integers({axis})});
    }
    return {y, parts, planar};
  }

  static Signal planar(const Signal& x) {
    return x.planar ? x : Signal{reordered(x.x, {1, 0}), x.parts, true};
  }

 private:
  static int64_t largest_divisor(int64_t n) {
    for (auto d = static_cast<int64_t>(std::sqrt(static_cast<double>(n))); d > 1; --d) {
      if (n % d == 0) return d;
    }
    return 1;
  }

  /// The last axes in another order.
  static Term reordered(Term x, const std::vector<int>& order) {
    const int before = x.rank() - static_cast<int>(order.size());
    std::vector<int64_t> axes = axes_between(0, before);
    for (const int axis : order) axes.push_back(before + axis);
    return transpose(x, axes);
  }
  /// Two tensors side by side along a new axis.
  static Term stacked(Term a, Term b, int64_t axis) {
    return join({unsqueeze(a, {axis}), unsqueeze(b, {axis})}, axis);
  }

  Term number(int64_t value) const { return length(value).term; }
  Term range(const Length& n) const { return call("Range", {number(0), n.term, number(1)}); }

  /// Real and imaginary parts of complex numbers.
  struct Roots {
    Term re, im;
  };
  /// e^(sign * 2 pi i * steps / n) for steps in int64.
  Roots roots(Term steps, const Length& n, int sign) const {
    const Term step = call("Mod", {steps, n.term});
    const Roots turn = whole_turn(n);
    const auto at = [&](Term part) { return cast_to(call("Gather", {part, step}), type_); };
    return {at(turn.re), at(sign < 0 ? -turn.im : turn.im)};
  }
  /// e^(2 pi i * k / n) for k from 0 to n - 1, in double.
  Roots whole_turn(const Length& n) const {
    const Term four = 4 * range(n), quarter = four / n.term;
    const Term above = four - quarter * n.term, below = n.term - above;  // of a quarter, times n
    const Term near = cast_to(call("Min", {above, below}), DataType::kDouble);
    const Term angle = std::numbers::pi / 2 * near / cast_to(n.term, DataType::kDouble);
    const Term cosine = call("Cos", {angle});
    // In the middle of a quarter both are one number, which their functions round differently.
    const Term sine = where(call("Equal", {above, below}), cosine, call("Sin", {angle}));
    const Term odd = call("Equal", {call("Mod", {quarter, quarter.number(2)}), quarter.number(1)});
    const Term second_half = call("Greater", {quarter, quarter.number(1)});
    const Term exchanged = call("Xor", {odd, call("Greater", {above, below})});
    const auto with_sign = [](Term negative, Term part) { return where(negative, -part, part); };
    return {with_sign(call("Xor", {odd, second_half}), where(exchanged, sine, cosine)),
            with_sign(second_half, where(exchanged, cosine, sine))};
  }
  /// The roots of rows times columns.
  Roots table(const Length& rows, const Length& columns, const Length& n) const {
    return roots(unsqueeze(range(rows), {1}) * range(columns), n, sign_);
  }

  /// Planar signals times roots, which have one number for each element.
  static Signal product(const Signal& x, const Roots& w) {
    const int64_t part = w.re.rank() - 1;
    if (x.parts == 1) return {x.x * stacked(w.re, w.im, part), 2, true};
    const Term swapped =
        call("Gather", {x.x, integers(x.x, {1, 0})}, {{"axis", int64_t{x.x.rank() - 2}}});
    return {x.x * stacked(w.re, w.re, part) + swapped * stacked(-w.im, w.im, part), 2, true};
  }

  /// The matrix of `w`, of `n` rows and as many columns as are wanted, for the parts of `x` side by
  /// side, in the order in which they come and are wanted.
  static Term matrix(const Roots& w, const Signal& x, const Length& n, const Wanted& wanted) {
    const auto side_by_side = [&](Term re, Term im) {
      if (wanted.parts == 1) return re;
      return with_last(stacked(re, im, wanted.planar ? -2 : -1), 2, {2 * wanted.count->term});
    };
    const Term rows = side_by_side(w.re, w.im);
    if (x.parts == 1) return rows;
    const Term columns = w.re.context().number(DataType::kInt64, wanted.parts) * wanted.count->term;
    return with_last(stacked(rows, side_by_side(-w.im, w.re), x.planar ? -3 : -2), 3,
                     {2 * n.term, columns});
  }

  Signal direct(const Signal& x, const Length& n, Wanted wanted) const {
    if (!wanted.count) wanted.count = n;
    Roots w = table(n, *wanted.count, n);
    if (wanted.scale) w = {w.re * *wanted.scale, w.im * *wanted.scale};
    const Term y =
        call("MatMul", {with_last(x.x, 2, {number(x.parts) * n.term}), matrix(w, x, n, wanted)});
    const Term parts = number(wanted.parts), count = wanted.count->term;
    return {wanted.planar ? with_last(y, 1, {parts, count}) : with_last(y, 1, {count, parts}),
            wanted.parts, wanted.planar};
  }

  /// The elements as a matrix of n1 rows and n2 columns.
  Signal divided(const Signal& x, int64_t n1, int64_t n2, const Wanted& wanted) const {
    const bool few = 2 * x.parts * n1 * n1 * n2 <= kFolded;
    const Signal columns = few ? with_factors(x, n1, n2) : then_factors(x, n1, n2);
    // Row k of the second transforms holds results k, k + n1, k + 2 n1 ...
    Wanted inner = wanted;
    int64_t each = n2;
    if (wanted.count && wanted.count->value) each = (*wanted.count->value + n1 - 1) / n1;
    inner.count = length(each);
    const Term y = transform(columns, length(n2), inner).x;
    const Term all = number(n1 * each), parts = number(wanted.parts);
    return {wanted.planar ? with_last(reordered(y, {1, 2, 0}), 3, {parts, all})
                          : with_last(reordered(y, {1, 0, 2}), 3, {all, parts}),
            wanted.parts, wanted.planar};
  }
  /// [..., n1, 2, n2]: the transforms of the columns, and then their factors.
  Signal then_factors(const Signal& x, int64_t n1, int64_t n2) const {
    const Term rows = number(n1), columns = number(n2), parts = number(x.parts);
    const Term turned = x.planar ? reordered(with_last(x.x, 2, {parts, rows, columns}), {2, 0, 1})
                                 : reordered(with_last(x.x, 2, {rows, columns, parts}), {1, 2, 0});
    const Signal y = transform({turned, x.parts, true}, length(n1), {.planar = true});
    const Roots factors = table(length(n2), length(n1), length(n1 * n2));
    return {reordered(product(y, factors).x, {2, 1, 0}), 2, true};
  }
  /// The same, with a matrix for each column that has its factors in it.
  Signal with_factors(const Signal& x, int64_t n1, int64_t n2) const {
    const Term rows = number(n1), columns = number(n2), parts = number(x.parts);
    const Term split = x.planar ? with_last(x.x, 2, {parts, rows, columns})
                                : with_last(x.x, 2, {rows, columns, parts});
    const int rank = split.rank(), before = rank - 3;
    // Columns, what there is before, and the elements of a column in either order.
    std::vector<int64_t> order = axes_between(0, before);
    order.insert(order.begin(), before + (x.planar ? 2 : 1));
    order.push_back(before);
    order.push_back(before + (x.planar ? 1 : 2));
    const Term turned = transpose(split, order), outer = extents(turned, 1, 1 + before);
    const Term steps =
        unsqueeze(range(length(n1)) * columns + unsqueeze(range(length(n2)), {1}), {2});
    const Roots w = roots(steps * range(length(n1)), length(n1 * n2), sign_);
    const Wanted wanted{.count = length(n1), .planar = true};
    const Term many = unsqueeze(call("ReduceProd", {outer}, {{"keepdims", int64_t{0}}}), {0});
    const Term flat =
        exactly(turned, join({integers(x.x, {n2}), many, integers(x.x, {x.parts * n1})}, 0));
    const Term y =
        call("MatMul", {flat, matrix(w, {turned, x.parts, x.planar}, length(n1), wanted)});
    order = axes_between(1, 1 + before);
    order.insert(order.end(), {rank - 1, rank - 2, 0});
    return {
        transpose(exactly(y, join({integers(x.x, {n2}), outer, integers(x.x, {2, n1})}, 0)), order),
        2, true};
  }

  /// k n = (k^2 + n^2 - (k - n)^2) / 2.
  Signal chirped(const Signal& x, int64_t n, const Wanted& wanted) const {
    int64_t wide = 1;
    while (wide < 2 * n - 1) wide *= 2;
    const Length m = length(wide), turn = length(2 * n);
    const Term index = range(length(n));
    const Roots chirp = roots(index * index, turn, sign_);
    // Of both signs: m - i stands for -i.
    const Term far = range(m), back = m.term - far;
    const Term near = call("Min", {far, back});
    const Roots around = roots(near * near, turn, -sign_);
    const Term used = call("Less", {near, number(n)});
    const Signal filter{stacked(where(used, around.re, 0), where(used, around.im, 0), 0), 2, true};
    const Fourier forward(context_, type_, -1), inverse(context_, type_, 1);
    const auto spectrum = [&](const Signal& signal) {
      return forward.transform(signal, m, {.planar = true});
    };
    const Term parts = spectrum(filter).x;
    const auto part = [&](int64_t k) { return call("Gather", {parts, number(k)}); };
    Signal y = product(spectrum(resized(product(planar(x), chirp), m)), {part(0), part(1)});
    Term scale = context_.number(type_, 1.0 / static_cast<double>(wide));
    if (wanted.scale) scale = scale * *wanted.scale;
    y = inverse.transform(y, m, {.count = length(n), .planar = true, .scale = scale});
    y = product(y, chirp);
    if (wanted.parts == 1) {
      y.x = slice(y.x, -2, 0, 1);
    }
    return {wanted.planar ? y.x : reordered(y.x, {1, 0}), wanted.parts, wanted.planar};
  }

  TermContext& context_;
  DataType type_;
  int sign_;
};

}  // namespace intarsia::definitions
