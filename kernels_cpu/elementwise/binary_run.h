// SPDX-License-Identifier: Apache-2.0
//
// Element-wise operators of two inputs with multidirectional broadcasting: z[i] = Op::apply(x[i],
// y[i]), for the sources that list them.
//
// The operators are those of core/operators/elementwise/. The output may be input 0 or input 1
// where their sizes agree: each element is read before the one at the same position is written. An
// integer divisor of zero is an error, found before anything is written.
// Specification: https://onnx.ai/onnx/operators/
#pragma once

#include "core/operators/elementwise/operators.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/elementwise/float_blocks.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {

/// z[i] = f(x[i], y[i]) for one row; an operand that stands still is read once.
template <class X, class Y, class Z, class F>
void compute_row(const typename X::Stored* x, bool x_advances, const typename Y::Stored* y,
                 bool y_advances, typename Z::Stored* z, int64_t length, F f) {
  if (x_advances && y_advances) {
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < length; ++i) z[i] = Z::store(f(X::load(x[i]), Y::load(y[i])));
  } else if (x_advances) {
    const auto still = Y::load(y[0]);
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < length; ++i) z[i] = Z::store(f(X::load(x[i]), still));
  } else if (y_advances) {
    const auto still = X::load(x[0]);
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < length; ++i) z[i] = Z::store(f(still, Y::load(y[i])));
  } else {
    const auto result = Z::store(f(X::load(x[0]), Y::load(y[0])));
    for (int64_t i = 0; i < length; ++i) z[i] = result;
  }
}

/// z = f(x, y) with broadcasting, over the context's threads; kVectors: as vector code.
template <class X, class Y, class Z, bool kVectors = true, class F>
void compute_broadcast(const KernelContext& context, const F& f) {
  const TensorView& output = context.output(0);
  const TensorView* inputs[] = {&context.input(0), &context.input(1)};
  const BroadcastLoop loop(output, inputs);
  using XS = typename X::Stored;
  using YS = typename Y::Stored;
  const BroadcastOperand operands[] = {inputs[0]->as<XS>(), inputs[1]->as<YS>()};
  auto* z = output.as<typename Z::Stored>();
  const auto compute = [&](int64_t begin, int64_t end) {
    BroadcastPieces pieces(loop, operands, begin, end);
    for (BroadcastPiece piece; pieces.next(piece);) {
      compute_row<X, Y, Z>(piece.at<XS>(0), piece.advances[0], piece.at<YS>(1), piece.advances[1],
                           z + piece.first, piece.length, f);
    }
  };
  if constexpr (kVectors) {
    compute_elements(context, loop.count, compute);
  } else {
    for_elements(context, loop.count, compute);
  }
}

template <class T>
Status check_divisors(const KernelContext& context) {
  const T* divisors = context.input(1).as<T>();
  const int64_t count = context.input(1).count();
  T zeros = 0;  // vector code, unlike a search
  on_isa(context.isa(), [=, &zeros] {
    T found = 0;
    for (int64_t i = 0; i < count; ++i) found |= static_cast<T>(divisors[i] == 0 ? 1 : 0);
    zeros = found;
  });
  for (int64_t i = 0; zeros != 0 && i < count; ++i) {
    if (divisors[i] == 0) return context.fail(Code::kDivisionByZero, "integer divisor", 0, i, 1);
  }
  return {};
}

/// Op::apply, of vectors too where only scalars divide integers: the quotient of two floats that
/// are wide enough, cut off, is exact. Rounding moves it by less than 1 / y, and what is no integer
/// is at least that far from one.
template <class Op, class V>
V apply_binary(V x, V y, const typename Op::Attributes& attributes) {
  if constexpr (INTARSIA_HAS_VECTORS && std::is_same_v<Op, DivOp> && std::is_integral_v<V> &&
                sizeof(V) <= 4) {
    using Wide = std::conditional_t<sizeof(V) <= 2, float, double>;
    constexpr V kMinus = static_cast<V>(-1);
    const bool negates = std::is_signed_v<V> && y == kMinus;  // the one that may overflow
    const Wide quotient = static_cast<Wide>(x) / static_cast<Wide>(negates ? V{1} : y);
    const V whole = static_cast<V>(quotient);
    return negates ? subtract_wrapped(V{0}, whole) : whole;
  } else {
    return Op::apply(x, y, attributes);
  }
}

/// z = f(x, y) with broadcasting, of elements of T, as Out: those of 16 bits in blocks of floats.
template <class T, class Out, class F>
void compute_elements_of(const KernelContext& context, const F& f) {
  if constexpr (kIsHalf<T>) {
    using Z = std::conditional_t<std::is_same_v<Out, Element<T>>, Element<float>, Out>;
    const Isa isa = context.isa();
    compute_float_blocks<T, typename Out::Stored>(
        context, [=](const float* x, const float* y, auto* z, int64_t n) {
          on_isa(isa, [=] {
            compute_row<Element<float>, Element<float>, Z>(x, true, y, true, z, n, f);
          });
        });
  } else {
    compute_broadcast<Element<T>, Element<T>, Out>(context, f);
  }
}

template <class Op, class T>
struct Binary {
  static constexpr KernelId id{Op::name, "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{0, 1};
  static Status check(const KernelContext& context) {
    using Out = typename Op::template Result<T>;
    constexpr KernelType t = kernel_type_of<T>;
    if (Status s = check_attributes<typename Op::Attributes>(context); !s) return s;
    if (Status s = check_broadcast(
            context, {.inputs = {t, t}, .required_inputs = 2, .outputs = {kernel_type_of<Out>}});
        !s) {
      return s;
    }
    if constexpr (requires { &Op::check; }) return Op::check(context);
    return {};
  }
  static Status run(const KernelContext& context) {
    using In = Element<T>;
    using Out = Element<typename Op::template Result<T>>;
    using V = typename In::Value;
    const auto attributes = attributes_of<typename Op::Attributes>(context);
    if constexpr (Op::divides && std::is_integral_v<T>) {
      if (Status s = check_divisors<T>(context); !s) return s;
    }
    const auto f = [=](V x, V y) { return apply_binary<Op, V>(x, y, attributes); };
    if constexpr (INTARSIA_HAS_VECTORS && std::is_same_v<Op, BitShiftOp> && sizeof(T) <= 2) {
      // Compilers make no vectors of small numbers that are shifted all by the same.
      const Isa isa = context.isa();
      compute_float_blocks<T>(context, [=](const T* x, const T* y, T* z, int64_t n) {
        on_isa(isa, [=] { compute_row<In, In, Out>(x, true, y, true, z, n, f); });
      });
    } else {
      compute_elements_of<T, Out>(context, f);
    }
    return {};
  }
};

}  // namespace intarsia::cpu
