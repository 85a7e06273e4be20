// SPDX-License-Identifier: Apache-2.0
//
// Rows of floats as unsigned bytes, with a scale and a zero point such that the range of all
// numbers and 0 is 0 to 255: those of DynamicQuantizeLinear.
#pragma once

#include <cstring>

#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/common/lane_vector.h"
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
    constexpr int kLanes = 16;
    using L = LaneVector<float, kLanes>;
    const auto take = [](const auto& v, auto& least, auto& most) __attribute__((always_inline)) {
      least = v < least ? v : least;
      most = v > most ? v : most;
    };
    L::V v, least[2], most[2];
    for (auto& each : least) L::fill(each, low);
    for (auto& each : most) L::fill(each, high);
    int64_t i = 0;
    for (; i + 2 * kLanes <= count; i += 2 * kLanes) {
      L::load(x + i, v);
      take(v, least[0], most[0]);
      L::load(x + i + kLanes, v);
      take(v, least[1], most[1]);
    }
    float lows[2 * kLanes], highs[2 * kLanes];
    std::memcpy(lows, least, sizeof lows);
    std::memcpy(highs, most, sizeof highs);
    for (int half = kLanes; half > 0; half /= 2) {
      for (int lane = 0; lane < half; ++lane) {
        take(lows[lane + half], lows[lane], highs[lane]);
        take(highs[lane + half], lows[lane], highs[lane]);
      }
    }
    low = lows[0];
    high = highs[0];
    for (; i < count; ++i) take(x[i], low, high);
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
