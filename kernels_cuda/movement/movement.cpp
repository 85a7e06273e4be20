// SPDX-License-Identifier: Apache-2.0
#include "kernels_cuda/movement/movement.h"

namespace intarsia::cuda {

Status check_copy(const KernelContext& context, ListOperand list) {
  const OperandTypes plain{.inputs = {kAnyType}, .outputs = {kAnyType}};
  const OperandTypes listed{.inputs = {kAnyType, DataType::kInt64},
                            .required_inputs = list == ListOperand::kRequired ? 2 : 1,
                            .outputs = {kAnyType}};
  return check_copy(context, list == ListOperand::kNone ? plain : listed);
}

}  // namespace intarsia::cuda
