// SPDX-License-Identifier: Apache-2.0
//
// Reference ConvRequantize.
#include "kernels_cpu/nn/conv_requantize.h"

#include "core/kernel_list.h"
#include "kernels_cpu/nn/conv_integer_rows.h"

namespace intarsia::cpu {
namespace {

/// Sums start as the bias.
template <class Y>
struct Codes {
  FilterCodes<Y> by;
  Y* y;
  int64_t filters, plane;  ///< Channels first: elements of a plane; last: 1.

  uint32_t start(int64_t filter) const {
    return by.bias != nullptr ? static_cast<uint32_t>(by.bias[filter * by.bias_step]) : 0;
  }
  void store(int64_t at, uint32_t sum) const {
    const float scale = by.scale[at / plane % filters * by.scale_step];
    const auto number = static_cast<float>(static_cast<int32_t>(sum));
    y[at] = static_cast<Y>(quantized<Y>(number * scale, by.zero));
  }
};

template <class X, class W, class Y>
struct ConvRequantize {
  static constexpr KernelId id{
      "intarsia:ConvRequantize", "", {kernel_type_of<X>, kernel_type_of<W>, kernel_type_of<Y>}};

  static Status check(const KernelContext& context) {
    return check_conv_requantize<X, W, Y>(context);
  }
  static Status run(const KernelContext& context) {
    const TensorView& y = context.output(0);
    if (y.count() == 0) return {};
    const int64_t filters = context.input(1).extents[0];
    const bool last = context.attributes<IntegerConvAttributes>().channels_last != 0;
    const int64_t plane = last ? 1 : y.count() / y.extents[0] / filters;
    convolve_bytes(context, kRequantizedZeroPoints,
                   Codes<Y>{FilterCodes<Y>(context), y.as<Y>(), filters, plane});
    return {};
  }
};

}  // namespace

extern const KernelList conv_requantize_kernels;
constinit const KernelList conv_requantize_kernels = kernel_list<EachOfBytes<ConvRequantize>>();

}  // namespace intarsia::cpu
