// SPDX-License-Identifier: Apache-2.0
#include "kernels_cuda/nn/resize.h"

namespace intarsia::cuda {

bool supports_resize(const KernelContext& context) {
  using Rule = ops::Resize;
  if (!are_constants(context, {Rule::kRoi, Rule::kScales, Rule::kSizes})) return false;
  ResizeAxis axes[kMaxRank];
  ops::read_resize_axes(context, axes);
  const bool crop =
      context.attributes<ResizeAttributes>().coordinates == ResizeAttributes::kCropAndResize;
  int resized = 0;
  for (const ResizeAxis& axis : axes) resized += axis.listed && !axis.identity(crop) ? 1 : 0;
  return resized <= kMostResized;
}

bool is_nearest(const KernelContext& context) {
  const auto& a = context.attributes<ResizeAttributes>();
  return a.mode == ResizeAttributes::kNearest && a.coordinates != ResizeAttributes::kCropAndResize;
}

Status check_nearest(const KernelContext& context, ElementWidth width) {
  if (Status status = ops::check_resize(context, width); !status) return status;
  if (is_nearest(context)) return {};
  return context.fail(Code::kUnsupported, "mode in a kernel for nearest",
                      ResizeAttributes::kNearest, context.attributes<ResizeAttributes>().mode);
}

}  // namespace intarsia::cuda
