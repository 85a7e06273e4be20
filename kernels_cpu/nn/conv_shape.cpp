// SPDX-License-Identifier: Apache-2.0
//
// See conv_shape.h.
#include "kernels_cpu/nn/conv_shape.h"

#include "core/operators/nn/conv.h"
#include "kernels_cpu/common/epilogue.h"

namespace intarsia::cpu {

ConvShape conv_shape(const KernelContext& context) {
  const TensorView& x = context.input(0);
  const TensorView& w = context.input(1);
  const TensorView& y = context.output(0);
  const auto& attributes = context.attributes<ConvAttributes>();
  const WindowAttributes& window = attributes.window;
  const int spatial = x.rank - 2;
  const int width = spatial - 1;  // the axis of columns among the spatial ones
  ConvShape shape;
  shape.batch = x.extents[0];
  shape.in_c = x.extents[x.rank - 1];
  shape.out_c = y.extents[y.rank - 1];
  shape.in_w = x.extents[1 + width];
  shape.out_w = y.extents[1 + width];
  shape.kernel_w = w.extents[2 + width];
  shape.stride_w = window.stride(width);
  shape.dilation_w = window.dilation(width);
  shape.pad_left = window.pad_before(width, shape.in_w, shape.out_w, shape.kernel_w);
  if (spatial == 2) {
    shape.in_h = x.extents[1];
    shape.out_h = y.extents[1];
    shape.kernel_h = w.extents[2];
    shape.stride_h = window.stride(0);
    shape.dilation_h = window.dilation(0);
    shape.pad_top = window.pad_before(0, shape.in_h, shape.out_h, shape.kernel_h);
  }
  shape.groups = attributes.group;
  shape.in_pitch = shape.in_c;
  shape.out_pitch = shape.out_c;
  return shape;
}

bool is_fast_conv(const KernelContext& context) {
  const TensorView& x = context.input(0);
  const TensorView& w = context.input(1);
  return (x.rank == 3 || x.rank == 4) && w.data != nullptr && w.count() > 0;
}

Status check_fast_conv(const KernelContext& context) {
  if (Status status = check_with_epilogue<ops::Conv, float>(context); !status) return status;
  const auto& attributes = context.attributes<ConvAttributes>();
  if (attributes.channels_last == 0) {
    return context.fail(Code::kInvalidValue, "channels_last", 1, attributes.channels_last);
  }
  const int rank = context.input(0).rank;
  if (rank != 3 && rank != 4) return context.fail(Code::kWrongRank, "input rank", 4, rank, 0);
  return {};
}

}  // namespace intarsia::cpu
