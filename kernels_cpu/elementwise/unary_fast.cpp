// SPDX-License-Identifier: Apache-2.0
//
// Vector forms of operators (variant "fast"): the polynomials of kernels_cpu/math/vector_math.h,
// which states their accuracy, on the vectors of the instruction set at hand. Each operator chooses
// one of them, and its parameter, from the attributes. Aliasing and threads as in unary_run.h.
#include "core/kernel_list.h"
#include "kernels_cpu/elementwise/unary_run.h"
#include "kernels_cpu/math/vector_math.h"

namespace intarsia::cpu {
namespace {

struct Choice {
  VectorMap map;
  float parameter;
};

Choice choose(ExpOp, Isa isa, const NoAttributes&) {
  return {pick_vector_math(isa, [](auto math) { return &decltype(math)::exp; }), 0};
}
Choice choose(ErfOp, Isa isa, const NoAttributes&) {
  return {pick_vector_math(isa, [](auto math) { return &decltype(math)::erf; }), 0};
}
Choice choose(SigmoidOp, Isa isa, const NoAttributes&) {
  return {pick_vector_math(isa, [](auto math) { return &decltype(math)::sigmoid; }), 0};
}
Choice choose(TanhOp, Isa isa, const NoAttributes&) {
  return {pick_vector_math(isa, [](auto math) { return &decltype(math)::tanh; }), 0};
}
Choice choose(SoftplusOp, Isa isa, const NoAttributes&) {
  return {pick_vector_math(isa, [](auto math) { return &decltype(math)::softplus; }), 0};
}
Choice choose(MishOp, Isa isa, const NoAttributes&) {
  return {pick_vector_math(isa, [](auto math) { return &decltype(math)::mish; }), 0};
}
Choice choose(EluOp, Isa isa, const AlphaAttributes& attributes) {
  return {pick_vector_math(isa, [](auto math) { return &decltype(math)::elu; }), attributes.alpha};
}
Choice choose(SwishOp, Isa isa, const AlphaAttributes& attributes) {
  return {pick_vector_math(isa, [](auto math) { return &decltype(math)::silu; }), attributes.alpha};
}
Choice choose(GeluOp, Isa isa, const GeluAttributes& attributes) {
  if (attributes.approximate == GeluAttributes::kTanh) {
    return {pick_vector_math(isa, [](auto math) { return &decltype(math)::gelu_tanh; }), 0};
  }
  return {pick_vector_math(isa, [](auto math) { return &decltype(math)::gelu; }), 0};
}

template <class Op, class T>
struct FastUnary {
  static constexpr KernelId id{Op::name, "fast", {kernel_type_of<T>}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context) { return check_unary<Op, T>(context); }
  static Status run(const KernelContext& context) {
    const auto attributes = attributes_of<typename Op::Attributes>(context);
    const Choice choice = choose(Op{}, context.isa(), attributes);
    const float* x = context.input(0).as<float>();
    float* y = context.output(0).as<float>();
    for_elements(context, context.output(0).count(), [=](int64_t begin, int64_t end) {
      choice.map(x + begin, y + begin, end - begin, choice.parameter);
    });
    return {};
  }
};

}  // namespace

extern const KernelList unary_fast_kernels;
constinit const KernelList unary_fast_kernels = kernel_list<EachPair<
    FastUnary, Types<EluOp, ErfOp, ExpOp, GeluOp, MishOp, SigmoidOp, SoftplusOp, SwishOp, TanhOp>,
    Types<float>>>();

}  // namespace intarsia::cpu
