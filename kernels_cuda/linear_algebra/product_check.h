// SPDX-License-Identifier: Apache-2.0
//
// The check that kernels over product.h share.
#pragma once

#include <limits>

#include "kernels_cuda/common/kernel.h"

namespace intarsia::cuda {

/// Proves the operands by the operator's rule, and that the grid of a launch is possible.
template <class Rule>
Status check_product(const KernelContext& context) {
  constexpr KernelType t = DataType::kFloat;
  const OperandTypes types{.inputs = {t, t, t, t}, .required_inputs = 2, .outputs = {t}};
  if (Status status = check_operands<Rule>(context, types); !status) return status;
  // A block computes one element of the output at least; positions are decoded in 32 bits.
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  for (const TensorView* view : {&context.input(0), &context.input(1), &context.output(0)}) {
    if (view->count() <= kMost) continue;
    return context.fail(Code::kUnsupported, "elements of a product", kMost, view->count());
  }
  return {};
}

}  // namespace intarsia::cuda
