// SPDX-License-Identifier: Apache-2.0
//
// Formulas of codes without divisions in place of those that say what DequantizeLinear, an operator
// and QuantizeLinear compute (core/operators/quantization/codes.h), where all pairs of codes become
// the same ones by both.
#pragma once

#include <array>
#include <optional>

#include "intarsia/tensor.h"

namespace intarsia::converter {

/// The numbers of AddDequantized and MultiplyDequantized, in their order.
struct DequantizedNumbers {
  float a_zero, a_scale, b_zero, b_scale, scale, zero;
};

/// The numbers of AddCodes, A_factor, addend and B_factor, with which it gives the codes of
/// AddDequantized, for every pair of codes of this type (int8 or uint8), also if multiplications
/// and additions are fused: as a float is rounded in other places, they are looked for beside those
/// that follow from the formula. Nothing if there are none there.
std::optional<std::array<float, 3>> as_sum_of_codes(DataType type, const DequantizedNumbers& by);

/// The same of MultiplyCodes, A_zero, B_zero, factor and addend, and MultiplyDequantized.
std::optional<std::array<float, 4>> as_product_of_codes(DataType type,
                                                        const DequantizedNumbers& by);

}  // namespace intarsia::converter
