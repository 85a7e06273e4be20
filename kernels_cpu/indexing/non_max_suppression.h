// SPDX-License-Identifier: Apache-2.0
//
// NonMaxSuppression: for each batch and class the boxes in descending order of score (of equal ones
// the first), without those that score no more than score_threshold and those whose overlap with a
// box already selected (intersection over union) exceeds iou_threshold. The output is resized to
// what was selected. https://onnx.ai/onnx/operators/onnx__NonMaxSuppression.html
#pragma once

#include "kernels_cpu/common/kernel_types.h"

namespace intarsia::cpu {

struct NonMaxSuppression {
  static constexpr KernelId id{"NonMaxSuppression", "", {}};
  static Status check(const KernelContext& context);
  static int64_t workspace(const KernelContext& context);
  static Status run(const KernelContext& context);
};

}  // namespace intarsia::cpu
