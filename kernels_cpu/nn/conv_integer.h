// SPDX-License-Identifier: Apache-2.0
//
// What the kernels of ONNX ConvInteger share: y = sum of (x - x_zero) * (w - w_zero), in 32 bits,
// which wrap around; in the padding x is x_zero. One zero point of x, one of w or one for each
// filter.
#pragma once

#include <algorithm>

#include "core/operators/nn/conv.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/nn/conv_shape.h"

namespace intarsia::cpu {

template <class X, class W>
Status check_conv_integer(const KernelContext& context) {
  constexpr KernelType x = kernel_type_of<X>, w = kernel_type_of<W>;
  return check_operands<ops::ConvInteger>(
      context,
      {.inputs = {x, w, x, w}, .required_inputs = 2, .outputs = {kernel_type_of<int32_t>}});
}
/// What fast kernels, for images of at most 3 spatial axes, ask for besides.
inline Status check_fast_image(const KernelContext& context, int32_t channels_last = 1) {
  const int32_t last = context.attributes<IntegerConvAttributes>().channels_last;
  return check_image(context, last, 3, channels_last);
}
template <class X, class W>
Status check_fast_conv_integer(const KernelContext& context) {
  if (Status status = check_conv_integer<X, W>(context); !status) return status;
  return check_fast_image(context);
}

/// Where ConvInteger has the zero points, and where ConvRequantize has.
inline constexpr int kZeroPoints = 2, kRequantizedZeroPoints = 4;

/// For `supports`: whether weights and their zero points are constant, and there are any.
inline bool has_constant_filters(const KernelContext& context, int zero_points) {
  const TensorView &w = context.input(1), &zero = context.input(zero_points + 1);
  return w.data != nullptr && w.count() > 0 && (!zero.present() || zero.data != nullptr);
}

/// The bytes of an operand, signed or not, and its zero points.
struct ByteOperand {
  const uint8_t* data;
  const uint8_t* zeros;
  int64_t zero_step;  ///< From that of one filter to the next: 0 or 1.
  uint8_t flip;  ///< What makes bytes unsigned: 0x80 of signed ones, which are 128 larger then.

  /// `zero_points`: input that holds those of the image; the next one has those of the weights.
  ByteOperand(const KernelContext& context, int input, int zero_points) {
    static constexpr uint8_t kNone = 0;
    const TensorView& zero = context.input(zero_points + input);
    data = context.input(input).as<const uint8_t>();
    zeros = zero.present() ? zero.as<const uint8_t>() : &kNone;
    zero_step = zero.present() && zero.count() > 1 ? 1 : 0;
    flip = context.input(input).type == DataType::kInt8 ? 0x80 : 0;
  }
  /// Whether bytes of `filters` filters, made signed, are their differences to the zero points.
  bool is_symmetric(int64_t filters) const {
    return std::all_of(zeros, zeros + (zero_step != 0 ? filters : 1),
                       [this](uint8_t zero) { return (zero ^ flip) == 0x80; });
  }
  /// `byte` without the zero point of filter `index`.
  int difference(uint8_t byte, int64_t index) const {
    return (byte ^ flip) - (zeros[index * zero_step] ^ flip);
  }
};

}  // namespace intarsia::cpu
