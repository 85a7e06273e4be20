// SPDX-License-Identifier: Apache-2.0
//
// Transposed convolution, ONNX ConvTranspose: Y[o] = B + sum of X[i] * W[k] over all i, k with
// o = i * stride - pad + k * dilation. Each output element gathers its terms, so that no element is
// written by two threads. 1 to 6 spatial axes, groups, both layouts.
// Specification: https://onnx.ai/onnx/operators/onnx__ConvTranspose.html
#include "core/kernel_list.h"
#include "kernels_cpu/nn/conv_rows.h"

namespace intarsia::cpu {
namespace {

/// For output positions (position, first .. first + lanes) calls `body(tap, offset, low)` per tap
/// that meets the input: lanes low, low + stride, ... < lanes take the input elements from `offset`
/// on, one step of the last axis apart, `count` of them.
template <class Body>
void for_sources(const WindowWalk& walk, const int64_t* position, int64_t first, int64_t lanes,
                 const Body& body) {
  if (walk.taps == 0) return;  // the loop takes each axis once at least
  const int w = walk.last();
  int64_t index[kMaxSpatial] = {};
  for (int64_t tap = 0;; tap += walk.kernel[w]) {
    int64_t offset = 0;
    bool inside = true;
    for (int i = 0; i < w; ++i) {
      const int64_t scattered = position[i] + walk.before[i] - index[i] * walk.dilation[i];
      const int64_t at = scattered / walk.stride[i];
      inside = inside && scattered >= 0 && scattered % walk.stride[i] == 0 && at < walk.in[i];
      if (inside) offset += at * walk.step[i];
    }
    const int64_t stride = walk.stride[w];
    for (int64_t k = 0; inside && k < walk.kernel[w]; ++k) {
      const int64_t scattered = first + walk.before[w] - k * walk.dilation[w];
      // First lane at or after both the input's start and a multiple of the stride.
      const int64_t low = scattered <= 0 ? -scattered : (stride - scattered % stride) % stride;
      const int64_t from = (scattered + low) / stride;
      if (low >= lanes || from >= walk.in[w]) continue;
      const int64_t fitting = (lanes - 1 - low) / stride + 1;
      const int64_t count = fitting < walk.in[w] - from ? fitting : walk.in[w] - from;
      body(tap + k, offset + from * walk.step[w], low, count);
    }
    int axis = w - 1;
    for (; axis >= 0; --axis) {
      if (++index[axis] < walk.kernel[axis]) break;
      index[axis] = 0;
    }
    if (axis < 0) return;
  }
}

template <class T>
struct ConvTranspose {
  static constexpr KernelId id{"ConvTranspose", "", {kernel_type_of<T>}};

  static Status check(const KernelContext& context) {
    constexpr KernelType t = kernel_type_of<T>;
    return check_operands<ops::ConvTranspose>(
        context, {.inputs = {t, t, t}, .required_inputs = 2, .outputs = {t}});
  }

  static Status run(const KernelContext& context) {
    if (context.output(0).count() == 0) return {};
    const auto& a = context.attributes<ConvTransposeAttributes>();
    const TensorView& weights = context.input(1);
    WindowWalk walk(context.input(0), context.output(0), weights.extents + 2, a.window,
                    a.channels_last != 0);
    for (int i = 0; i < walk.spatial; ++i) {
      walk.before[i] = a.pad_before(i, walk.in[i], walk.out[i], walk.kernel[i]);
    }
    const T* x = context.input(0).as<const T>();
    const T* w = weights.as<const T>();
    const int64_t filters_per_group = weights.extents[1];
    const int64_t depth = walk.channels / a.group;
    const int64_t next_channel = filters_per_group * walk.taps;
    const int64_t stride = walk.stride[walk.last()];
    const int64_t x_step = walk.step[walk.last()];
    const auto add_terms = [&](const ConvRun& run, Accumulator<T>* sums) {
      // Weights without channels have no elements, but perhaps any number of taps.
      if (depth == 0) return;
      const int64_t channel = run.filter / filters_per_group * depth;
      const T* plane = x + run.image * walk.channels * walk.in_plane + channel * walk.channel_step;
      const T* taps =
          w + (channel * filters_per_group + run.filter % filters_per_group) * walk.taps;
      for_sources(walk, run.position, run.first, run.lanes,
                  [&](int64_t tap, int64_t offset, int64_t low, int64_t count) {
                    for (int64_t c = 0; c < depth; ++c) {
                      const T* source = plane + c * walk.channel_step + offset;
                      const auto weight = accumulable<T>(taps[c * next_channel + tap]);
                      for (int64_t j = 0; j < count; ++j) {
                        sums[low + j * stride] += accumulable<T>(source[j * x_step]) * weight;
                      }
                    }
                  });
    };
    convolve_rows(context, walk, filters_per_group * a.group, ReferenceEpilogue<T>(context, {}),
                  add_terms);
    return {};
  }
};

}  // namespace

extern const KernelList conv_transpose_kernels;
constinit const KernelList conv_transpose_kernels = kernel_list<Each<ConvTranspose, Floats>>();

}  // namespace intarsia::cpu
