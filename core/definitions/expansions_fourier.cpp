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
#include <cmath>
#include <numbers>
#include <optional>

#include "core/definitions/expansion.h"
#include "core/definitions/rows.h"
#include "core/operators/nn/fourier.h"

namespace intarsia::definitions {
namespace {

/// Up to here one product is as fast as two.
constexpr int64_t kShort = 256;
/// Prime lengths up to here are one product too.
constexpr int64_t kShortPrime = 1024;

/// Signals along the last axis. Without an imaginary part they are real.
struct Signal {
  Term re;
  std::optional<Term> im;
};

/// A number of elements: a scalar of int64, and its value if that is known.
struct Length {
  Term term;
  std::optional<int64_t> value;
};

std::optional<int64_t> known_integer(Term term) {
  const SymbolicInput known = term.known();
  if (!known.values || known.values->size() != 1 || !is_constant(known.values->front())) return {};
  return constant_value(known.values->front());
}
Length length_of(Term scalar) {
  return {scalar, known_integer(scalar)};
}

void require_positive(ExpansionContext& e, const char* name, const Length& length) {
  if (!length.value || *length.value > 0) return;
  e.refuse(std::string(name) + " has to be at least 1, found " + std::to_string(*length.value));
}

class Fourier {
 public:
  /// `sign` is -1 for the transform, 1 for its inverse, which is not divided by the length.
  Fourier(TermContext& context, DataType type, int sign)
      : context_(context), type_(type), sign_(sign) {}

  Length length(int64_t value) const {
    return {context_.number(DataType::kInt64, static_cast<double>(value)), value};
  }

  /// The first `count` of the `n` results; all without it.
  Signal transform(const Signal& x, const Length& n, std::optional<Length> count = {}) const {
    const int64_t known = n.value.value_or(0);
    const int64_t divisor = largest_divisor(known);
    if (known <= kShort || (divisor == 1 && known <= kShortPrime)) {
      return direct(x, n, count ? *count : n);
    }
    const Signal y = divisor == 1 ? chirped(x, known) : divided(x, divisor, known / divisor);
    return count ? resized(y, *count) : y;
  }

  /// `x` cut off or filled up with zeros to `n` elements.
  Signal resized(const Signal& x, const Length& n) const {
    return {resized(x.re, n), x.im ? std::optional(resized(*x.im, n)) : std::nullopt};
  }

 private:
  static int64_t largest_divisor(int64_t n) {
    for (auto d = static_cast<int64_t>(std::sqrt(static_cast<double>(n))); d > 1; --d) {
      if (n % d == 0) return d;
    }
    return 1;
  }

  static Term last(Term x, const char* op, const std::vector<int64_t>& list) {
    return call(op, {x, integers(x, list)});
  }
  static Term turned(Term x) {
    std::vector<int64_t> order;
    for (int axis = 0; axis < x.rank(); ++axis) order.push_back(axis);
    std::swap(order.end()[-1], order.end()[-2]);
    return transpose(x, order);
  }
  template <class Change>
  static Signal changed(const Signal& x, const Change& change) {
    return {change(x.re), x.im ? std::optional(change(*x.im)) : std::nullopt};
  }
  static Signal product(const Signal& x, const Signal& y) {
    if (!x.im) return {x.re * y.re, x.re * *y.im};
    return {x.re * y.re - *x.im * *y.im, x.re * *y.im + *x.im * y.re};
  }

