// SPDX-License-Identifier: Apache-2.0
//
// DequantizeLinear: y = (x - zero_point) * scale.
//
// The difference is exact, the product is in float and rounded once more where y is narrower.
// Specification: https://onnx.ai/onnx/operators/onnx__DequantizeLinear.html
#include "core/kernel_list.h"
#include "core/operators/quantization/quantize.h"
#include "kernels_cpu/elementwise/binary_broadcast.h"
#include "kernels_cpu/quantization/granularity.h"
#include "kernels_cpu/quantization/scales.h"

namespace intarsia::cpu {
namespace {

/// Writes a part of numbers without their zero points, by their scales.
template <class Y, class W>
void store(Isa isa, const W* numbers, const PartScales<W>& scales, int64_t count, void* y,
           int64_t begin) {
  auto* to = static_cast<typename Element<Y>::Stored*>(y) + begin;
  if constexpr (std::is_same_v<Y, Float16>) {
    float products[kPart];
    store<float>(isa, numbers, scales, count, products, 0);
    from_floats(isa, products, to, count);
  } else {
    for_scaled(isa, scales, count, [=](int64_t i, W scale, W zero) {
      to[i] = Element<Y>::store(static_cast<float>(numbers[i] - zero) * static_cast<float>(scale));
    });
  }
}

/// A part of x, and where it goes.
template <class W>
struct DequantizedPart {
  Isa isa;
  const std::byte* x;
  int64_t first, count;
  const PartScales<W>& scales;
  void* y;
};

/// Integers become floats in one step; what else there is, by a block of numbers.
template <class X, class Y, class W>
void dequantize_part(const DequantizedPart<W>& part) {
  if constexpr (std::is_integral_v<X> && std::is_same_v<Y, float> && std::is_same_v<W, float>) {
    const X* from = reinterpret_cast<const X*>(part.x) + part.first;
    float* to = static_cast<float*>(part.y) + part.first;
    for_scaled(part.isa, part.scales, part.count, [=](int64_t i, float scale, float zero) {
      to[i] = (static_cast<float>(from[i]) - zero) * scale;
    });
  } else {
    W numbers[kPart];
    load_run<X>(part.isa, part.x, part.first, part.count, numbers);
    store<Y>(part.isa, numbers, part.scales, part.count, part.y, part.first);
  }
}

template <class W>
Status dequantize(const KernelContext& context, Loader<W> load_zeros,
                  void (*part)(const DequantizedPart<W>&)) {
  const auto& a = context.attributes<DequantizeAttributes>();
  const TensorView& scale = context.input(1);
  const auto* x = context.input(0).as<const std::byte>();
  const auto* zero = context.input(2).as<const std::byte>();
  void* y = context.output(0).data;
  const Granularity granularity(context.input(0), scale, a.axis, a.block_size);
  const Isa isa = context.isa();
  const auto compute = [&](int64_t begin, int64_t end) {
    PartScales<W> scales;
    int64_t known = begin;  // the scales are those of the elements before
    for (int64_t first = begin, count = 0; first < end; first += count) {
      count = granularity.part(first, end);
      if (first + count > known) {
        scales.load(isa, granularity, scale, zero, load_zeros, first, first + count);
        known = first + (scales.each == kAll ? granularity.shared(first) : count);
      }
      part({isa, x, first, count, scales, y});
    }
  };
  // Which take half a microsecond: another thread would come too late, and who reads so few is
  // often alone as well.
  constexpr int64_t kFew = 8192;
  const int64_t elements = context.output(0).count();
  if (elements > kFew) {
    for_elements(context, elements, compute);
  } else if (elements > 0) {
    compute(0, elements);
  }
  return {};
}

/// True if an operand of T is absent or all of its elements are 0, as ONNX asks of int32.
template <class T>
bool all_zero(const TensorView& view) {
  const int64_t count = view.present() ? view.count() : 0;
  for (int64_t i = 0; i < count; ++i) {
    if (view.as<const T>()[i] != 0) return false;
  }
  return true;
}

template <class X, class Y>
struct DequantizeLinear {
  static constexpr KernelId id{"DequantizeLinear", "", {kernel_type_of<X>, kernel_type_of<Y>}};
  /// Holds every difference.
  using Wide = std::conditional_t<std::is_same_v<X, int32_t>, double, float>;

  static Status check(const KernelContext& context) {
    constexpr KernelType x = kernel_type_of<X>;
    Status status = check_operands<ops::DequantizeLinear>(
        context,
        {.inputs = {x, kAnyType, x}, .required_inputs = 2, .outputs = {kernel_type_of<Y>}});
    return status ? check_scale_type(context, false) : status;
  }

  static Status run(const KernelContext& context) {
    if constexpr (!std::is_same_v<Wide, float>) {
      // Nothing is subtracted: elements may be rounded before.
      if (all_zero<X>(context.input(2))) {
        return dequantize<float>(context, loader_of<X, float>(), &dequantize_part<X, Y, float>);
      }
    }
    return dequantize<Wide>(context, loader_of<X, Wide>(), &dequantize_part<X, Y, Wide>);
  }
};

}  // namespace

using Quantized = Join<SmallFloats, SmallIntegers, Types<int8_t, uint8_t, int16_t, uint16_t>>;
extern const KernelList dequantize_kernels;
constinit const KernelList dequantize_kernels = kernel_list<
    EachPair<DequantizeLinear, Join<Quantized, Types<int32_t>>, Types<float, Float16, BFloat16>>>();

}  // namespace intarsia::cpu
