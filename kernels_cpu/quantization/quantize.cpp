// SPDX-License-Identifier: Apache-2.0
//
// QuantizeLinear: y = saturate(round(x / scale) + zero_point).
//
// The quotient is rounded to the type that attribute precision names, or that the scale has, and
// then to the nearest integer, ties to even; NaN becomes the lowest one. Floating-point results are
// rounded once, with the zero point added.
// Specification: https://onnx.ai/onnx/operators/onnx__QuantizeLinear.html
#include <cmath>

#include "core/kernel_list.h"
#include "core/operators/quantization/quantize.h"
#include "kernels_cpu/elementwise/binary_broadcast.h"
#include "kernels_cpu/quantization/granularity.h"
#include "kernels_cpu/quantization/integers.h"
#include "kernels_cpu/quantization/scales.h"

namespace intarsia::cpu {
namespace {

/// The type that quotients are rounded to.
DataType precision_of(const QuantizeAttributes& a, const TensorView& scale) {
  const auto named = static_cast<DataType>(a.precision);
  return named != DataType::kUndefined ? named : scale.type;
}

template <class W>
void round_to(DataType precision, int64_t count, W* values) {
  if (precision == DataType::kFloat16) {
    for (int64_t i = 0; i < count; ++i)
      values[i] = static_cast<float>(Float16(to_float(values[i])));
  } else if (precision == DataType::kBfloat16) {
    for (int64_t i = 0; i < count; ++i) {
      values[i] = static_cast<float>(BFloat16(to_float(values[i])));
    }
  } else if (precision == DataType::kFloat) {
    for (int64_t i = 0; i < count; ++i) values[i] = static_cast<float>(values[i]);
  }
}

template <class Y>
constexpr bool is_float_code() {
  if constexpr (is_small<Y>) {
    return is_small_float<small_type<Y>>;
  } else {
    return false;
  }
}

/// What a part is made of.
template <class W>
struct QuantizedPart {
  const W* values;
  const PartScales<W>& scales;
  int64_t begin, count;
  bool has_zeros;
  Encoding encoding;
  Isa isa;
};

/// The integer of a product with a factor; 1 if it lies where the quotient might give another.
template <class Y, class To>
INTARSIA_INLINE int32_t multiply(float value, float factor, int32_t zero, To* to) {
  constexpr float kNear = 0.5f - 0x1p-13f;
  const float quotient = value * factor;
  const float rest = std::fabs(quotient - ((quotient + kAnchor) - kAnchor));
  *to = static_cast<To>(quantized_number<Y>(quotient, zero));
  return rest < kNear ? 0 : 1;  // NaN is not
}

/// Those of runs of one scale; true if there is such a one. By value: what is stored may alias what
/// a closure refers to.
template <class Y, class To>
INTARSIA_INLINE bool multiply_runs(const float* values, const float* scales, const float* zeros,
                                   int64_t length, int64_t count, To* to) {
  int32_t any = 0;
  for (int64_t begin = 0; begin < count; begin += length) {
    const float factor = 1 / *scales++;
    const auto zero = static_cast<int32_t>(*zeros++);
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < length; ++i) {
      any |= multiply<Y>(values[begin + i], factor, zero, to + begin + i);
    }
  }
  return any != 0;
}

/// The same of groups. Integers of 32 bits first: vectors of all others are as small as a group of
/// them is.
template <class Y, class To>
INTARSIA_INLINE bool multiply_groups(const float* values, const float* scales, const float* zeros,
                                     int64_t groups, To* to) {
  int32_t any[kGroup] = {}, integers[kPart];
  for (int64_t group = 0; group < groups; ++group) {
    const float factor = 1 / scales[group];
    const auto zero = static_cast<int32_t>(zeros[group]);
    const float* from = values + group * kGroup;
    int32_t* numbers = integers + group * kGroup;
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < kGroup; ++i) any[i] |= multiply<Y>(from[i], factor, zero, numbers + i);
  }
  narrow(integers, groups * kGroup, to);
  int32_t all = 0;
  for (const int32_t each : any) all |= each;
  return all != 0;
}

/// The integers of quotients by scales of their own; true if one is NaN.
template <class Y, class To>
INTARSIA_INLINE bool divide_run(const float* values, const float* scales, const float* zeros,
                                int64_t count, To* to) {
  int32_t any = 0;
  INTARSIA_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) {
    const float quotient = values[i] / scales[i];
    any |= quotient == quotient ? 0 : 1;
    to[i] = static_cast<To>(quantized_number<Y>(quotient, static_cast<int32_t>(zeros[i])));
  }
  return any != 0;
}

