// SPDX-License-Identifier: Apache-2.0
//
// Bernoulli: y = 1 where u < p, else 0, with u in [0, 1) of the precision in which p is read
// (16-bit types: float). p = 0 never gives 1 and p = 1 always does; what lies outside of 0 to 1
// counts as 0 or 1, NaN as 0. The result is written as bits, so that its type matters by its width
// alone. See draw.h for u. y does not take the place of p, whose elements may be of another width.
// The function body that ONNX attaches to its schema, which ONNX Runtime executes, has it the other
// way round: 1 where u > p. The specification's text and its reference implementation do not.
// https://onnx.ai/onnx/operators/onnx__Bernoulli.html
#include "core/kernel_list.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/random/draw.h"

namespace intarsia::cpu {
namespace {

/// The bits of 1.
uint64_t one_of_type(DataType type) {
  switch (type) {
    case DataType::kFloat:
      return 0x3f800000u;
    case DataType::kDouble:
      return 0x3ff0000000000000u;
    case DataType::kFloat16:
      return 0x3c00u;
    case DataType::kBfloat16:
      return 0x3f80u;
    default:
      return 1;
  }
}

template <class E, class V, class Out>
void place(const V* u, const typename E::Stored* p, Out* y, int count, Out one) {
  INTARSIA_INDEPENDENT
  for (int i = 0; i < count; ++i) y[i] = u[i] < E::load(p[i]) ? one : Out{0};
}

template <class T, class W>
struct Bernoulli : DrawingKernel<BernoulliAttributes, Draws::kBernoulli> {
  static constexpr KernelId id{"Bernoulli", "", {kernel_type_of<T>, kernel_type_of<W>}};

  static Status check(const KernelContext& context) {
    return check_operands<ops::Bernoulli>(
        context, {.inputs = {kernel_type_of<T>}, .outputs = {kernel_type_of<W>}});
  }

  static Status run(const KernelContext& context) {
    using E = Element<T>;
    using Out = typename W::Element;
    const auto* p = context.input(0).as<const typename E::Stored>();
    auto* y = context.output(0).as<Out>();
    const auto one = static_cast<Out>(one_of_type(context.output(0).type));
    const Numbers numbers = next_numbers(context);
    for_pieces(context, context.output(0).count(), [&](int64_t first, int count) {
      typename E::Value u[kPiece];
      numbers.uniforms(first, count, u);
      on_isa(numbers.isa(), [=, &u] { place<E>(u, p + first, y + first, count, one); });
    });
    return {};
  }
};

}  // namespace

extern const KernelList bernoulli_kernels;
constinit const KernelList bernoulli_kernels =
    kernel_list<EachPair<Bernoulli, Floats, Types<Width<8>, Width<16>, Width<32>, Width<64>>>>();

}  // namespace intarsia::cpu
