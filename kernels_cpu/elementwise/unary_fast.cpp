// SPDX-License-Identifier: Apache-2.0
//
// Vector forms of operators (variant "fast"): the functions of kernels_cpu/math/vector_math.h,
// which states their accuracy, on the vectors of the instruction set at hand. Elements of 16 bits
// pass through a block of floats. Aliasing and threads as in unary_run.h.
#include "core/kernel_list.h"
#include "kernels_cpu/elementwise/float_blocks.h"
#include "kernels_cpu/elementwise/unary_run.h"
#include "kernels_cpu/math/convert.h"
#include "kernels_cpu/math/vector_math.h"

namespace intarsia::cpu {
namespace {

template <class Op, class Listed>
inline constexpr bool is = std::is_same_v<Op, Listed>;

/// The function of an operator; one that is not named here is not linked for it.
template <class Op, class Math>
VectorMap function_of([[maybe_unused]] const typename Op::Attributes& attributes) {
  if constexpr (is<Op, AcosOp>) return Math::acos;
  if constexpr (is<Op, AcoshOp>) return Math::acosh;
  if constexpr (is<Op, AsinOp>) return Math::asin;
  if constexpr (is<Op, AsinhOp>) return Math::asinh;
  if constexpr (is<Op, AtanOp>) return Math::atan;
  if constexpr (is<Op, AtanhOp>) return Math::atanh;
  if constexpr (is<Op, CeluOp>) return Math::celu;
  if constexpr (is<Op, CosOp>) return Math::cos;
  if constexpr (is<Op, CoshOp>) return Math::cosh;
  if constexpr (is<Op, EluOp>) return Math::elu;
  if constexpr (is<Op, ErfOp>) return Math::erf;
  if constexpr (is<Op, ExpOp>) return Math::exp;
  if constexpr (is<Op, HardSigmoidOp>) return Math::hard_sigmoid;
  if constexpr (is<Op, HardSwishOp>) return Math::hard_swish;
  if constexpr (is<Op, LogOp>) return Math::log;
  if constexpr (is<Op, MishOp>) return Math::mish;
  if constexpr (is<Op, SeluOp>) return Math::selu;
  if constexpr (is<Op, SigmoidOp>) return Math::sigmoid;
  if constexpr (is<Op, SinOp>) return Math::sin;
  if constexpr (is<Op, SinhOp>) return Math::sinh;
  if constexpr (is<Op, SoftplusOp>) return Math::softplus;
  if constexpr (is<Op, SwishOp>) return Math::silu;
  if constexpr (is<Op, TanOp>) return Math::tan;
  if constexpr (is<Op, TanhOp>) return Math::tanh;
  if constexpr (is<Op, GeluOp>) {
    const bool tanh = attributes.approximate == GeluAttributes::kTanh;
    return tanh ? Math::gelu_tanh : Math::gelu;
  }
}

template <class Op, class Math>
VectorMapDouble function_of_doubles() {
  if constexpr (is<Op, CosOp>) return Math::cos;
  if constexpr (is<Op, ExpOp>) return Math::exp;
  if constexpr (is<Op, LogOp>) return Math::log;
  if constexpr (is<Op, SigmoidOp>) return Math::sigmoid;
  if constexpr (is<Op, SinOp>) return Math::sin;
  if constexpr (is<Op, TanOp>) return Math::tan;
  if constexpr (is<Op, TanhOp>) return Math::tanh;
}

template <class Op, class T>
auto pick_function(Isa isa, [[maybe_unused]] const typename Op::Attributes& attributes) {
  if constexpr (is<T, double>) {
    return pick_vector_math_double(
        isa, [](auto math) { return function_of_doubles<Op, decltype(math)>(); });
  } else {
    return pick_vector_math(isa,
                            [&](auto math) { return function_of<Op, decltype(math)>(attributes); });
  }
}

/// Alpha, and gamma or beta, of the operators that have them.
template <class Attributes>
struct Parameters {
  explicit Parameters(const Attributes&) {}
  const float* values() const { return nullptr; }
};
template <class Attributes>
requires requires(Attributes attributes) {
  attributes.alpha;
}
struct Parameters<Attributes> {
  explicit Parameters(const Attributes& attributes) : numbers{attributes.alpha} {
    if constexpr (requires { attributes.gamma; }) numbers[1] = attributes.gamma;
    if constexpr (requires { attributes.beta; }) numbers[1] = attributes.beta;
  }
  const float* values() const { return numbers; }
  float numbers[2];
};

/// y = map(x), a block of floats at a time.
template <class T>
void map_through_floats(Isa isa, VectorMap map, const T* x, T* y, int64_t n,
                        const float* parameters) {
  float block[kFloatBlock];
  for (int64_t i = 0; i < n; i += kFloatBlock) {
    const int64_t count = n - i < kFloatBlock ? n - i : kFloatBlock;
    to_floats(isa, x + i, block, count);
    map(block, block, count, parameters);
    from_floats(isa, block, y + i, count);
  }
}

template <class Op, class T>
struct FastUnary {
  static constexpr KernelId id{Op::name, "fast", {kernel_type_of<T>}};
  static constexpr InPlace in_place{0};
  static bool supports(const KernelContext& context) {
    if constexpr (is<Op, CeluOp>) {
      const float alpha = context.attributes<AlphaAttributes>().alpha;
      return alpha < 0 || alpha > 0;
    }
    return true;
  }
  static Status check(const KernelContext& context) { return check_unary<Op, T>(context); }
  static Status run(const KernelContext& context) {
    const auto attributes = attributes_of<typename Op::Attributes>(context);
    const Isa isa = context.isa();
    const auto map = pick_function<Op, T>(isa, attributes);
    const Parameters stored(attributes);
    const float* parameters = stored.values();
    const T* x = context.input(0).as<T>();
    T* y = context.output(0).as<T>();
    for_elements(context, context.output(0).count(), [=](int64_t begin, int64_t end) {
      if constexpr (is_half<T>) {
        map_through_floats(isa, map, x + begin, y + begin, end - begin, parameters);
      } else {
        map(x + begin, y + begin, end - begin, parameters);
      }
    });
    return {};
  }
};

using OfDoubles = Types<CosOp, ExpOp, LogOp, SigmoidOp, SinOp, TanOp, TanhOp>;
using OfFloats = Types<AcosOp, AcoshOp, AsinOp, AsinhOp, AtanOp, AtanhOp, CeluOp, CosOp, CoshOp,
                       EluOp, ErfOp, ExpOp, GeluOp, HardSigmoidOp, HardSwishOp, LogOp, MishOp,
                       SeluOp, SigmoidOp, SinOp, SinhOp, SoftplusOp, SwishOp, TanOp, TanhOp>;

}  // namespace

extern const KernelList unary_fast_kernels;
constinit const KernelList unary_fast_kernels =
    kernel_list<EachPair<FastUnary, OfFloats, Types<float, Float16, BFloat16>>,
                EachPair<FastUnary, OfDoubles, Types<double>>>();

}  // namespace intarsia::cpu
