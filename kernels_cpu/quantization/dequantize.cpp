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

/// Writes a part: `differences` by their scales.
template <class Y, class W>
void store(const W* differences, const float* scales, int64_t count, void* y, int64_t part) {
  auto* to = static_cast<typename Element<Y>::Stored*>(y) + part;
  for (int64_t i = 0; i < count; ++i)
    to[i] = Element<Y>::store(static_cast<float>(differences[i]) * scales[i]);
}

template <class W>
Status dequantize(const KernelContext& context, LoadNumbers<W> load,
                  decltype(&store<float, W>) store_part) {
  const auto& a = context.attributes<DequantizeAttributes>();
  const TensorView& scale = context.input(1);
  const auto* x = context.input(0).as<const std::byte>();
  const auto* zero = context.input(2).as<const std::byte>();
  void* y = context.output(0).data;
  const Granularity granularity(context.input(0), scale, a.axis, a.block_size);
  for_elements(context, context.output(0).count(), [&](int64_t begin, int64_t end) {
    W differences[kPart];
    float scales[kPart];
    for (int64_t part = begin; part < end; part += kPart) {
      const int64_t stop = std::min(part + kPart, end);
      load(x, part, 1, stop - part, differences);
      granularity.for_pieces(part, stop,
                             [&](int64_t first, int64_t count, int64_t index, int64_t step) {
                               load_scales(scale, index, step, count, scales + (first - part));
                               if (zero == nullptr) return;
                               W zeros[kPart];
                               load(zero, index, step, count, zeros);
                               W* to = differences + (first - part);
                               for (int64_t i = 0; i < count; ++i) to[i] -= zeros[i];
                             });
      store_part(differences, scales, stop - part, y, part);
    }
  });
  return {};
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
    return dequantize<Wide>(context, &load_numbers<X, Wide>, &store<Y, Wide>);
  }
};

}  // namespace

using Quantized = Join<SmallFloats, SmallIntegers, Types<int8_t, uint8_t, int16_t, uint16_t>>;
extern const KernelList dequantize_kernels;
constinit const KernelList dequantize_kernels = kernel_list<
    EachPair<DequantizeLinear, Join<Quantized, Types<int32_t>>, Types<float, Float16, BFloat16>>>();

}  // namespace intarsia::cpu
