// SPDX-License-Identifier: Apache-2.0
//
// The reference convolution of bytes, for 1 to 6 spatial axes, groups, any padding, strides and
// dilations, both layouts. Output rows are shared out over the threads.
#pragma once

#include "kernels_cpu/nn/conv_integer.h"
#include "kernels_cpu/nn/conv_rows.h"

namespace intarsia::cpu {

/// `result` as for convolve_rows.
template <class Result>
void convolve_bytes(const KernelContext& context, int zero_points, const Result& result) {
  const auto& a = context.attributes<IntegerConvAttributes>();
  const TensorView& weights = context.input(1);
  const WindowWalk walk(context.input(0), context.output(0), weights.extents + 2, a.window,
                        a.channels_last != 0);
  const ByteOperand x(context, 0, zero_points), w(context, 1, zero_points);
  const int64_t filters = weights.extents[0], depth = weights.extents[1];
  const int64_t filters_per_group = filters / a.group;
  const auto add_terms = [&](const ConvRun& run, uint32_t* sums) {
    if (depth == 0) return;
    const int64_t channel = run.filter / filters_per_group * depth;
    const uint8_t* plane =
        x.data + run.image * walk.channels * walk.in_plane + channel * walk.channel_step;
    const uint8_t* taps = w.data + run.filter * depth * walk.taps;
    walk.for_taps(run.position, run.first, run.lanes,
                  [&](int64_t tap, int64_t offset, int64_t low, int64_t high) {
                    for (int64_t c = 0; c < depth; ++c) {
                      const int weight = w.difference(taps[c * walk.taps + tap], run.filter);
                      const uint8_t* from = plane + c * walk.channel_step + offset;
                      for (int64_t j = low; j < high; ++j, from += walk.lane_step) {
                        sums[j] += static_cast<uint32_t>(x.difference(*from, 0) * weight);
                      }
                    }
                  });
  };
  convolve_rows(context, walk, filters, result, add_terms);
}

}  // namespace intarsia::cpu
