// SPDX-License-Identifier: Apache-2.0
//
// FastUnary<Op, float>: the functions of kernels_cpu/math/vector_math.h as kernels. Each Op chooses
// one of them, and its parameter, from the attributes.
#include "kernels_cpu/elementwise/binary_broadcast.h"
#include "kernels_cpu/elementwise/unary.h"
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

}  // namespace

template <class Op, class T>
Status FastUnary<Op, T>::check(const KernelContext& context) {
  return Unary<Op, T>::check(context);
}

template <class Op, class T>
Status FastUnary<Op, T>::run(const KernelContext& context) {
  const auto attributes = attributes_of<typename Op::Attributes>(context);
  const Choice choice = choose(Op{}, context.isa(), attributes);
  const float* x = context.input(0).as<float>();
  float* y = context.output(0).as<float>();
  for_elements(context, context.output(0).count(), [=](int64_t begin, int64_t end) {
    choice.map(x + begin, y + begin, end - begin, choice.parameter);
  });
  return {};
}

template struct FastUnary<EluOp, float>;
template struct FastUnary<ErfOp, float>;
template struct FastUnary<ExpOp, float>;
template struct FastUnary<GeluOp, float>;
template struct FastUnary<MishOp, float>;
template struct FastUnary<SigmoidOp, float>;
template struct FastUnary<SoftplusOp, float>;
template struct FastUnary<SwishOp, float>;
template struct FastUnary<TanhOp, float>;

}  // namespace intarsia::cpu
