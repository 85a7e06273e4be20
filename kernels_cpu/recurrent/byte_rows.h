// SPDX-License-Identifier: Apache-2.0
//
// Rows of floats as unsigned bytes, with a scale and a zero point such that the range of all
// numbers and 0 is 0 to 255: those of DynamicQuantizeLinear.
#pragma once

#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/quantization/integers.h"

namespace intarsia::cpu {

/// The range of numbers and 0.
struct FloatRange {
  float low = 0, high = 0;

  void merge(FloatRange other) {
    low = other.low < low ? other.low : low;
    high = other.high > high ? other.high : high;
  }

  INTARSIA_INLINE void extend(const float* x, int64_t count) {
    constexpr int kLanes = 32;
    float lows[kLanes], highs[kLanes];
    std::fill(lows, lows + kLanes, low);
    std::fill(highs, highs + kLanes, high);
    int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes) {
      for (int lane = 0; lane < kLanes; ++lane) {
        lows[lane] = x[i + lane] < lows[lane] ? x[i + lane] : lows[lane];
        highs[lane] = x[i + lane] > highs[lane] ? x[i + lane] : highs[lane];
      }
    }
    for (int lane = 0; lane < kLanes; ++lane) {
      low = lows[lane] < low ? lows[lane] : low;
      high = highs[lane] > high ? highs[lane] : high;
    }
    for (; i < count; ++i) {
      low = x[i] < low ? x[i] : low;
      high = x[i] > high ? x[i] : high;
    }
  }
};

struct ByteScale {
  float scale, zero;

  explicit ByteScale(const FloatRange& range) : scale((range.high - range.low) / 255) {
    if (!(scale > 0)) scale = 1;
    zero = static_cast<float>(quantized<uint8_t>(-range.low / scale, 0.0f));
  }

  /// The bytes of a row, up to a multiple of 4 with 0 behind the last one; gives their sum.
  uint32_t encode(Isa isa, const float* from, int64_t count, uint8_t* to) const {
    uint32_t sum = 0;
    on_widest_isa(isa, [&] { sum = encode_run(from, count, scale, zero, to); });
    for (; count % 4 != 0; ++count) to[count] = 0;
    return sum;
  }

 private:
  /// By value: bytes may alias whatever a closure refers to.
  INTARSIA_INLINE static uint32_t encode_run(const float* from, int64_t count, float scale,
                                             float zero, uint8_t* to) {
    uint32_t sum = 0;
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) {
      const auto code = static_cast<uint32_t>(quantized<uint8_t>(from[i] / scale, zero));
      to[i] = static_cast<uint8_t>(code);
      sum += code;
    }
    return sum;
  }
};

}  // namespace intarsia::cpu
