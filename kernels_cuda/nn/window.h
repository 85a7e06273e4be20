// SPDX-License-Identifier: Apache-2.0
//
// A window over images of one or two spatial axes, for device code: where an output position lies,
// and which input elements its taps meet. A 1-D image is one row.
#pragma once

#include "core/operators/nn/conv.h"
#include "kernels_cuda/common/device.h"

namespace intarsia::cuda {

/// One spatial axis.
struct WindowAxis {
  int64_t in = 1, out = 1, kernel = 1, stride = 1, dilation = 1, before = 0, after = 0;
};

/// Elements from one neighbour to the next along each axis of a tensor of images.
struct ImageStrides {
  int64_t image = 0, channel = 0, row = 0, column = 0;
};

struct Window {
  int64_t batch = 0;
  WindowAxis rows, columns;
  ImageStrides x, y;

  /// REQUIRES: rank 3 or 4. `kernel` has the extents of the taps.
  Window(const TensorView& input, const TensorView& output, const int32_t* kernel,
         const WindowAttributes& attributes, bool channels_last)
      : batch(input.extents[0]),
        x(strides_of(input, channels_last)),
        y(strides_of(output, channels_last)) {
    const ImageAxes axes{input.rank, channels_last};
    const int spatial = axes.spatial();
    for (int i = 0; i < spatial; ++i) {
      WindowAxis& axis = i == spatial - 1 ? columns : rows;
      axis.in = input.extents[axes.axis(i)];
      axis.out = output.extents[axes.axis(i)];
      axis.kernel = kernel[i];
      axis.stride = attributes.stride(i);
      axis.dilation = attributes.dilation(i);
      axis.before = attributes.pad_before(i, axis.in, axis.out, axis.kernel);
      axis.after = attributes.pad_after(i, spatial, axis.in, axis.out, axis.kernel);
    }
  }

  static ImageStrides strides_of(const TensorView& view, bool channels_last) {
    const ImageAxes axes{view.rank, channels_last};
    const int64_t channels = view.extents[axes.channel()];
    const int64_t width = view.extents[axes.axis(axes.spatial() - 1)];
    const int64_t height = view.rank == 4 ? view.extents[axes.axis(0)] : 1;
    const int64_t image = channels * height * width;
    if (channels_last) return {image, 1, width * channels, channels};
    return {image, height * width, width, 1};
  }
};

}  // namespace intarsia::cuda
