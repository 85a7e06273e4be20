// SPDX-License-Identifier: Apache-2.0
//
// Transposed convolution as convolutions: out[o] = bias + sum over i, k with o = i * stride - pad +
// k * dilation of in[i] * w[k], in NDHWC, f32.
//
// Along an axis, the outputs r, r + stride, r + 2 stride, ... meet the same taps, each output at
// inputs one further on than the output before: they are a convolution of stride 1 whose taps walk
// backwards. There are `stride` such phases along each axis, and every tap belongs to one of them.
#pragma once

#include "kernels_cpu/gemm/conv.h"

namespace intarsia::cpu {

struct TransposedPhase {
  ConvShape shape;      ///< The convolution. Without taps it has a kernel of no input channels.
  int64_t output;       ///< Its first output, in floats.
  int64_t taps_before;  ///< Taps whose weights lie before its own.
};

/// The phases of a transposed convolution, of which `shape` states input, output, kernel, strides
/// and dilations, and as padding the pixels that are cut off in front.
class TransposedPhases {
 public:
  explicit TransposedPhases(const ConvShape& shape) : shape_(shape) {}
  /// False when there are no more.
  bool next(TransposedPhase& phase);

 private:
  ConvShape shape_;
  int64_t z_ = 0, y_ = 0, x_ = 0;
};

/// Calls share(count, body) once, where body(begin, end, thread) calls `run(phase, begin, end,
/// thread)` for some of the units of each phase, units_of(phase), as many of them as [begin, end)
/// is of all: neighbours in input and output, which phases share, stay with one thread.
template <class UnitsOf, class Run, class Share>
void for_phases(const ConvShape& shape, const UnitsOf& units_of, const Run& run,
                const Share& share) {
  int64_t all = 0, count = 0;
  TransposedPhase phase;
  for (TransposedPhases phases(shape); phases.next(phase); ++count) all += units_of(phase);
  share(all, [&](int64_t begin, int64_t end, int thread) {
    TransposedPhase at;
    int64_t later = count - 1;
    for (TransposedPhases phases(shape); phases.next(at); --later) {
      const int64_t units = units_of(at);
      // Phases take turns, so that parts are even where a phase has few units.
      const auto before = [&](int64_t unit) { return (unit * units + all * later / count) / all; };
      if (before(begin) < before(end)) run(at, before(begin), before(end), thread);
    }
  });
}

/// The same phase with taps that walk forwards, whose weights stand the other way round.
ConvShape forwards(const ConvShape& phase);

/// Bytes of workspace that conv_run needs for any phase.
CheckedInt transposed_workspace_bytes(const ConvShape& shape);

/// Packs weights of ONNX, [in_c][out_c / groups][kernel_d][kernel_h][kernel_w], phase by phase,
/// each as pack_conv does: packed_floats(groups, taps * in_c / groups, out_c / groups) floats in
/// all. E is float, or uint16_t for the bits of halves.
template <class E>
void pack_transposed(const ConvShape& shape, const E* weights, E* packed);

/// Packs weights of groups of one input channel, phase by phase, for depthwise convolutions of
/// phases that walk forwards: each as pack_depthwise does.
template <class E>
void pack_transposed_depthwise(const ConvShape& shape, const E* weights, E* packed);

}  // namespace intarsia::cpu
