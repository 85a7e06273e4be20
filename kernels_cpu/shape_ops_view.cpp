// SPDX-License-Identifier: Apache-2.0
#include "kernels_cpu/shape_ops_view.h"

#include <cstring>

namespace intarsia::cpu {

Status CopyBytes::check(const KernelContext& context) {
  const TensorView& input = context.input(0);
  const TensorView& output = context.output(0);
  // A string's bytes lie outside the tensor's own.
  if (input.type != output.type || element_bits(input.type) == 0 ||
      input.type == DataType::kString) {
    return context.fail(Code::kWrongType, "element type", static_cast<int64_t>(input.type),
                        static_cast<int64_t>(output.type), context.input_count());
  }
  if (input.count() != output.count()) {
    return context.fail(Code::kWrongExtent, "number of elements", input.count(), output.count(),
                        context.input_count());
  }
  return {};
}

Status CopyBytes::run(const KernelContext& context) {
  const TensorView& input = context.input(0);
  const TensorView& output = context.output(0);
  const int64_t bytes = input.bytes();
  if (output.data != input.data && bytes > 0) {
    std::memcpy(output.data, input.data, static_cast<size_t>(bytes));
  }
  return {};
}

Status Dropout::check(const KernelContext& context) {
  if (Status status = CopyBytes::check(context); !status) return status;
  const TensorView& training = context.input(2);
  if (training.present() && (training.type != DataType::kBool || training.count() != 1)) {
    return context.fail(Code::kWrongType, "training_mode", static_cast<int64_t>(DataType::kBool),
                        static_cast<int64_t>(training.type), 2);
  }
  const TensorView& mask = context.output(1);
  if (mask.present() &&
      (mask.type != DataType::kBool || mask.count() != context.input(0).count())) {
    return context.fail(Code::kWrongExtent, "number of elements of the mask",
                        context.input(0).count(), mask.count(), context.input_count() + 1);
  }
  return {};
}

Status Dropout::run(const KernelContext& context) {
  const TensorView& training = context.input(2);
  if (training.present() && *training.as<const uint8_t>() != 0) {
    return context.fail(Code::kUnsupported, "training_mode", 0, 1, 2);
  }
  const TensorView& mask = context.output(1);
  if (mask.present() && mask.count() > 0) {
    std::memset(mask.data, 1, static_cast<size_t>(mask.count()));
  }
  return CopyBytes::run(context);
}

}  // namespace intarsia::cpu
