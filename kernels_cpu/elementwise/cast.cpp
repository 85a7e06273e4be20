// SPDX-License-Identifier: Apache-2.0
//
// Cast: y[i] = x[i] converted from type In to type Out.
//
// Between integers the high bits are dropped; to floating-point types rounding is to nearest, ties
// to even, and overflow gives infinity; from floating-point to integers values are truncated
// towards zero, and what ONNX leaves undefined (beyond the range, NaN) gives the nearest limit and
// 0; to bool everything but zero is true. The output may be the input where the sizes agree. Types
// that C++ lacks: cast_small.cpp.
// Specification: https://onnx.ai/onnx/operators/onnx__Cast.html
#include "core/kernel_list.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/elementwise/binary_broadcast.h"
#include "kernels_cpu/elementwise/float_blocks.h"
#include "kernels_cpu/math/convert.h"

namespace intarsia::cpu {
namespace {

template <class In, class Out>
void cast_elements(const typename Element<In>::Stored* x, typename Element<Out>::Stored* y,
                   int64_t n) {
  INTARSIA_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) y[i] = convert<Out>(Element<In>::load(x[i]));
}

template <class In, class Out>
struct Cast {
  static constexpr KernelId id{"Cast", "", {kernel_type_of<In>, kernel_type_of<Out>}};
  static constexpr InPlace in_place{0};
  static Status check(const KernelContext& context) {
    return check_elementwise(context,
                             {.inputs = {kernel_type_of<In>}, .outputs = {kernel_type_of<Out>}});
  }
  static Status run(const KernelContext& context) {
    const auto* x = context.input(0).as<typename Element<In>::Stored>();
    auto* y = context.output(0).as<typename Element<Out>::Stored>();
    if constexpr (std::is_same_v<In, Float16> && std::is_same_v<Out, float>) {
      for_elements(context, context.output(0).count(), [&](int64_t begin, int64_t end) {
        to_floats(context.isa(), x + begin, y + begin, end - begin);
      });
    } else if constexpr (std::is_same_v<In, float> && std::is_same_v<Out, Float16>) {
      for_elements(context, context.output(0).count(), [&](int64_t begin, int64_t end) {
        from_floats(context.isa(), x + begin, y + begin, end - begin);
      });
    } else if constexpr (std::is_same_v<In, float> && std::is_integral_v<Out>) {
      for_elements(context, context.output(0).count(), [&](int64_t begin, int64_t end) {
        on_widest_isa(context.isa(),
                      [=] { cast_elements<In, Out>(x + begin, y + begin, end - begin); });
      });
    } else {
      compute_elements(context, context.output(0).count(), [=](int64_t begin, int64_t end) {
        cast_elements<In, Out>(x + begin, y + begin, end - begin);
      });
    }
    return {};
  }
};

}  // namespace

using CastTypes = Join<Numbers, Types<bool>>;
extern const KernelList cast_kernels;
constinit const KernelList cast_kernels = kernel_list<EachPair<Cast, CastTypes, CastTypes>>();

}  // namespace intarsia::cpu
