// SPDX-License-Identifier: Apache-2.0
//
// What the fast convolutions share: ONNX Conv in float with 1 or 2 spatial axes, channels-last,
// over constant weights that the converter packs. W keeps its ONNX extents in the plan.
#pragma once

#include "intarsia/kernel.h"
#include "kernels_cpu/gemm/conv.h"

namespace intarsia::cpu {

/// X is N,[H,]W,C; W is O,C/group,[KH,]KW. A 1-D convolution has height 1.
ConvShape conv_shape(const KernelContext& context);

/// For `supports`; the converter has asked for the layout.
bool is_fast_conv(const KernelContext& context);
/// For `check`: all but the size of the weights.
Status check_fast_conv(const KernelContext& context);

}  // namespace intarsia::cpu
