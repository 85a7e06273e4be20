// SPDX-License-Identifier: Apache-2.0
//
// Nodes that scale and shift the channels of a tensor by constants: BatchNormalization, Mul, Div,
// Add and Sub.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "converter/graph/graph.h"

namespace intarsia::converter {

/// scale * x + shift, one of each per channel.
struct ChannelAffine {
  std::vector<double> scale, shift;

  bool scales() const {
    return std::ranges::any_of(scale, [](double factor) { return factor != 1; });
  }
  bool shifts() const {
    return std::ranges::any_of(shift, [](double addend) { return addend != 0; });
  }
};

/// A constant beside a tensor of `rank` axes as one number per channel of `axis`, if it is such.
std::optional<std::vector<double>> per_channel(const Value* value, int rank, int axis,
                                               int64_t channels);

/// What `node` does to the channels of `x`, along `axis`.
std::optional<ChannelAffine> affine_of(const Node& node, const Value* x, int axis,
                                       int64_t channels);

}  // namespace intarsia::converter
