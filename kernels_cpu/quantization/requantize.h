// SPDX-License-Identifier: Apache-2.0
//
// y = saturate(round((x + bias) * scale) + zero point): sums of products of quantised tensors as
// quantised numbers.
#pragma once

#include "kernels_cpu/quantization/integers.h"

namespace intarsia::cpu {

/// Elements whose factors are held ready, more than a part: whole lines of channels.
inline constexpr int64_t kHeldFactors = 1024;

/// Scale and bias of some elements.
struct RequantizeFactors {
  float scale[kHeldFactors];
  int32_t bias[kHeldFactors];
};

/// y[i] = the result for x[i]. By value: bytes may alias whatever a closure refers to.
template <class Y>
INTARSIA_INLINE void requantize(const int32_t* x, const float* scale, const int32_t* bias,
                                int64_t count, float zero, Y* y) {
  INTARSIA_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) {
    const auto sum =
        static_cast<int32_t>(static_cast<uint32_t>(x[i]) + static_cast<uint32_t>(bias[i]));
    y[i] = static_cast<Y>(quantized<Y>(static_cast<float>(sum) * scale[i], zero));
  }
}

}  // namespace intarsia::cpu
