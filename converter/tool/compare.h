// SPDX-License-Identifier: Apache-2.0
//
// Comparison of tensors: with a tolerance, and as a report of the largest differences.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "converter/graph/constant.h"

namespace intarsia::tool {

/// |found - expected| <= absolute + relative * |expected|, as numpy.testing.assert_allclose.
struct Tolerance {
  double relative = 1e-3;
  double absolute = 1e-7;
};

/// "" if type, extents and values agree within the tolerance, else the first kind of disagreement
/// and the worst element. NaN equals NaN, infinities equal themselves; integers and bools are
/// compared exactly.
std::string compare(const converter::Constant& found, const converter::Constant& expected,
                    const Tolerance& tolerance);

double largest_magnitude(const converter::Constant& tensor);

/// Largest differences between two tensors of one type and shape.
struct Difference {
  double absolute = 0;
  double relative = 0;  ///< Largest |difference| / largest |expected|.
  double ulp = 0;       ///< In units of the last place of the expected element.
};
Difference difference(const converter::Constant& found, const converter::Constant& expected);

/// Number of nodes of a plan.
uint32_t node_count(std::span<const std::byte> plan);

}  // namespace intarsia::tool
