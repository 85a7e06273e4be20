// SPDX-License-Identifier: Apache-2.0
//
// What the kernels of ConvRequantize share: y = Requantize(ConvInteger(x, w)), where the sums, four
// times the bytes of y, never are a tensor.
#pragma once

#include <algorithm>
#include <cstring>

#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/gemm/byte_codes.h"
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

template <class Y>
class CodeColumns;

/// The scale and the bias of each filter, and the zero point of the result.
template <class Y>
struct FilterCodes {
  const float* scale;
  const int32_t* bias;  ///< Null: 0.
  int64_t scale_step, bias_step;
  float zero;
  Isa isa;

  explicit FilterCodes(const KernelContext& context)
      : scale(context.input(2).as<const float>()),
        bias(context.input(6).as<const int32_t>()),
        scale_step(context.input(2).count() > 1 ? 1 : 0),
        bias_step(context.input(6).present() && context.input(6).count() > 1 ? 1 : 0),
        zero(static_cast<float>(*context.input(3).as<const Y>())),
        isa(context.isa()) {}

  /// Writes those of filters [first, first + count).
  void list(int64_t first, int64_t count, float* scales, int32_t* biases) const {
    for (int64_t i = 0; i < count; ++i) {
      scales[i] = scale[(first + i) * scale_step];
      biases[i] = bias != nullptr ? bias[(first + i) * bias_step] : 0;
    }
  }
  /// Those of filters [first, first + count).
  CodeColumns<Y> columns(int64_t first, int64_t count, int64_t pitch) const;
  /// y = rows of the sums of all filters, which lie without gaps, as y: whole panels by
  /// instructions for codes where there are such.
  void store(const uint32_t* sums, int64_t rows, int64_t filters, Y* y) const {
    const int64_t whole = has_code_tiles(isa) ? filters / kPanel * kPanel : 0;
    for (int64_t c = 0, count; c < whole; c += count) {
      count = std::min(whole - c, kHeldFactors);
      RequantizeFactors factors;
      list(c, count, factors.scale, factors.bias);
      const auto size = [](int64_t number) { return static_cast<ptrdiff_t>(number); };
      store_codes({sums + c, size(filters), 0, size(rows), 0, size(count / kPanel)},
                  {factors.scale, factors.bias, static_cast<int32_t>(zero), std::is_signed_v<Y>,
                   size(count), reinterpret_cast<uint8_t*>(y + c), size(filters)},
                  isa);
    }
    for (int64_t c = whole, count; c < filters; c += count) {
      count = std::min(filters - c, kHeldFactors);
      columns(c, count, filters).store(sums + c, rows, y + c, filters);
    }
  }
};

/// Scale and bias of some filters, held ready for as many lines of their sums as there is room for.
template <class Y>
class CodeColumns {
 public:
  /// Lines of sums are `pitch` apart. REQUIRES: count <= kHeldFactors.
  CodeColumns(const FilterCodes<Y>& by, int64_t first, int64_t count, int64_t pitch)
      : count_(count),
        pitch_(pitch),
        lines_(std::max<int64_t>(kHeldFactors / pitch, 1)),
        zero_(by.zero),
        isa_(by.isa) {
    float* scale = factors_.scale;
    int32_t* bias = factors_.bias;
    by.list(first, count, scale, bias);
    if (lines_ == 1) return;
    std::fill(scale + count, scale + pitch, 0.0f);
    std::fill(bias + count, bias + pitch, 0);
    for (int64_t at = pitch; at < lines_ * pitch; at += pitch) {
      std::copy(scale, scale + pitch, scale + at);
      std::copy(bias, bias + pitch, bias + at);
    }
  }

  /// y = rows of the filters' codes, `y_pitch` apart.
  void store(const uint32_t* sums, int64_t rows, Y* y, int64_t y_pitch) const {
    const bool dense = pitch_ == count_ && y_pitch == count_;
    Y held[kHeldFactors];
    for (int64_t row = 0, some; row < rows; row += some) {
      some = std::min(lines_, rows - row);
      const auto* from = reinterpret_cast<const int32_t*>(sums) + row * pitch_;
      Y* to = y + row * y_pitch;
      // Lines with gaps, too, are converted as one.
      const int64_t codes = (some - 1) * pitch_ + count_;
      on_widest_isa(isa_, [&] {
        requantize(from, factors_.scale, factors_.bias, codes, zero_, dense ? to : held);
      });
      for (int64_t i = 0; !dense && i < some; ++i) {
        std::memcpy(to + i * y_pitch, held + i * pitch_, static_cast<size_t>(count_));
      }
    }
  }

 private:
  RequantizeFactors factors_;
  int64_t count_, pitch_, lines_;
  float zero_;
  Isa isa_;
};

template <class Y>
CodeColumns<Y> FilterCodes<Y>::columns(int64_t first, int64_t count, int64_t pitch) const {
  return {*this, first, count, pitch};
}

}  // namespace intarsia::cpu
