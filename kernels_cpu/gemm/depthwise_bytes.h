// SPDX-License-Identifier: Apache-2.0
//
// Depthwise convolution of bytes in NDHWC, one filter for each channel: exact sums of 32 bits of
// (x - x_zero) * (w - w_zero), which wrap around; in the padding x is x_zero.
#pragma once

#include "kernels_cpu/gemm/conv.h"
#include "kernels_cpu/gemm/typed.h"
#include "kernels_cpu/gemm/vector.h"

namespace intarsia::cpu {

struct DepthwiseBytes {
  ConvShape shape;  ///< groups == in_c == out_c; no pitches but in_c.
  const uint8_t* input;
  const uint8_t* zero;    ///< Of the input.
  uint8_t flip;           ///< 0x80 of signed bytes: the bits that make them unsigned, 128 larger.
  const uint8_t* filter;  ///< [tap][channel]
  const uint8_t* filter_zeros;
  int64_t filter_zero_step;  ///< From the zero point of one filter to the next: 0 or 1.
  uint8_t filter_flip;
  uint32_t* output;
};

/// Taps are multiplied as pairs, one below the other, or more of them together. A window has at
/// most so many pairs: their weights are held ready.
inline constexpr int64_t kMostDepthwisePairs = 32;

inline bool depthwise_bytes_serve(const ConvShape& s) {
  constexpr int64_t kLeastChannels = 4;  // a vector of 128 bits
  return INTARSIA_HAS_VECTORS != 0 && s.in_c >= kLeastChannels &&
         CheckedInt(s.kernel_d) * ((s.kernel_h + 1) / 2) * s.kernel_w <= kMostDepthwisePairs;
}

/// The instruction set whose vectors the channels fill.
inline Isa depthwise_bytes_isa(Isa isa, int64_t channels) {
  const Isa vectors = vector_isa(isa);
  if (vectors != Isa::kAvx512 && vectors != Isa::kAvx2) return isa;
  if (channels < 8) return Isa::kPortable;
  return channels < 16 ? Isa::kAvx2 : isa;
}

/// The output rows [begin, end) of all images, the first of which lies at `output`. REQUIRES:
/// depthwise_bytes_serve(job.shape); of bytes in quads, filters whose zero points are 0 as signed
/// bytes. In typed_<isa>.cpp.
template <Isa I, class S>
struct DepthwiseByteTiles {
  static void rows(const DepthwiseBytes& job, int64_t begin, int64_t end);
};

}  // namespace intarsia::cpu
