// SPDX-License-Identifier: Apache-2.0
//
// What the kernels of DeformConv share: extents, and the elements around a tap's place.
#pragma once

#include <cmath>

#include "core/operators/nn/deform_conv.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {

struct DeformShape {
  int64_t batch, channels, height, width;
  int64_t filters, kernel_h, kernel_w, taps;
  int64_t out_h, out_w, plane,
      pixels;  ///< `plane` elements of an image's channel, `pixels` of Y's.
  int64_t groups, offset_groups;
  int64_t depth;  ///< Channels of a group.
  int64_t share;  ///< Channels of a group of offsets.
  int64_t stride_h, stride_w, dilation_h, dilation_w, top, left;

  /// REQUIRES: the operands agree with the shape rule.
  explicit DeformShape(const KernelContext& context) {
    const auto& a = context.attributes<DeformConvAttributes>();
    const TensorView &x = context.input(0), &w = context.input(1), &y = context.output(0);
    batch = x.extents[0], channels = x.extents[1], height = x.extents[2], width = x.extents[3];
    filters = w.extents[0], kernel_h = w.extents[2], kernel_w = w.extents[3];
    out_h = y.extents[2], out_w = y.extents[3];
    taps = kernel_h * kernel_w, plane = height * width, pixels = out_h * out_w;
    groups = a.group, offset_groups = a.offset_group;
    depth = channels / groups, share = channels / offset_groups;
    stride_h = a.window.stride(0), stride_w = a.window.stride(1);
    dilation_h = a.window.dilation(0), dilation_w = a.window.dilation(1);
    top = a.window.pad_before(0, height, out_h, kernel_h);
    left = a.window.pad_before(1, width, out_w, kernel_w);
  }
};

/// The four elements around a place of an image, in V: up left, up right, down left, down right.
template <class V>
struct Corners {
  int64_t at[4];  ///< -1: outside of the image, where all is 0.
  V weight[4];
  bool none;  ///< All of them are outside.
};

/// A place among those of a result, or of a window.
struct DeformPlace {
  int64_t index, row, column;
  DeformPlace(int64_t at, int64_t width) : index(at), row(at / width), column(at % width) {}
  void advance(int64_t width) {
    ++index;
    if (++column < width) return;
    column = 0;
    ++row;
  }
};

/// Finds the places of the taps, in V, for elements of type T.
template <class T, class V>
class DeformTaps {
 public:
  using E = Element<T>;

  DeformTaps(const KernelContext& context, const DeformShape& shape)
      : s_(shape),
        offsets_(context.input(2).as<const typename E::Stored>()),
        mask_(context.input(4).as<const typename E::Stored>()) {}

  DeformPlace tap(int64_t index) const { return {index, s_.kernel_w}; }
  DeformPlace pixel(int64_t index) const { return {index, s_.out_w}; }

  /// Of a tap for a pixel of an image's result; the mask's factor is in the weights.
  Corners<V> corners(int64_t image, int64_t offset_group, const DeformPlace& tap,
                     const DeformPlace& pixel) const {
    const int64_t plane = (image * s_.offset_groups + offset_group) * s_.taps + tap.index;
    const auto* offset = offsets_ + 2 * plane * s_.pixels + pixel.index;
    const V y = static_cast<V>(pixel.row * s_.stride_h - s_.top + tap.row * s_.dilation_h) +
                static_cast<V>(E::load(offset[0]));
    const V x = static_cast<V>(pixel.column * s_.stride_w - s_.left + tap.column * s_.dilation_w) +
                static_cast<V>(E::load(offset[s_.pixels]));
    Corners<V> c{{-1, -1, -1, -1}, {}, true};
    // What is no number is outside, too.
    if (!(y > -1 && y < static_cast<V>(s_.height) && x > -1 && x < static_cast<V>(s_.width))) {
      return c;
    }
    c.none = false;
    const V up = std::floor(y), left = std::floor(x);
    const V v = y - up, u = x - left;
    const V factor =
        mask_ != nullptr ? static_cast<V>(E::load(mask_[plane * s_.pixels + pixel.index])) : V{1};
    const auto i = static_cast<int64_t>(up), j = static_cast<int64_t>(left);
    const V weights[] = {(1 - v) * (1 - u), (1 - v) * u, v * (1 - u), v * u};
    for (int k = 0; k < 4; ++k) {
      const int64_t at_y = i + k / 2, at_x = j + k % 2;
      c.weight[k] = weights[k] * factor;
      if (at_y >= 0 && at_y < s_.height && at_x >= 0 && at_x < s_.width) {
        c.at[k] = at_y * s_.width + at_x;
      }
    }
    return c;
  }

 private:
  const DeformShape& s_;
  const typename E::Stored* offsets_;
  const typename E::Stored* mask_;
};

}  // namespace intarsia::cpu
