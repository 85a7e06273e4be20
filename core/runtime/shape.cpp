// SPDX-License-Identifier: Apache-2.0
//
// The parts of shape contexts that read elements, set extents at run time, or compare them.
#include "intarsia/shape.h"

#include <limits>

#include "intarsia/internal/extent_check.h"

namespace intarsia {

CheckedInt ShapeContext::value(int input, int64_t index) const {
  const TensorView& view = context_.input(input);
  if (view.data == nullptr || index < 0 || index >= view.count()) return 0;
  switch (view.type) {
    case DataType::kInt64:
      return view.as<const int64_t>()[index];
    case DataType::kInt32:
      return view.as<const int32_t>()[index];
    case DataType::kInt16:
      return view.as<const int16_t>()[index];
    case DataType::kInt8:
      return view.as<const int8_t>()[index];
    case DataType::kUint8:
    case DataType::kBool:
      return view.as<const uint8_t>()[index];
    default:
      return 0;
  }
}

double ShapeContext::real_value(int input, int64_t index) const {
  const TensorView& view = context_.input(input);
  if (view.data == nullptr || index < 0 || index >= view.count()) return 0.0;
  switch (view.type) {
    case DataType::kFloat:
      return static_cast<double>(view.as<const float>()[index]);
    case DataType::kDouble:
      return view.as<const double>()[index];
    case DataType::kFloat16:
      return static_cast<double>(static_cast<float>(view.as<const Float16>()[index]));
    case DataType::kBfloat16:
      return static_cast<double>(static_cast<float>(view.as<const BFloat16>()[index]));
    default:
      return static_cast<double>(value(input, index).value());
  }
}

Status ShapeContext::require(bool condition, Dim expected, Dim found, const char* what, int operand,
                             int axis) const {
  if (condition && expected.exact() && found.exact()) return {};
  return fail(Code::kWrongExtent, what, expected.value(), found.value(), operand, axis);
}

Status ShapeContext::set_output(int output, DataType, const Shape<Dim>& shape) {
  if (!context_.output(output).present()) return {};
  if (shape.rank > kMaxRank) {
    return fail(Code::kWrongRank, "output rank", kMaxRank, shape.rank,
                context_.input_count() + output);
  }
  int32_t extents[kMaxRank] = {};
  for (int axis = 0; axis < shape.rank; ++axis) {
    constexpr int64_t kLargest = std::numeric_limits<int32_t>::max();
    if (shape[axis] < 0 || shape[axis] > kLargest) {
      return fail(Code::kWrongExtent, "output extent", kLargest, shape[axis].value(),
                  context_.input_count() + output, axis);
    }
    extents[axis] = static_cast<int32_t>(shape[axis].value());
  }
  return context_.resize_output(output, {extents, static_cast<size_t>(shape.rank)});
}

Status ExtentCheck::set_output(int output, DataType, const Shape<Dim>& shape) const {
  const TensorView& view = context().output(output);
  if (!view.present()) return {};
  const int operand = input_count() + output;
  if (shape.rank != view.rank) {
    return fail(Code::kWrongRank, "output rank", shape.rank, view.rank, operand);
  }
  for (int axis = 0; axis < shape.rank; ++axis) {
    Status status = require_equal(shape[axis], view.extents[axis], "output extent", operand, axis);
    if (!status) return status;
  }
  return {};
}

}  // namespace intarsia
