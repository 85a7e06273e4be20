// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rule of MatMulBlocks, the converter's own: Y = A * W', where row n of W
// holds (code - zero) * scale, with a scale and a zero for each `block_size` codes.
//
// A is [..., K], codes are [N, blocks * block_size] of any width, scales and zeros, which are
// bytes, [N, blocks]. Codes behind the K-th of a row are none. No zeros: the middle of the codes'
// range.
#pragma once

#include "core/operators/linear_algebra/matmul.h"
#include "intarsia/shape.h"

namespace intarsia {

struct MatMulBlocksAttributes {
  /// A multiple of 16, so that blocks begin at whole bytes.
  int32_t block_size = 16;
  template <class V>
  void fields(V& v) {
    v("block_size", block_size, at_least(16));
  }
};
static_assert(is_plan_struct<MatMulBlocksAttributes>);

namespace ops {

struct MatMulBlocks {
  using Attributes = MatMulBlocksAttributes;
  static constexpr std::string_view name = "MatMulBlocks";
  enum Input { kA, kCodes, kScales, kZeros };

  template <class S>
  static Status infer(S& s) {
    using Dim = typename S::Dim;
    const int32_t size = s.template attributes<Attributes>().block_size;
    if (size < 16 || size % 16 != 0) {
      return s.fail(Code::kInvalidValue, "block_size, a multiple of", 16, size);
    }
    if (s.rank(kA) < 1) return s.fail(Code::kWrongRank, "rank of A", 1, s.rank(kA), kA);
    if (s.rank(kCodes) != 2) {
      return s.fail(Code::kWrongRank, "rank of the codes", 2, s.rank(kCodes), kCodes);
    }
    const int last = s.rank(kA) - 1;
    const Dim block = int64_t{size}, rows = s.dim(kCodes, 0);
    const Dim blocks = ceil_div(s.dim(kA, last), block);
    Status t = s.require_equal(blocks * block, s.dim(kCodes, 1), "codes of a row", kCodes, 1);
    if (!t) return t;
    Shape<Dim> each;
    each.push(rows);
    each.push(blocks);
    for (const int input : {kScales, kZeros}) {
      if (t = require_shape(s, input, each); !t) return t;
    }
    Shape<Dim> y = s.shape(kA);
    y[last] = rows;
    return s.set_output(0, s.type(kA), y);
  }
};

}  // namespace ops
}  // namespace intarsia
