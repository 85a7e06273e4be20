// SPDX-License-Identifier: Apache-2.0
#include "converter/passes/channel_affine.h"

#include <cmath>

#include "core/operators/nn/normalization.h"

namespace intarsia::converter {

std::optional<std::vector<double>> per_channel(const Value* value, int rank, int channel_axis,
                                               int64_t channels) {
  if (value == nullptr || !value->constant || !value->constant->is_real()) return std::nullopt;
  const Constant& constant = *value->constant;
  const int64_t count = constant.count();
  if (count != 1 && count != channels) return std::nullopt;
  for (int axis = 0; axis < constant.rank(); ++axis) {
    const int aligned = rank - constant.rank() + axis;
    if (aligned < 0) return std::nullopt;
    if (constant.extents[static_cast<size_t>(axis)] != 1 && aligned != channel_axis) {
      return std::nullopt;
    }
  }
  std::vector<double> values = constant.reals();
  if (count == 1) values.assign(static_cast<size_t>(channels), values[0]);
  return values;
}

std::optional<ChannelAffine> affine_of(const Node& node, const Value* x, int axis,
                                       int64_t channels) {
  const bool add = node.fuses_as("Add"), mul = node.fuses_as("Mul"), sub = node.fuses_as("Sub"),
             div = node.fuses_as("Div"), normalizes = node.fuses_as("BatchNormalization");
  if (!add && !mul && !sub && !div && !normalizes) return std::nullopt;
  ChannelAffine result{std::vector<double>(static_cast<size_t>(channels), 1.0),
                       std::vector<double>(static_cast<size_t>(channels), 0.0)};
  if (normalizes) {
    if (node.inputs.size() != 5 || node.inputs[0] != x) return std::nullopt;
    const auto& attributes = node.typed<BatchNormalizationAttributes>();
    if (attributes.training_mode != 0 || axis != 1) return std::nullopt;
    std::vector<double> parameters[4];
    for (size_t i = 0; i < 4; ++i) {
      const Value* value = node.inputs[i + 1];
      if (!value->constant || value->constant->count() != channels) return std::nullopt;
      parameters[i] = value->constant->reals();
    }
    for (size_t c = 0; c < static_cast<size_t>(channels); ++c) {
      result.scale[c] = parameters[0][c] / std::sqrt(parameters[3][c] + attributes.epsilon);
      result.shift[c] = parameters[1][c] - parameters[2][c] * result.scale[c];
    }
    return result;
  }
  if (node.inputs.size() != 2 || !x->shape) return std::nullopt;
  const bool first = node.inputs[0] == x;
  if (div && !first) return std::nullopt;
  const auto values = per_channel(node.inputs[first ? 1 : 0], x->shape->rank, axis, channels);
  if (!values) return std::nullopt;
  for (size_t c = 0; c < static_cast<size_t>(channels); ++c) {
    const double value = (*values)[c];
    if (add || sub) result.shift[c] = sub && first ? -value : value;
    if (sub && !first) result.scale[c] = -1;
    if (mul || div) result.scale[c] = div ? 1 / value : value;
    if (!std::isfinite(result.scale[c])) return std::nullopt;
  }
  return result;
}

}  // namespace intarsia::converter
