// SPDX-License-Identifier: Apache-2.0
//
// The functions of <cmath>: exponential, logarithm, error function, trigonometric and hyperbolic
// functions and their inverses, in the precision of V.
#pragma once

#include <cmath>

#include "core/operators/elementwise/operator.h"

namespace intarsia {

struct ExpOp : Elementwise<> {
  static constexpr std::string_view name = "Exp";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, const NoAttributes&) {
    return std::exp(x);
  }
};

struct LogOp : Elementwise<> {
  static constexpr std::string_view name = "Log";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, const NoAttributes&) {
    return std::log(x);
  }
};

struct ErfOp : Elementwise<> {
  static constexpr std::string_view name = "Erf";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, const NoAttributes&) {
    return std::erf(x);
  }
};

struct SinOp : Elementwise<> {
  static constexpr std::string_view name = "Sin";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, const NoAttributes&) {
    return std::sin(x);
  }
};

struct CosOp : Elementwise<> {
  static constexpr std::string_view name = "Cos";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, const NoAttributes&) {
    return std::cos(x);
  }
};

struct TanOp : Elementwise<> {
  static constexpr std::string_view name = "Tan";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, const NoAttributes&) {
    return std::tan(x);
  }
};

struct AsinOp : Elementwise<> {
  static constexpr std::string_view name = "Asin";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, const NoAttributes&) {
    return std::asin(x);
  }
};

struct AcosOp : Elementwise<> {
  static constexpr std::string_view name = "Acos";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, const NoAttributes&) {
    return std::acos(x);
  }
};

struct AtanOp : Elementwise<> {
  static constexpr std::string_view name = "Atan";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, const NoAttributes&) {
    return std::atan(x);
  }
};

struct SinhOp : Elementwise<> {
  static constexpr std::string_view name = "Sinh";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, const NoAttributes&) {
    return std::sinh(x);
  }
};

struct CoshOp : Elementwise<> {
  static constexpr std::string_view name = "Cosh";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, const NoAttributes&) {
    return std::cosh(x);
  }
};

struct TanhOp : Elementwise<> {
  static constexpr std::string_view name = "Tanh";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, const NoAttributes&) {
    return std::tanh(x);
  }
};

struct AsinhOp : Elementwise<> {
  static constexpr std::string_view name = "Asinh";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, const NoAttributes&) {
    return std::asinh(x);
  }
};

struct AcoshOp : Elementwise<> {
  static constexpr std::string_view name = "Acosh";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, const NoAttributes&) {
    return std::acosh(x);
  }
};

struct AtanhOp : Elementwise<> {
  static constexpr std::string_view name = "Atanh";
  template <class V>
  INTARSIA_HOST_DEVICE static V apply(V x, const NoAttributes&) {
    return std::atanh(x);
  }
};

}  // namespace intarsia
