// SPDX-License-Identifier: Apache-2.0
//
// Cast: y[i] = x[i] converted from type In to type Out.
//
// Between integers the high bits are dropped; to floating-point types rounding is to nearest, ties
// to even, and overflow gives infinity; from floating-point to integers values are truncated
// towards zero, and what ONNX leaves undefined (beyond the range, NaN) gives the nearest limit and
// 0; to bool everything but zero is true. The output may be the input where the sizes agree. Values
// that float cannot hold reach the 16-bit types through a float that is rounded to odd, so that the
// second rounding sees on which side of a tie the value lies.
// Specification: https://onnx.ai/onnx/operators/onnx__Cast.html
#include <bit>

#include "core/kernel_list.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/elementwise/binary_broadcast.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {
namespace {

float round_to_odd(double value) {
  const float nearest = static_cast<float>(value);
  const double back = nearest;
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if (back == value || value != value || (bits & 1u) != 0) return nearest;
  const bool too_large = (back < 0 ? -back : back) > (value < 0 ? -value : value);
  bits = too_large ? bits - 1 : bits + 1;
  return std::bit_cast<float>(bits);
}

template <class T>
inline constexpr bool is_half = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;

template <class Out, class V>
typename Element<Out>::Stored convert(V value) {
  using E = Element<Out>;
  if constexpr (std::is_same_v<Out, bool>) {
    return E::store(value != 0);
  } else if constexpr (is_half<Out>) {
    constexpr bool kFits = std::is_same_v<V, float> || sizeof(V) <= 2;  // in a float, exactly
    if constexpr (kFits) {
      return E::store(static_cast<float>(value));
    } else {
      return E::store(round_to_odd(static_cast<double>(value)));
    }
  } else if constexpr (std::is_integral_v<Out> && std::is_floating_point_v<V>) {
    return saturate_cast<Out>(value);
  } else {
    return static_cast<Out>(value);
  }
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
    using X = Element<In>;
    const auto* x = context.input(0).as<typename X::Stored>();
    auto* y = context.output(0).as<typename Element<Out>::Stored>();
    for_elements(context, context.output(0).count(), [=](int64_t begin, int64_t end) {
      INTARSIA_INDEPENDENT
      for (int64_t i = begin; i < end; ++i) y[i] = convert<Out>(X::load(x[i]));
    });
    return {};
  }
};

}  // namespace

using CastTypes = Join<Numbers, Types<bool>>;
extern const KernelList cast_kernels;
constinit const KernelList cast_kernels = kernel_list<EachPair<Cast, CastTypes, CastTypes>>();

}  // namespace intarsia::cpu
