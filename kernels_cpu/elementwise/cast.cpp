// SPDX-License-Identifier: Apache-2.0
//
// Cast, see cast.h. Values that float cannot hold reach the 16-bit types through a float that is
// rounded to odd, so that the second rounding sees on which side of a tie the value lies.
#include "kernels_cpu/elementwise/cast.h"

#include <bit>

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

}  // namespace

template <class In, class Out>
Status Cast<In, Out>::check(const KernelContext& context) {
  return check_elementwise(context,
                           {.inputs = {kernel_type_of<In>}, .outputs = {kernel_type_of<Out>}});
}

template <class In, class Out>
Status Cast<In, Out>::run(const KernelContext& context) {
  using X = Element<In>;
  const auto* x = context.input(0).as<typename X::Stored>();
  auto* y = context.output(0).as<typename Element<Out>::Stored>();
  for_elements(context, context.output(0).count(), [=](int64_t begin, int64_t end) {
    INTARSIA_INDEPENDENT
    for (int64_t i = begin; i < end; ++i) y[i] = convert<Out>(X::load(x[i]));
  });
  return {};
}

// Explicit instantiation cannot be written as a list of types.
#define INTARSIA_CAST(In)             \
  template struct Cast<In, float>;    \
  template struct Cast<In, double>;   \
  template struct Cast<In, Float16>;  \
  template struct Cast<In, BFloat16>; \
  template struct Cast<In, bool>;     \
  template struct Cast<In, int8_t>;   \
  template struct Cast<In, int16_t>;  \
  template struct Cast<In, int32_t>;  \
  template struct Cast<In, int64_t>;  \
  template struct Cast<In, uint8_t>;  \
  template struct Cast<In, uint16_t>; \
  template struct Cast<In, uint32_t>; \
  template struct Cast<In, uint64_t>
INTARSIA_CAST(float);
INTARSIA_CAST(double);
INTARSIA_CAST(Float16);
INTARSIA_CAST(BFloat16);
INTARSIA_CAST(bool);
INTARSIA_CAST(int8_t);
INTARSIA_CAST(int16_t);
INTARSIA_CAST(int32_t);
INTARSIA_CAST(int64_t);
INTARSIA_CAST(uint8_t);
INTARSIA_CAST(uint16_t);
INTARSIA_CAST(uint32_t);
INTARSIA_CAST(uint64_t);

}  // namespace intarsia::cpu
