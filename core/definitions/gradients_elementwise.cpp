// SPDX-License-Identifier: Apache-2.0
//
// Gradients of element-wise operators. At a kink the gradient is that of one side, as the forward
// formula decides; a place where several operands are the extreme shares it among them. Forms are
// chosen so that nothing that is not taken becomes infinite: 0 times that would be NaN in the next
// gradient.
#include <cmath>
#include <numbers>

#include "core/definitions/gradient.h"
#include "core/operators/elementwise/elementwise.h"

namespace intarsia::definitions::gradients {
namespace {

using G = GradientContext;

Term less(Term a, Term b) {
  return call("Less", {a, b});
}
Term less(Term a, double b) {
  return less(a, a.number(b));
}
Term greater(Term a, double b) {
  return call("Greater", {a, a.number(b)});
}
Term both(Term a, Term b) {
  return call("And", {a, b});
}
Term inverse(Term condition) {
  return call("Not", {condition});
}
Term unary(const char* op, Term x) {
  return call(op, {x});
}
Term square(Term x) {
  return x * x;
}

double alpha_of(const G& g) {
  return static_cast<double>(g.attributes<AlphaAttributes>().alpha);
}

/// dx is dy where the condition holds, else 0.
template <class Condition>
void pass_where(G& g, const Condition& condition) {
  g.set(0, [&] { return where(condition(g.x()), g.dy(), 0); });
}

}  // namespace

// ---- One operand ----

void zero(G& g) {
  for (int i = 0; i < g.input_count(); ++i) g.set_zero(i);
}

void abs(G& g) {
  g.slope([](Term x, Term) { return unary("Sign", x); });
}
void acos(G& g) {
  g.slope([](Term x, Term) { return -unary("Reciprocal", unary("Sqrt", 1 - square(x))); });
}
void acosh(G& g) {
  g.slope([](Term x, Term) { return unary("Reciprocal", unary("Sqrt", square(x) - 1)); });
}
void asin(G& g) {
  g.slope([](Term x, Term) { return unary("Reciprocal", unary("Sqrt", 1 - square(x))); });
}
void asinh(G& g) {
  g.slope([](Term x, Term) { return unary("Reciprocal", unary("Sqrt", square(x) + 1)); });
}
void atan(G& g) {
  g.slope([](Term x, Term) { return unary("Reciprocal", square(x) + 1); });
}
void atanh(G& g) {
  g.slope([](Term x, Term) { return unary("Reciprocal", 1 - square(x)); });
}
void cast(G& g) {
  g.set(0, [&] { return definitions::cast(g.dy(), g.x()); });
}
void cos(G& g) {
  g.slope([](Term x, Term) { return -unary("Sin", x); });
}
void cosh(G& g) {
  g.slope([](Term x, Term) { return unary("Sinh", x); });
}
void erf(G& g) {
  g.slope([](Term x, Term) { return 2 * std::numbers::inv_sqrtpi * unary("Exp", -square(x)); });
}
void exp(G& g) {
  g.slope([](Term, Term y) { return y; });
}
void log(G& g) {
  g.set(0, [&] { return g.dy() / g.x(); });
}
void negate(G& g) {
  g.set(0, [&] { return -g.dy(); });
}
void reciprocal(G& g) {
  g.slope([](Term, Term y) { return -square(y); });
}
void sigmoid(G& g) {
  g.slope([](Term, Term y) { return y * (1 - y); });
}
void sin(G& g) {
  g.slope([](Term x, Term) { return unary("Cos", x); });
}
void sinh(G& g) {
  g.slope([](Term x, Term) { return unary("Cosh", x); });
}
void softplus(G& g) {
  g.slope([](Term x, Term) { return unary("Sigmoid", x); });
}
void softsign(G& g) {
  g.slope([](Term x, Term) { return unary("Reciprocal", square(1 + unary("Abs", x))); });
}
void sqrt(G& g) {
  g.set(0, [&] { return g.dy() / (2 * g.y()); });
}
void tan(G& g) {
  g.slope([](Term, Term y) { return 1 + square(y); });
}
void tanh(G& g) {
  g.slope([](Term, Term y) { return 1 - square(y); });
}

// ---- Activations ----

void celu(G& g) {
  const double alpha = alpha_of(g);
  g.slope([&](Term x, Term y) { return where(greater(x, 0), 1, y / alpha + 1); });
}
void elu(G& g) {
  const double alpha = alpha_of(g);
  g.slope([&](Term x, Term y) { return where(less(x, 0), y + alpha, 1); });
}
void gelu(G& g) {
  const bool approximate = g.attributes<GeluAttributes>().approximate == GeluAttributes::kTanh;
  g.slope([&](Term x, Term) {
    if (!approximate) {
      const Term density =
          std::numbers::inv_sqrtpi / std::numbers::sqrt2 * unary("Exp", -0.5 * square(x));
      return 0.5 * (1 + unary("Erf", x / std::numbers::sqrt2)) + x * density;
    }
    constexpr double kScale = std::numbers::sqrt2 * std::numbers::inv_sqrtpi, kCubic = 0.044715;
    const Term t = unary("Tanh", kScale * (x + kCubic * (x * square(x))));
    const Term inner = kScale * (1 + 3 * kCubic * square(x));
    return 0.5 * (1 + t) + 0.5 * (x * (1 - square(t)) * inner);
  });
}
void hard_sigmoid(G& g) {
  const double alpha = static_cast<double>(g.attributes<HardSigmoidAttributes>().alpha);
  g.set(0, [&] { return where(both(greater(g.y(), 0), less(g.y(), 1)), alpha * g.dy(), 0); });
}
void hard_swish(G& g) {
  g.slope([](Term x, Term) { return where(greater(x, 3), 1, where(less(x, -3), 0, x / 3 + 0.5)); });
}
void leaky_relu(G& g) {
  const double alpha = static_cast<double>(g.attributes<LeakyReluAttributes>().alpha);
  g.set(0, [&] { return where(less(g.x(), 0), alpha * g.dy(), g.dy()); });
}
void mish(G& g) {
  g.slope([](Term x, Term) {
    const Term t = unary("Tanh", unary("Softplus", x));
    return t + x * (1 - square(t)) * unary("Sigmoid", x);
  });
}
void relu(G& g) {
  pass_where(g, [](Term x) { return greater(x, 0); });
}
void selu(G& g) {
  const auto& a = g.attributes<SeluAttributes>();
  const double alpha = static_cast<double>(a.alpha), gamma = static_cast<double>(a.gamma);
  g.slope([&](Term x, Term y) { return where(greater(x, 0), gamma, y + gamma * alpha); });
}
void shrink(G& g) {
  const double limit = static_cast<double>(g.attributes<ShrinkAttributes>().lambd);
  pass_where(g, [&](Term x) { return call("Or", {less(x, -limit), greater(x, limit)}); });
}
void swish(G& g) {
  const double alpha = alpha_of(g);
  g.slope([&](Term x, Term y) {
    const Term s = unary("Sigmoid", alpha * x);
    return s + alpha * (y * (1 - s));
  });
}
void thresholded_relu(G& g) {
  const double alpha = alpha_of(g);
  pass_where(g, [&](Term x) { return greater(x, alpha); });
}

// ---- Several operands ----

void add(G& g) {
  sum(g);
}
void subtract(G& g) {
  g.set(0, [&] { return g.dy(); });
  g.set(1, [&] { return -g.dy(); });
}
void multiply(G& g) {
  g.set(0, [&] { return g.dy() * g.x(1); });
  g.set(1, [&] { return g.dy() * g.x(0); });
}
void divide(G& g) {
  g.set(0, [&] { return g.dy() / g.x(1); });
  g.set(1, [&] { return -(g.dy() * g.y() / g.x(1)); });
}

/// y = a - q b, where q jumps.
void modulo(G& g) {
  g.set(0, [&] { return g.dy(); });
  g.set(1, [&] { return g.dy() * unary("Round", (g.y() - g.x(0)) / g.x(1)); });
}

void power(G& g) {
  g.set(0, [&] {
    const Term x = g.x(0), e = definitions::cast(g.x(1), x);
    // x^0 has no slope, even where x is 0.
    const Term less_one = where(call("Equal", {e, e.number(0)}), 1, e - 1);
    return g.dy() * e * call("Pow", {x, less_one});
  });
  g.set(1, [&] {
    const Term x = g.x(0);
    // 0^e stays 0, and powers of negative numbers have no slope.
    const Term slope = g.y() * unary("Log", where(greater(x, 0), x, 1));
    return definitions::cast(g.dy() * slope, g.x(1));
  });
}

void prelu(G& g) {
  g.set(0, [&] { return where(less(g.x(), 0), g.dy() * g.x(1), g.dy()); });
  g.set(1, [&] { return where(less(g.x(), 0), g.dy() * g.x(), 0); });
}

void select(G& g) {
  g.set(1, [&] { return where(g.x(0), g.dy(), 0); });
  g.set(2, [&] { return where(g.x(0), 0, g.dy()); });
}

void sum(G& g) {
  for (int i = 0; i < g.input_count(); ++i) g.set(i, [&] { return g.dy(); });
}

void mean(G& g) {
  for (int i = 0; i < g.input_count(); ++i) {
    g.set(i, [&] { return g.dy() / static_cast<double>(g.input_count()); });
  }
}

void extreme(G& g) {
  const auto chosen = [&](int i) {
    return definitions::cast(call("Equal", {g.x(i), g.y()}), g.y());
  };
  for (int i = 0; i < g.input_count(); ++i) {
    g.set(i, [&] {
      Term count = chosen(0);
      for (int other = 1; other < g.input_count(); ++other) count = count + chosen(other);
      return where(call("Equal", {g.x(i), g.y()}), g.dy() / count, 0);
    });
  }
}

/// The upper bound wins where the bounds cross.
void clip(G& g) {
  const bool has_low = g.has_x(1), has_high = g.has_x(2);
  const auto above = [&] { return call("Greater", {g.x(0), g.x(2)}); };
  g.set(0, [&] {
    Term gradient = g.dy();
    if (has_low) gradient = where(less(g.x(0), g.x(1)), 0, gradient);
    return has_high ? where(above(), 0, gradient) : gradient;
  });
  if (has_low) {
    g.set(1, [&] {
      const Term below = less(g.x(0), g.x(1));
      const Term held = has_high ? inverse(call("Greater", {g.x(1), g.x(2)})) : below;
      return where(both(below, held), g.dy(), 0);
    });
  }
  if (has_high) {
    g.set(2, [&] {
      const Term crossed = call("Greater", {has_low ? g.x(1) : g.x(0), g.x(2)});
      return where(call("Or", {above(), crossed}), g.dy(), 0);
    });
  }
}

}  // namespace intarsia::definitions::gradients
