// SPDX-License-Identifier: Apache-2.0
//
// What the kernels of ConvRequantize share: y = Requantize(ConvInteger(x, w)), where the sums, four
// times the bytes of y, never are a tensor.
#pragma once

#include <algorithm>

#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/nn/conv_integer.h"
#include "kernels_cpu/quantization/requantize.h"

namespace intarsia::cpu {

template <class X, class W, class Y>
Status check_conv_requantize(const KernelContext& context) {
  constexpr KernelType x = kernel_type_of<X>, w = kernel_type_of<W>, y = kernel_type_of<Y>;
  return check_operands<ops::ConvRequantize>(
      context, {.inputs = {x, w, kernel_type_of<float>, y, x, w, kernel_type_of<int32_t>},
                .required_inputs = 4,
                .outputs = {y}});
}

/// K<X, W, Y> for bytes of any kind.
template <template <class...> class K, class X>
struct OfImage {
  template <class W, class Y>
  using Kernel = K<X, W, Y>;
};
template <template <class...> class K, class Bytes = Types<int8_t, uint8_t>>
using EachOfBytes = Join<EachPair<OfImage<K, int8_t>::template Kernel, Bytes, Bytes>,
                         EachPair<OfImage<K, uint8_t>::template Kernel, Bytes, Bytes>>;

/// The scale and the bias of each filter, and the zero point of the result.
template <class Y>
struct FilterCodes {
  const float* scale;
  const int32_t* bias;  ///< Null: 0.
  int64_t scale_step, bias_step;
  float zero;

  explicit FilterCodes(const KernelContext& context)
      : scale(context.input(2).as<const float>()),
        bias(context.input(6).as<const int32_t>()),
        scale_step(context.input(2).count() > 1 ? 1 : 0),
        bias_step(context.input(6).present() && context.input(6).count() > 1 ? 1 : 0),
        zero(static_cast<float>(*context.input(3).as<const Y>())) {}

  /// Those of filters [first, first + count), so many times.
  void load(int64_t first, int64_t count, int64_t times, RequantizeFactors& to) const {
    for (int64_t i = 0; i < count; ++i) {
      to.scale[i] = scale[(first + i) * scale_step];
      to.bias[i] = bias != nullptr ? bias[(first + i) * bias_step] : 0;
    }
    for (int64_t done = count; done < count * times; done += count) {
      std::copy(to.scale, to.scale + count, to.scale + done);
      std::copy(to.bias, to.bias + count, to.bias + done);
    }
  }

  /// y = rows of the sums of filters [first, first + filters), which lie without gaps; rows of y
  /// are `pitch` apart.
  void store(const uint32_t* sums, int64_t rows, int64_t first, int64_t filters, Y* y,
             int64_t pitch, Isa isa) const {
    RequantizeFactors factors;
    for (int64_t c = 0, count; c < filters; c += count) {
      count = std::min(filters - c, kHeldFactors);
      const bool dense = count == filters && pitch == filters;
      const int64_t lines = dense ? std::min(kHeldFactors / count, rows) : 1;
      load(first + c, count, lines, factors);
      const auto* from = reinterpret_cast<const int32_t*>(sums) + c;
      for (int64_t row = 0, some; row < rows; row += some) {
        some = std::min(lines, rows - row);
        on_widest_isa(isa, [&] {
          requantize(from + row * filters, factors.scale, factors.bias, some * count, zero,
                     y + row * pitch + c);
        });
      }
    }
  }
};

}  // namespace intarsia::cpu