/// The integers of a part in float. With one scale by products with its reciprocal, where these
/// cannot be others: quotients that the type can hold are less than 512, so that the product is off
/// by less than 2^-13, which matters only next to the middle between two integers. False if there
/// is one, or another reason to compute in double.
template <class Y, class W, class To>
bool quantize_part(const QuantizedPart<W>& part, [[maybe_unused]] To* to) {
  if constexpr (!std::is_same_v<W, float> || kHighest < Y >> 255) {
    return false;
  } else {
    const float *scales = part.scales.scales, *zeros = part.scales.zeros;
    const int64_t count = part.count, each = part.scales.each;
    bool again = false;
    if (each == 1) {
      on_widest_isa(part.isa,
                    [&] { again = divide_run<Y>(part.values, scales, zeros, count, to); });
      return !again;
    }
    const int64_t length = each < count ? each : count;
    const float* scale = scales;
    for (int64_t begin = 0; begin < count; begin += length) {
      const float size = std::fabs(*scale++);
      if (!(size > 0x1p-100f && size < 0x1p100f)) return false;
    }
    on_widest_isa(part.isa, [&] {
      if (INTARSIA_HAS_VECTORS && each == kGroup) {
        again = multiply_groups<Y>(part.values, scales, zeros, count / kGroup, to);
      } else {
        again = multiply_runs<Y>(part.values, scales, zeros, length, count, to);
      }
    });
    return !again;
  }
}

/// Writes a part.
template <class Y, class W>
void store(const QuantizedPart<W>& part, std::byte* y) {
  const W* values = part.values;
  [[maybe_unused]] const auto store_numbers = [&](const auto* numbers) {
    on_widest_isa(part.isa, [=, begin = part.begin, count = part.count, how = part.encoding] {
      store_elements<small_type<Y>>(numbers, begin, count, how, y);
    });
  };
  if constexpr (is_float_code<Y>()) {
    W sums[kPart];
    W* to = sums;
    const bool has_zeros = part.has_zeros;
    for_scaled(part.isa, part.scales, part.count, [=](int64_t i, W scale, W zero) {
      const W quotient = values[i] / scale;
      to[i] = has_zeros ? quotient + zero : quotient;  // -0 + 0 is 0
    });
    store_numbers(sums);
  } else {
    int32_t integers[kPart];
    int32_t* to = integers;
    const auto divide = [&] {
      for_scaled(part.isa, part.scales, part.count, [=](int64_t i, W scale, W zero) {
        to[i] = quantized<Y>(values[i] / scale, zero);
      });
    };
    if constexpr (is_small<Y>) {
      if (!quantize_part<Y>(part, to)) divide();
      store_numbers(integers);
    } else {
      Y* out = reinterpret_cast<Y*>(y) + part.begin;
      if (quantize_part<Y>(part, out)) return;
      divide();
      on_widest_isa(part.isa, [&] { narrow(to, part.count, out); });
    }
  }
}

template <class W>
Status quantize(const KernelContext& context, Loader<W> load, Loader<W> load_zeros,
                decltype(&store<uint8_t, W>) store_part) {
  const auto& a = context.attributes<QuantizeAttributes>();
  const TensorView& scale = context.input(1);
  const TensorView& input = context.input(0);
  const auto* x = input.as<const std::byte>();
  const auto* zero = context.input(2).as<const std::byte>();
  auto* y = context.output(0).as<std::byte>();
  const DataType precision = precision_of(a, scale);
  const bool rounds = data_type_of<W> != precision;
  const bool in_place = input.type == data_type_of<W>;
  const Encoding encoding{a.saturate != 0, PowerRounding::kUp};
  const Granularity granularity(input, scale, a.axis, a.block_size);
  const Isa isa = context.isa();
  for_elements(context, context.output(0).count(), [&](int64_t begin, int64_t end) {
    W values[kPart];
    PartScales<W> scales;
    int64_t known = begin;  // the scales are those of the elements before
    for (int64_t first = begin, count = 0; first < end; first += count) {
      count = granularity.part(first, end);
      if (first + count > known || rounds) {
        scales.load(isa, granularity, scale, zero, load_zeros, first, first + count);
        known = first + (scales.each == kAll ? granularity.shared(first) : count);
      }
      const W* from = reinterpret_cast<const W*>(x) + first;
      if (rounds || !in_place) {
        load.run(isa, x, first, count, values);
        from = values;
      }
      if (rounds) {
        round_to(precision, count, values);
        W* to = values;
        for_scaled(isa, scales, count, [=](int64_t i, W by, W) { to[i] /= by; });
        round_to(precision, count, values);
        std::fill(scales.room, scales.room + count, W{1});
        scales.scales = scales.room;
      }
      store_part({from, scales, first, count, zero != nullptr, encoding, isa}, y);
    }
  });
  return {};
}

template <class X, class Y>
struct QuantizeLinear {
  static constexpr KernelId id{"QuantizeLinear", "", {kernel_type_of<X>, kernel_type_of<Y>}};

  static Status check(const KernelContext& context) {
    constexpr KernelType y = kernel_type_of<Y>;
    Status status = check_operands<ops::QuantizeLinear>(
        context,
        {.inputs = {kernel_type_of<X>, kAnyType, y}, .required_inputs = 2, .outputs = {y}});
    return status ? check_scale_type(context, true) : status;
  }

  static Status run(const KernelContext& context) {
    using Wide = std::conditional_t<std::is_same_v<X, int32_t>, double, float>;
    return quantize<Wide>(context, loader_of<X, Wide>(), loader_of<Y, Wide>(), &store<Y, Wide>);
  }
};

}  // namespace

using Quantized = Join<SmallFloats, SmallIntegers, Types<int8_t, uint8_t, int16_t, uint16_t>>;
extern const KernelList quantize_kernels;
constinit const KernelList quantize_kernels =
    kernel_list<EachPair<QuantizeLinear, Types<float, Float16, BFloat16, int32_t>, Quantized>>();

}  // namespace intarsia::cpu
