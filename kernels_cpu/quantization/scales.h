// SPDX-License-Identifier: Apache-2.0
//
// Scales and zero points of a piece of elements, as numbers to compute with.
#pragma once

#include "core/runtime/operand_check.h"
#include "kernels_cpu/math/small_element.h"

namespace intarsia::cpu {

/// `count` elements of a tensor of type T from `index` on, `step` (0 or 1) apart.
template <class T, class W>
void load_numbers(const std::byte* elements, int64_t index, int64_t step, int64_t count, W* to) {
  if (step == 0) {
    std::fill(to, to + count, static_cast<W>(load_at<T>(elements, index)));
  } else {
    for (int64_t i = 0; i < count; ++i) to[i] = static_cast<W>(load_at<T>(elements, index + i));
  }
}

/// A type's own; kernels that are the same but for what they load share their code through it.
template <class W>
using LoadNumbers = void (*)(const std::byte* elements, int64_t index, int64_t step, int64_t count,
                             W* to);

/// The same for any type that a scale may have.
template <class W>
void load_scales(const TensorView& scale, int64_t index, int64_t step, int64_t count, W* to) {
  const auto* elements = scale.as<const std::byte>();
  switch (scale.type) {
    case DataType::kFloat16:
      return load_numbers<Float16>(elements, index, step, count, to);
    case DataType::kBfloat16:
      return load_numbers<BFloat16>(elements, index, step, count, to);
    case DataType::kInt32:
      return load_numbers<int32_t>(elements, index, step, count, to);
    case DataType::kFloat8E8M0:
      return load_numbers<Small<DataType::kFloat8E8M0>>(elements, index, step, count, to);
    default:
      return load_numbers<float>(elements, index, step, count, to);
  }
}

/// Fails unless a scale may have this type.
inline Status check_scale_type(const KernelContext& context, bool integers) {
  const DataType type = context.input(1).type;
  const bool real = type == DataType::kFloat || type == DataType::kFloat16 ||
                    type == DataType::kBfloat16 || type == DataType::kFloat8E8M0;
  if (real || (integers && type == DataType::kInt32)) return {};
  return context.fail(Code::kWrongType, "type of scale", static_cast<int64_t>(DataType::kFloat),
                      static_cast<int64_t>(type), 1);
}

}  // namespace intarsia::cpu