  Term range(const Length& n) const {
    return call("Range", {context_.number(DataType::kInt64, 0), n.term,
                          context_.number(DataType::kInt64, 1)});
  }
  /// e^(sign * 2 pi i * steps / n) for steps in int64.
  Signal roots(Term steps, const Length& n, int sign) const {
    const Term step = call("Mod", {steps, n.term});
    const Signal turn = whole_turn(n);
    const auto at = [&](Term part) { return cast_to(call("Gather", {part, step}), type_); };
    return {at(turn.re), at(sign < 0 ? -*turn.im : *turn.im)};
  }
  /// e^(2 pi i * k / n) for k from 0 to n - 1, in double.
  Signal whole_turn(const Length& n) const {
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
  Signal table(const Length& rows, const Length& columns, const Length& n) const {
    return roots(unsqueeze(range(rows), {1}) * range(columns), n, sign_);
  }

  /// One product for both parts, one behind the other.
  Signal direct(const Signal& x, const Length& n, const Length& count) const {
    const Signal w = table(n, count, n);
    Term y = call("MatMul", {x.re, join({w.re, *w.im}, 1)});
    if (x.im) y = y + call("MatMul", {*x.im, join({-*w.im, w.re}, 1)});
    const Term operands[] = {y};
    const auto parts = context_.add(
        "Split", operands, {{"axis", int64_t{y.rank() - 1}}, {"num_outputs", int64_t{2}}}, 2);
    return {parts[0], parts[1]};
  }

  /// The axis as a matrix of n1 rows and n2 columns.
  Signal divided(const Signal& x, int64_t n1, int64_t n2) const {
    const auto with_last = [](Term part, const std::vector<int64_t>& list) {
      return with_extents(part, join({extents(part, 0, part.rank() - 1), integers(part, list)}, 0));
    };
    const Signal columns = changed(x, [&](Term part) { return turned(with_last(part, {n1, n2})); });
    Signal y = transform(columns, length(n1));
    y = product(y, table(length(n2), length(n1), length(n1 * n2)));
    y = transform(changed(y, turned), length(n2));
    return changed(y, [&](Term part) {
      const Term rows = turned(part);
      return with_extents(rows,
                          join({extents(rows, 0, rows.rank() - 2), integers(rows, {n1 * n2})}, 0));
    });
  }

  /// k n = (k^2 + n^2 - (k - n)^2) / 2.
  Signal chirped(const Signal& x, int64_t n) const {
    int64_t wide = 1;
    while (wide < 2 * n - 1) wide *= 2;
    const Length m = length(wide), turn = length(2 * n);
    const Term index = range(length(n));
    const Signal chirp = roots(index * index, turn, sign_);
    // Of both signs: m - i stands for -i.
    const Term far = range(m), back = m.term - far;
    const Term near = call("Min", {far, back});
    Signal filter = roots(near * near, turn, -sign_);
    const Term used = call("Less", {near, length(n).term});
    filter = changed(filter, [&](Term part) { return where(used, part, 0); });
    const Fourier forward(context_, type_, -1), inverse(context_, type_, 1);
    const Signal spectrum = forward.transform(resized(product(x, chirp), m), m);
    const Signal both = product(spectrum, forward.transform(filter, m));
    Signal y = resized(inverse.transform(both, m), length(n));
    y = changed(y, [&](Term part) { return part / static_cast<double>(wide); });
    return product(y, chirp);
  }

  Term resized(Term x, const Length& n) const {
    const int axis = x.rank() - 1;
    const Dim found = x.extent(axis);
    if (n.value && is_constant(found) && constant_value(found) == *n.value) return x;
    const Term count = unsqueeze(n.term, {0});
    if (!n.value || !is_constant(found) || constant_value(found) > *n.value) {
      x = call("Slice", {x, context_.integers({0}), count, context_.integers({axis})});
    }
    if (n.value && is_constant(found) && constant_value(found) >= *n.value) return x;
    const Term missing = count - extents(x, axis, axis + 1);
    return call("Pad", {x, join({context_.integers({0}), missing}, 0), x.number(0),
                        context_.integers({axis})});
  }

  TermContext& context_;
  DataType type_;
  int sign_;
};

/// The parts of [..., elements, 1 or 2], with axis `axis` last.
Signal signal_of(ExpansionContext& e, Term x, int axis, DataType type) {
  const int rank = x.rank();
  const Dim parts = x.extent(-1);
  if (!is_constant(parts) || constant_value(parts) < 1 || constant_value(parts) > 2) {
    e.refuse("the last extent of its input has to be 1 (real) or 2 (complex), found " +
             parts.to_string());
  }
  const auto part = [&](int64_t number) {
    const Term one = call("Gather", {x, e.number(DataType::kInt64, static_cast<double>(number))},
                          {{"axis", int64_t{rank - 1}}});
    if (axis == rank - 2) return cast_to(one, type);
    std::vector<int64_t> order;
    for (int i = 0; i < rank - 1; ++i) {
      if (i != axis) order.push_back(i);
    }
    order.push_back(axis);
    return cast_to(transpose(one, order), type);
  };
  if (constant_value(parts) == 1) return {part(0), {}};
  return {part(0), part(1)};
}

/// The parts as the last axis, the axis of the transform back in its place.
void put(ExpansionContext& e, const Signal& y, int axis, DataType type) {
  const auto placed = [&](Term part) {
    const int rank = part.rank();
    if (axis != rank - 1) {
      std::vector<int64_t> order;
      for (int i = 0; i < rank - 1; ++i) order.push_back(i);
      order.insert(order.begin() + axis, rank - 1);
      part = transpose(part, order);
    }
    return unsqueeze(part, {rank});
  };
  const Term re = placed(y.re);
  e.set(0, cast_to(y.im ? join({re, placed(*y.im)}, re.rank() - 1) : re, type));
}

DataType computed_in(DataType given) {
  return given == DataType::kDouble ? given : DataType::kFloat;
}

/// A scalar, or its one element, as int64.
Term scalar(Term given) {
  const Term wide = cast_to(given, DataType::kInt64);
  return wide.rank() == 0 ? wide : call("Squeeze", {wide});
}

Length half_of(ExpansionContext& e, const Length& n) {
  return length_of(n.term / e.number(DataType::kInt64, 2) + e.number(DataType::kInt64, 1));
}

void dft(ExpansionContext& e) {
  const auto& a = e.attributes<DftAttributes>();
  const Term x = e.x(0);
  const int rank = x.rank();
  int64_t axis = -2;
  if (e.has_x(2)) {
    const auto known = known_integer(e.x(2));
    if (!known) e.undecided(e.x(2), "its axis has to be known");
    axis = *known;
  }
  if (axis < -rank || axis >= rank - 1 || axis == -1) {
    e.refuse("axis " + std::to_string(axis) + " has to be one of its input, which has " +
             std::to_string(rank) + ", without the last");
  }
  const int at = static_cast<int>(axis < 0 ? axis + rank : axis);
  const bool inverse = a.inverse != 0, onesided = a.onesided != 0;
  const DataType given = x.known().type, type = computed_in(given);
  const Fourier fourier(e, type, inverse ? 1 : -1);
  Signal signal = signal_of(e, x, at, type);
  const Term extent = call("Squeeze", {extents(x, at, at + 1)});
  Term count = extent;
  if (e.has_x(1)) {
    count = scalar(e.x(1));
  } else if (inverse && onesided) {
    count = 2 * (extent - e.number(DataType::kInt64, 1));
  }
  const Length n = length_of(count);
  require_positive(e, "the length of the transform", n);
  if (!inverse) {
    if (onesided && signal.im) e.refuse("a one-sided transform needs a real input");
    std::optional<Length> wanted;
    if (onesided) wanted = half_of(e, n);
    put(e, fourier.transform(fourier.resized(signal, n), n, wanted), at, given);
    return;
  }
  if (onesided) {
    if (!signal.im) e.refuse("the inverse of a one-sided transform needs a complex input");
    // The other half is the conjugate of this one, turned round: elements n - half ... 1.
    const Length half = half_of(e, n);
    signal = fourier.resized(signal, half);
    const auto rest = [&](Term part) {
      const Term first = unsqueeze(n.term - half.term, {0});
      return call("Slice",
                  {part, first, e.integers({0}), e.integers({part.rank() - 1}), e.integers({-1})});
    };
    const int64_t last = signal.re.rank() - 1;
    signal.im = join({*signal.im, -rest(*signal.im)}, last);
    signal.re = join({signal.re, rest(signal.re)}, last);
  }
  Signal y = fourier.transform(fourier.resized(signal, n), n);
  const Term divisor = cast_to(n.term, type);
  y.re = y.re / divisor;
  y.im = onesided ? std::nullopt : std::optional(*y.im / divisor);
  put(e, y, at, given);
}

/// Frames of the signal times the window, each transformed.
void stft(ExpansionContext& e) {
  const Term x = e.x(0);
  if (x.rank() != 3) e.refuse("signal has to have 3 axes, found " + std::to_string(x.rank()));
  const DataType given = x.known().type, type = computed_in(given);
  const Term whole = call("Squeeze", {extents(x, 1, 2)});
  const Length frame = length_of(e.has_x(3)   ? scalar(e.x(3))
                                 : e.has_x(2) ? call("Squeeze", {extents(e.x(2), 0, 1)})
                                              : whole);
  const Term one = e.number(DataType::kInt64, 1), zero = e.number(DataType::kInt64, 0);
  const Term step = scalar(e.x(1));
  require_positive(e, "frame_length", frame);
  require_positive(e, "frame_step", length_of(step));
  const Term starts = call("Range", {zero, whole - frame.term + one, step});
  const Term places = unsqueeze(starts, {1}) + call("Range", {zero, frame.term, one});
  Signal frames = signal_of(e, x, 1, type);
  const auto cut = [&](Term part) {
    const Term many = call("Gather", {part, places}, {{"axis", int64_t{1}}});
    return e.has_x(2) ? many * cast_to(e.x(2), type) : many;
  };
  frames.re = cut(frames.re);
  if (frames.im) frames.im = cut(*frames.im);
  std::optional<Length> wanted;
  if (e.attributes<StftAttributes>().onesided != 0) {
    if (frames.im) e.refuse("a one-sided transform needs a real signal");
    wanted = half_of(e, frame);
  }
  put(e, Fourier(e, type, -1).transform(frames, frame, wanted), 2, given);
}

}  // namespace

void add_fourier_definitions(DefinitionRows& rows) {
  constexpr auto kOptional = Parameter::kOptional;
  rows.push_back(
      {.name = "DFT",
       .since_version = 20,
       .inputs = {Parameter{"input", "T1"}.with("B L 1 | B L 2 | B L M 1 | L 2"),
                  Parameter{"dft_length", "T2", kOptional}.with("()").deciding(Domain::kAtLeastOne),
                  Parameter{"axis", "I", kOptional}.with("()").deciding(Domain::kAxis)},
       .outputs = {{"output", "T1"}},
       .facts = {.expand = dft},
       .types = {{"T1", kFloatTypes}, {"T2", kIndexTypes}, {"I", kInt64Type}},
       .kernel_types = {},
       .attributes = codec_of<DftAttributes>()});
  rows.push_back({.name = "STFT",
                  .since_version = 17,
                  .inputs = {Parameter{"signal", "T1"}.with("B F+L 1 | B F+L 1 | B F+L 2"),
                             Parameter{"frame_step", "T2"}.with("()").deciding(Domain::kAtLeastOne),
                             Parameter{"window", "T1", kOptional}.with("F | absent | F"),
                             Parameter{"frame_length", "T2", kOptional}
                                 .with("absent | () | absent")
                                 .deciding(Domain::kAtLeastOne)},
                  .outputs = {{"output", "T1"}},
                  .facts = {.expand = stft},
                  .types = {{"T1", kFloatTypes}, {"T2", kIndexTypes}},
                  .kernel_types = {},
                  .attributes = codec_of<StftAttributes>()});
}

}  // namespace intarsia::definitions
