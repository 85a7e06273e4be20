// SPDX-License-Identifier: Apache-2.0
//
// What the fast convolutions share: images of floats, channels-last, of 1 to 3 spatial axes, as
// ConvShape, and their threads. W keeps its ONNX extents in the plan.
#pragma once

#include <span>

#include "core/kernel_descriptor.h"
#include "core/operators/nn/conv.h"
#include "intarsia/kernel.h"
#include "kernels_cpu/gemm/conv.h"

namespace intarsia::cpu {

/// The shape of a convolution by this window: X is N,[[D,]H,]W,C; W is O,C/group,[[KD,]KH,]KW. What
/// lacks an axis has extent 1 there. The output is dense.
ConvShape conv_shape(const KernelContext& context, const WindowAttributes& window, int64_t groups,
                     bool channels_last = true);
/// That of ONNX Conv, of either order of axes; pitches are those of channels that are the last one.
ConvShape conv_shape(const KernelContext& context);
/// That of ONNX ConvTranspose, with the pixels cut off in front as padding; W is C,O/group,.... The
/// node's order of axes tells which they are; pitches are those of channels that are the last one.
ConvShape transposed_shape(const KernelContext& context);

/// The same without columns of one pixel under one tap: rows take their place, which kernels run
/// along. The order of pixels and taps in memory stays.
[[gnu::cold]] ConvShape without_single_columns(ConvShape shape);

/// For `supports`: whether a convolution of at most so many spatial axes has constant weights. The
/// converter has asked for the layout.
bool is_fast_conv(const KernelContext& context, int spatial);
/// For `check`: the order of axes, which the node's attribute tells, and at most so many spatial
/// ones.
Status check_image(const KernelContext& context, int32_t channels_last, int spatial,
                   int32_t expected = 1);
/// For `check`: all but the size of the weights.
Status check_fast_conv(const KernelContext& context, int spatial,
                       KernelLayout layout = KernelLayout::kChannelsLast);
/// That of ConvTranspose, for either order of axes.
Status check_transposed_operands(const KernelContext& context);
/// The same with the channels last, of at most so many spatial axes.
Status check_fast_transposed(const KernelContext& context, int spatial);

/// Runs all units on the context's threads, each with its share of `scratch`.
void run_conv(const KernelContext& context, const ConvArgs& args, std::span<std::byte> scratch);

}  // namespace intarsia::cpu
