// SPDX-License-Identifier: Apache-2.0
//
// Elements for random models: small dyadic numbers, which exact operators compute without rounding.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "converter/graph/constant.h"
#include "test/random/random.h"

namespace intarsia::test {

using converter::Constant;

/// How the elements of a tensor are drawn. Operands that mean something (indices, axes, extents)
/// get it by being drawn again until the operator takes them.
enum class Draw : uint8_t {
  kAny,          ///< k/8 of either sign, of doubles a little more; small integers of either sign
  kPositive,     ///< 1/8 to 2; 1 to 4
  kAtLeastOne,   ///< 1 to 3
  kFraction,     ///< 0 to 1
  kWhole,        ///< whole numbers 0 to 3
  kZeroOne,      ///< 0 or 1
  kOnes,         ///< all 1
  kZeros,        ///< all 0
  kSigned,       ///< whole numbers -2 to 2
  kPermutation,  ///< 0, 1, 2, ... shuffled
  kLarge,        ///< whole numbers to 100
};
inline constexpr int kDrawCount = 11;

/// A tensor of any type but string, elements drawn as told.
Constant draw(DataType type, const std::vector<int64_t>& extents, Draw how, Random& random);

/// A tensor with these whole numbers as elements.
Constant whole_numbers(DataType type, const std::vector<int64_t>& extents,
                       const std::vector<int64_t>& values);

/// float, double, float16 and bfloat16.
bool is_rounded(DataType type);

/// Every element of a rounded type changed by `change`; nonfinite ones stay.
Constant changed(const Constant& tensor, const std::function<double(double)>& change);

/// Every NaN and every zero of a rounded type with the other sign.
Constant with_signs_turned(const Constant& tensor);

/// The same elements as doubles.
Constant as_double(const Constant& tensor);
/// The same in float, rounded.
Constant as_float(const Constant& tensor);

/// What is known of the magnitudes of a tensor.
struct Scale {
  double largest = 0;  ///< among finite elements
  int64_t nonfinite = 0;
};
Scale scale_of(const Constant& tensor);

/// The distance of 1 to the next number of a rounded type.
double epsilon_of(DataType type);

/// The largest distance of two tensors; nothing if type, extents, or elements that are no finite
/// numbers differ. Bytes are compared where elements are no numbers.
std::optional<double> distance(const Constant& found, const Constant& expected);

}  // namespace intarsia::test
