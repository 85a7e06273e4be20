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
#include <limits>

#include "core/kernel_list.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/common/lane_vector.h"
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

/// `round_to_odd` where that is a normal number or float16 has none that is near: the bits that a
/// float lacks become one. Vector code.
inline float truncate_to_odd(double value) {
  constexpr uint64_t kLost = (uint64_t{1} << 29) - 1;
  const uint64_t bits = std::bit_cast<uint64_t>(value);
  const uint64_t sticky = ((bits & kLost) + kLost) & (kLost + 1);
  return static_cast<float>(std::bit_cast<double>((bits & ~kLost) | sticky));
}

/// y = x as floats from which rounding to float16 gives what it gives of x.
template <class In>
void load_floats(const typename Element<In>::Stored* x, float* y, int64_t n) {
  using V = typename Element<In>::Value;
  constexpr bool kThroughDouble =
      std::is_same_v<V, double> || (std::is_integral_v<V> && sizeof(V) == 4);
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (kThroughDouble) {
      y[i] = truncate_to_odd(static_cast<double>(Element<In>::load(x[i])));
    } else {
      y[i] = to_float(Element<In>::load(x[i]));
    }
  }
}

/// Real numbers to integers whose limits both are real numbers, through int32_t: bounds are steps
/// of vectors, while the compiler makes jumps or masks of conditions on numbers.
template <class In, class Out>
constexpr bool has_bounds() {
  if constexpr (std::is_floating_point_v<In> && std::is_integral_v<Out>) {
    return INTARSIA_HAS_VECTORS && !std::is_same_v<Out, bool> &&
           std::numeric_limits<Out>::digits <= std::numeric_limits<In>::digits &&
           std::numeric_limits<Out>::digits <= std::numeric_limits<int32_t>::digits;
  }
  return false;
}
template <int kBytes, class In, class Out>
void cast_by_bounds(const In* x, Out* y, int64_t n) {
  constexpr int kLanes = kBytes / static_cast<int>(sizeof(In));
  constexpr bool kDirect = std::is_same_v<Out, int32_t>;
  int32_t block[kFloatBlock];
  for (int64_t first = 0; first < n; first += kFloatBlock) {
    const int64_t count = n - first < kFloatBlock ? n - first : kFloatBlock;
    for_lane_vectors<kLanes>(0, count, [&](auto lanes, int64_t i) {
      using L = LaneVector<In, lanes()>;
      typename L::V v, low, high, zero;
      L::load(x + first + i, v);
      L::fill(low, static_cast<In>(std::numeric_limits<Out>::min()));
      L::fill(high, static_cast<In>(std::numeric_limits<Out>::max()));
      L::fill(zero, In{0});
      v = v == v ? v : zero;
      v = v > low ? v : low;
      v = v < high ? v : high;
      L::store((kDirect ? reinterpret_cast<int32_t*>(y + first) : block) + i, v);
    });
    if constexpr (kDirect) continue;
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) y[first + i] = static_cast<Out>(block[i]);
  }
}

/// Whether int32_t has the integer that the number is cut to, and an Out of that sign can be. NaN
/// is none.
template <class In, class Out>
bool fits_int32(In value) {
  if constexpr (std::is_floating_point_v<In>) {
    constexpr In kHigh = In{0x1p31f}, kLow = std::is_signed_v<Out> ? -kHigh : In{0};
    return (value >= kLow) & (value < kHigh);
  } else if constexpr (std::is_signed_v<In>) {
    return static_cast<int32_t>(value) == value;
  } else {
    return value <= static_cast<In>(std::numeric_limits<int32_t>::max());
  }
}
/// Between real numbers and integers of more than 32 bits, where vectors convert from and to
/// int32_t alone: through it, block by block, if it holds all numbers of a block.
template <class In, class Out>
void cast_by_int32(const In* x, Out* y, int64_t n) {
  using Flags = std::conditional_t<sizeof(In) == 8, uint64_t, uint32_t>;
  for (int64_t first = 0; first < n; first += kFloatBlock) {
    const int64_t count = n - first < kFloatBlock ? n - first : kFloatBlock;
    const In* from = x + first;
    Out* to = y + first;
    Flags beyond = 0;
    for (int64_t i = 0; i < count; ++i) beyond |= fits_int32<In, Out>(from[i]) ? 0 : 1;
    if (beyond != 0) {
      cast_elements<In, Out>(from, to, count);
      continue;
    }
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<Out>(static_cast<int32_t>(from[i]));
  }
}

/// Conversions that AVX2 has no instructions for.
template <class In, class Out>
inline constexpr bool kWide = (std::is_floating_point_v<In> && std::is_integral_v<Out> &&
                               !std::is_same_v<Out, bool>) ||
                              (std::is_integral_v<In> && sizeof(In) == 8 &&
                               std::is_floating_point_v<Out>);

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
    } else if constexpr (std::is_same_v<Out, Float16> && !std::is_same_v<In, Float16>) {
      for_elements(context, context.output(0).count(), [&](int64_t begin, int64_t end) {
        const Isa isa = context.isa();
        float block[kFloatBlock];
        for (int64_t i = begin; i < end; i += kFloatBlock) {
          const int64_t n = end - i < kFloatBlock ? end - i : kFloatBlock;
          on_isa(isa, [&] { load_floats<In>(x + i, block, n); });
          from_floats(isa, block, y + i, n);
        }
      });
    } else if constexpr (std::is_same_v<In, Float16> && std::is_integral_v<Out>) {
      for_elements(context, context.output(0).count(), [&](int64_t begin, int64_t end) {
        const Isa isa = context.isa();
        float block[kFloatBlock];
        for (int64_t i = begin; i < end; i += kFloatBlock) {
          const int64_t n = end - i < kFloatBlock ? end - i : kFloatBlock;
          to_floats(isa, x + i, block, n);
          on_widest_isa(isa, [&] { cast_elements<float, Out>(block, y + i, n); });
        }
      });
    } else if constexpr (has_bounds<In, Out>()) {
      for_elements(context, context.output(0).count(), [&](int64_t begin, int64_t end) {
        on_vectors(context.isa(),
                   [=](auto bytes) { cast_by_bounds<bytes()>(x + begin, y + begin, end - begin); });
      });
    } else if constexpr (kWide<In, Out>) {
      for_elements(context, context.output(0).count(), [&](int64_t begin, int64_t end) {
        on_vectors(context.isa(), [=](auto bytes) {
          if constexpr (bytes() == 64 || !INTARSIA_HAS_VECTORS) {
            cast_elements<In, Out>(x + begin, y + begin, end - begin);
          } else {
            cast_by_int32(x + begin, y + begin, end - begin);
          }
        });
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
