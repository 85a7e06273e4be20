// SPDX-License-Identifier: Apache-2.0
//
// Requantize: y = saturate(round((x + bias) * scale) + zero point), what is left of a product of
// quantised tensors.
//
// Sums of 32 bits become floats, rounded, and so are their products with the scale; the nearest
// integer of these, ties to even, is that of the runtimes that people compare with.
#include "kernels_cpu/quantization/requantize.h"
#include "core/kernel_list.h"
#include "core/operators/quantization/quantize.h"
#include "kernels_cpu/elementwise/binary_broadcast.h"
#include "kernels_cpu/quantization/granularity.h"

namespace intarsia::cpu {
namespace {

/// `values` of the positions of a part, each as often as there are elements.
template <class T>
void spread(const Granularity& granularity, const TensorView& values, int64_t begin, int64_t end,
            T* to) {
  if (!values.present()) {
    std::fill(to, to + (end - begin), T{});
    return;
  }
  const auto* from = values.as<const T>();
  granularity.for_pieces(begin, end,
                         [&](int64_t first, int64_t count, int64_t index, int64_t step, int64_t) {
                           T* piece = to + (first - begin);
                           if (step == 0) {
                             std::fill(piece, piece + count, from[index]);
                           } else {
                             std::copy(from + index, from + index + count, piece);
                           }
                         });
}

/// After how many elements factors come again: 0 if they do not, or too late to be held.
int64_t line_of(const TensorView& x, int32_t axis, bool single) {
  if (single) return 1;
  const AxisLoop loop(x, axis);
  return loop.inner == 1 && loop.length <= kHeldFactors ? loop.length : 0;
}

template <class Y>
struct Requantize {
  static constexpr KernelId id{"intarsia:Requantize", "", {kernel_type_of<Y>}};

  static Status check(const KernelContext& context) {
    constexpr KernelType x = kernel_type_of<int32_t>, y = kernel_type_of<Y>;
    return check_operands<ops::Requantize>(
        context,
        {.inputs = {x, kernel_type_of<float>, y, x}, .required_inputs = 3, .outputs = {y}});
  }

  static Status run(const KernelContext& context) {
    const int32_t axis = context.attributes<RequantizeAttributes>().axis;
    const TensorView &input = context.input(0), &scales = context.input(1),
                     &biases = context.input(3);
    const Granularity of_scale(input, scales, axis, 0);
    const Granularity of_bias(input, biases.present() ? biases : scales, axis, 0);
    const auto zero = static_cast<float>(*context.input(2).as<const Y>());
    const auto* x = input.as<const int32_t>();
    Y* y = context.output(0).as<Y>();
    const int64_t line = line_of(input, axis, of_scale.is_single() && of_bias.is_single());
    for_elements(context, context.output(0).count(), [&](int64_t begin, int64_t end) {
      const int64_t held = line == 0 ? 0 : kHeldFactors / line * line;
      RequantizeFactors factors;
      const auto make = [&](int64_t first, int64_t last) {
        spread(of_scale, scales, first, last, factors.scale);
        spread(of_bias, biases, first, last, factors.bias);
      };
      // Those of any element are those one or several lines before it.
      if (held > 0) make(begin, std::min(begin + held, end));
      for (int64_t first = begin, count; first < end; first += count) {
        count = std::min(end - first, held > 0 ? held : kPart);
        if (held == 0) make(first, first + count);
        on_widest_isa(context.isa(), [&] {
          requantize(x + first, factors.scale, factors.bias, count, zero, y + first);
        });
      }
    });
    return {};
  }
};

}  // namespace

extern const KernelList requantize_kernels;
constinit const KernelList requantize_kernels =
    kernel_list<Each<Requantize, Types<int8_t, uint8_t>>>();

}  // namespace intarsia::cpu
