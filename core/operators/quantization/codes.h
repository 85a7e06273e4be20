// SPDX-License-Identifier: Apache-2.0
//
// Shape rules of the converter's own operators on codes, bytes that stand for numbers: what
// quantised operators of com.microsoft become where no float is needed in between.
#pragma once

#include "core/operators/elementwise/elementwise.h"
#include "core/operators/linear_algebra/matmul.h"

namespace intarsia::ops {

/// Codes A and B, which broadcast, and numbers for all elements:
///
///     AddCodes(A, B, f, c, g)          saturate(round((f A + c) + g B))
///     MultiplyCodes(A, B, a, b, f, c)  saturate(round((A - a) (B - b) f + c))
///     AddDequantized(A, B, a, f, b, g, s, z)
///                                      saturate(round(((A - a) f + (B - b) g) / s) + z)
///     MultiplyDequantized(A, B, a, f, b, g, s, z)
///                                      saturate(round((A - a) f ((B - b) g) / s) + z)
///
/// in float, ties to even: the last two are what DequantizeLinear, Add or Mul, and QuantizeLinear
/// compute, to the bit. The numbers of AddCodes are such that it makes no difference for any codes
/// whether products are rounded before they are added.
struct CombineCodes {
  static constexpr std::string_view name = "CombineCodes";
  template <class S>
  static Status infer(S& s) {
    for (int input = 2; input < s.input_count(); ++input) {
      if (s.rank(input) != 0) {
        return s.fail(Code::kWrongRank, "rank of a number", 0, s.rank(input), input);
      }
    }
    return Broadcast::infer(s);
  }
};

/// Y = table[X], where the codes 0 to 255 come first to last, those of signed bytes as their bits.
struct MapCodes {
  static constexpr std::string_view name = "MapCodes";
  static constexpr int64_t kEntries = 256;
  template <class S>
  static Status infer(S& s) {
    Shape<typename S::Dim> table;
    table.push(kEntries);
    if (Status t = require_shape(s, 1, table); !t) return t;
    return s.set_output(0, s.type(1), s.shape(0));
  }
};

}  // namespace intarsia::ops
