// SPDX-License-Identifier: Apache-2.0
//
// What kernels of Expand and Tile check, on every device.
#pragma once

#include "core/runtime/operand_check.h"

namespace intarsia {
namespace ops {

/// Proves that every extent of the output is a multiple of the input's; of 1, where `only_ones`
/// says so. How often an axis is repeated follows from them; input 1 is not read. `type` is that of
/// what is repeated.
inline Status check_repeat(const KernelContext& context, KernelType type, bool only_ones) {
  if (Status status = check_operand_types(
          context, {.inputs = {type, DataType::kInt64}, .required_inputs = 2, .outputs = {type}});
      !status) {
    return status;
  }
  const TensorView& input = context.input(0);
  const TensorView& output = context.output(0);
  const int lead = output.rank - input.rank;
  if (lead < 0 || (!only_ones && lead != 0)) {
    return context.fail(Code::kWrongRank, "rank", input.rank, output.rank, context.input_count());
  }
  for (int axis = lead; axis < output.rank; ++axis) {
    const int32_t from = input.extents[axis - lead];
    const int32_t to = output.extents[axis];
    const bool valid = from == to || (only_ones ? from == 1 : from > 0 && to % from == 0);
    if (!valid) {
      return context.fail(Code::kWrongExtent, "output extent", from, to, context.input_count(),
                          axis);
    }
  }
  return {};
}

}  // namespace ops
}  // namespace intarsia
