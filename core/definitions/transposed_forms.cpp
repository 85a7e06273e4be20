// SPDX-License-Identifier: Apache-2.0
//
// See transposed_forms.h.
#include "core/definitions/transposed_forms.h"

#include <cstdint>

#include "core/definitions/term.h"
#include "core/operators/nn/conv.h"

namespace intarsia::definitions {
namespace {

/// The extents, or nothing if one is not known.
std::vector<int64_t> known_extents(const SymbolicInput& input) {
  std::vector<int64_t> extents;
  for (int axis = 0; axis < input.shape.rank; ++axis) {
    if (!is_constant(input.shape[axis])) return {};
    extents.push_back(constant_value(input.shape[axis]));
  }
  return extents;
}

bool is_list(int count, size_t expected) {
  return count == 0 || static_cast<size_t>(count) == expected;
}

/// Elements from the first to the last tap, without the first.
int64_t reach_of(const WindowAttributes& window, int axis, int64_t kernel) {
  return window.dilation(axis) * (kernel - 1);
}

}  // namespace

bool is_convolution(const std::byte* attributes, std::span<const SymbolicInput> inputs) {
  constexpr TypeSet kFast = types({DataType::kFloat, DataType::kFloat16, DataType::kBfloat16});
  constexpr double kMostGrowth = 1.5;
  const auto& a = *reinterpret_cast<const ConvTransposeAttributes*>(attributes);
  const WindowAttributes& window = a.window;
  if (inputs.size() < 2 || !contains(kFast, inputs[0].type)) return false;
  const std::vector<int64_t> x = known_extents(inputs[0]), w = known_extents(inputs[1]);
  if (x.size() < 3 || x.size() > size_t{kMaxRank} || w.size() != x.size()) return false;
  const size_t spatial = x.size() - 2;
  // What is not as it has to be, the operator's own shape function reports.
  if (window.auto_pad != 0 || a.output_shape.count != 0 || a.group < 1 || x[1] != w[0] ||
      w[0] < 1 || w[0] % a.group != 0 || w[1] < 1 || !is_list(window.kernel_shape.count, spatial) ||
      !is_list(window.strides.count, spatial) || !is_list(window.dilations.count, spatial) ||
      !is_list(window.pads.count, 2 * spatial) || !is_list(a.output_padding.count, spatial)) {
    return false;
  }
  if (inputs.size() > 2 && inputs[2].present &&
      known_extents(inputs[2]) != std::vector<int64_t>{a.group * w[1]}) {
    return false;
  }
  if (a.group > 1 && w[1] == 1 && w[0] > a.group) return false;
  double growth = 1;
  for (size_t i = 0; i < spatial; ++i) {
    const int axis = static_cast<int>(i);
    const int64_t kernel = w[2 + i], in = x[2 + i];
    if (kernel < 1 || kernel > INT32_MAX || in < 1 || window.stride(axis) != 1 ||
        window.dilation(axis) < 1 || a.extra(axis) != 0 ||
        (window.kernel_shape.count != 0 && window.kernel_shape[axis] != kernel)) {
      return false;
    }
    const int64_t reach = reach_of(window, axis, kernel);
    const int64_t before = window.explicit_pad(axis);
    const int64_t after = window.explicit_pad(axis + static_cast<int>(spatial));
    if (before < 0 || after < 0 || before > reach || after > reach || reach > INT32_MAX ||
        in + reach - before - after < 1) {
      return false;
    }
    growth *= static_cast<double>(in + reach - before - after) / static_cast<double>(in);
  }
  return growth <= kMostGrowth;
}

void expand_as_convolution(ExpansionContext& e) {
  const auto& a = e.attributes<ConvTransposeAttributes>();
  const std::vector<int64_t> w = known_extents(e.x(1).known());
  const auto spatial = static_cast<int>(w.size()) - 2;
  Term weights = e.x(1);
  std::vector<int64_t> kernel(w.begin() + 2, w.end()), dilations, pads(2 * kernel.size());
  for (int i = 0; i < spatial; ++i) {
    const auto at = static_cast<size_t>(i);
    if (kernel[at] > 1) weights = slice(weights, 2 + i, kernel[at] - 1, INT64_MIN, -1);
    const int64_t reach = reach_of(a.window, i, kernel[at]);
    dilations.push_back(a.window.dilation(i));
    pads[at] = reach - a.window.explicit_pad(i);
    pads[at + kernel.size()] = reach - a.window.explicit_pad(i + spatial);
  }
  // [group, C / group, M / group, ...], of which the second and third axis change places.
  std::vector<int64_t> order = axes_between(0, spatial + 2);
  if (a.group == 1) {
    std::swap(order[0], order[1]);
    weights = transpose(weights, order);
  } else {
    std::vector<int64_t> apart{a.group, w[0] / a.group, w[1]},
        joined{a.group * w[1], w[0] / a.group};
    apart.insert(apart.end(), kernel.begin(), kernel.end());
    joined.insert(joined.end(), kernel.begin(), kernel.end());
    order.push_back(spatial + 2);
    std::swap(order[1], order[2]);
    weights = with_extents(transpose(with_extents(weights, e.integers(apart)), order),
                           e.integers(joined));
  }
  e.set(0, call("Conv", {e.x(0), weights, e.x_if_any(2)},
                {{"group", int64_t{a.group}},
                 {"kernel_shape", kernel},
                 {"dilations", dilations},
                 {"pads", pads}}));
}

}  // namespace intarsia::definitions
