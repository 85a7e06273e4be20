// SPDX-License-Identifier: Apache-2.0
//
// Attributes and shape rules of MatMul and Gemm.
//
// The converter may fuse what follows the product: a bias over the columns (MatMul's input 2, a
// vector of N), a residual of the output's extents (input 3), and an activation.
#pragma once

#include <type_traits>

#include "core/operators/common/attributes.h"
#include "core/operators/common/fused_activation.h"
#include "intarsia/shape.h"

namespace intarsia {

/// Y = activation(A * B + bias + residual).
struct MatMulAttributes {
  int32_t activation = 0;  // Activation
  float activation_alpha = 0;
  float activation_beta = 0;

  template <class V>
  void fields(V& v) {
    v.internal("activation", activation);
    v.internal("activation_alpha", activation_alpha);
    v.internal("activation_beta", activation_beta);
  }
};
static_assert(is_plan_struct<MatMulAttributes>);

/// Y = activation(alpha * A' * B' + bias + residual), where A' and B' have their last two axes
/// exchanged or not: the converter's own, for what comes before and behind a MatMul.
struct ScaledMatMulAttributes {
  float alpha = 1;
  int32_t trans_a = 0;
  int32_t trans_b = 0;
  int32_t activation = 0;  // Activation
  float activation_alpha = 0;
  float activation_beta = 0;

  template <class V>
  void fields(V& v) {
    v("alpha", alpha);
    v("transA", trans_a, kFlag);
    v("transB", trans_b, kFlag);
    v.internal("activation", activation);
    v.internal("activation_alpha", activation_alpha);
    v.internal("activation_beta", activation_beta);
  }
};
static_assert(is_plan_struct<ScaledMatMulAttributes>);

/// Y = activation(alpha * A' * B' + beta * C + residual).
struct GemmAttributes {
  float alpha = 1;
  float beta = 1;
  int32_t trans_a = 0;
  int32_t trans_b = 0;
  int32_t activation = 0;  // Activation
  float activation_alpha = 0;
  float activation_beta = 0;

  template <class V>
  void fields(V& v) {
    v("alpha", alpha);
    v("beta", beta);
    v("transA", trans_a, kFlag);
    v("transB", trans_b, kFlag);
    v.internal("activation", activation);
    v.internal("activation_alpha", activation_alpha);
    v.internal("activation_beta", activation_beta);
  }
};
static_assert(is_plan_struct<GemmAttributes>);

namespace ops {

/// Requires that input `input`, if present, has exactly the extents `shape`.
template <class S>
Status require_shape(S& s, int input, const Shape<typename S::Dim>& shape) {
  if (!s.has_input(input)) return {};
  if (s.rank(input) != shape.rank) {
    return s.fail(Code::kWrongRank, "rank of the operand", shape.rank, s.rank(input), input);
  }
  for (int axis = 0; axis < shape.rank; ++axis) {
    Status status =
        s.require_equal(shape[axis], s.dim(input, axis), "extent of the operand", input, axis);
    if (!status) return status;
  }
  return {};
}

/// The extents of a product by the rules of numpy.matmul: vectors are rows (left) or columns
/// (right) whose axis is dropped again; leading axes broadcast. Matrices may be transposed.
template <class S>
Status infer_product(S& s, Shape<typename S::Dim>& y, bool trans_a = false, bool trans_b = false) {
  const int left = s.rank(0);
  const int right = s.rank(1);
  const int least_left = trans_a ? 2 : 1, least_right = trans_b ? 2 : 1;
  if (left < least_left) {
    return s.fail(Code::kWrongRank, "rank of a matrix operand", least_left, left, 0);
  }
  if (right < least_right) {
    return s.fail(Code::kWrongRank, "rank of a matrix operand", least_right, right, 1);
  }
  const int a_inner = trans_a ? left - 2 : left - 1, b_column = trans_b ? right - 2 : right - 1;
  const auto inner = s.dim(1, trans_b ? right - 1 : right > 1 ? right - 2 : 0);
  if (Status status =
          s.require_equal(inner, s.dim(0, a_inner), "inner extent of the product", 0, a_inner);
      !status) {
    return status;
  }
  const int left_batch = left > 2 ? left - 2 : 0;
  const int right_batch = right > 2 ? right - 2 : 0;
  y.rank = left_batch > right_batch ? left_batch : right_batch;
  for (int i = 0; i < y.rank; ++i) {
    const int from_left = i - (y.rank - left_batch);
    const int from_right = i - (y.rank - right_batch);
    if (from_left >= 0 && from_right >= 0) {
      Status status = s.broadcast(s.dim(0, from_left), s.dim(1, from_right), y[i], 1, from_right);
      if (!status) return status;
    } else {
      y[i] = from_left >= 0 ? s.dim(0, from_left) : s.dim(1, from_right);
    }
  }
  if (left > 1) y.push(s.dim(0, trans_a ? left - 1 : left - 2));
  if (right > 1) y.push(s.dim(1, b_column));
  return {};
}

/// The output of a product with an epilogue: a bias of its columns, a residual.
template <class S>
Status infer_product_with_epilogue(S& s, bool trans_a = false, bool trans_b = false) {
  using Dim = typename S::Dim;
  Shape<Dim> y;
  if (Status status = infer_product(s, y, trans_a, trans_b); !status) return status;
  if (s.has_input(2)) {
    Shape<Dim> columns;
    columns.push(s.rank(1) > 1 ? y[y.rank - 1] : Dim(int64_t{1}));
    if (Status status = require_shape(s, 2, columns); !status) return status;
  }
  if (Status status = require_shape(s, 3, y); !status) return status;
  return s.set_output(0, s.type(0), y);
}

struct MatMul {
  using Attributes = MatMulAttributes;
  static constexpr std::string_view name = "MatMul";
  template <class S>
  static Status infer(S& s) {
    const auto& a = s.template attributes<MatMulAttributes>();
    if (Status status = validate_activation(s, a); !status) return status;
    return infer_product_with_epilogue(s);
  }
};

struct ScaledMatMul {
  using Attributes = ScaledMatMulAttributes;
  static constexpr std::string_view name = "ScaledMatMul";
  template <class S>
  static Status infer(S& s) {
    const auto& a = s.template attributes<ScaledMatMulAttributes>();
    if (Status status = validate_activation(s, a); !status) return status;
    return infer_product_with_epilogue(s, a.trans_a != 0, a.trans_b != 0);
  }
};

/// A zero point of `matrix`: one for all, a vector of one for each position of the axis `along`, or
/// a tensor of the matrix's rank that has one element along the axis `across`.
template <class S>
Status require_zero_point(S& s, int input, int matrix, int along, int across) {
  if (!s.has_input(input) || s.rank(input) == 0) return {};
  const int rank = s.rank(input), axes = s.rank(matrix);
  if (rank != 1 && rank != axes) {
    return s.fail(Code::kWrongRank, "rank of a zero point", axes, rank, input);
  }
  for (int axis = 0; axis < rank; ++axis) {
    const auto extent = s.dim(input, axis);
    if (is_constant(extent) && constant_value(extent) == 1) continue;
    const int of = rank == 1 ? along : axis;
    if (axes == 1 || of == across) {
      return s.require_equal(typename S::Dim(int64_t{1}), extent, "extent of a zero point", input,
                             axis);
    }
    Status status =
        s.require_equal(s.dim(matrix, of), extent, "extent of a zero point", input, axis);
    if (!status) return status;
  }
  return {};
}

/// The product of bytes without their zero points, inputs 2 and 3, which belong to the rows of A
/// and the columns of B.
struct MatMulInteger {
  using Attributes = NoAttributes;
  static constexpr std::string_view name = "MatMulInteger";
  template <class S>
  static Status infer(S& s) {
    Shape<typename S::Dim> y;
    if (Status status = infer_product(s, y); !status) return status;
    const int left = s.rank(0), right = s.rank(1);
    if (Status status = require_zero_point(s, 2, 0, left - 2, left - 1); !status) return status;
    if (Status status = require_zero_point(s, 3, 1, right - 1, right - 2); !status) return status;
    return s.set_output(0, DataType::kInt32, y);
  }
};

struct Gemm {
  using Attributes = GemmAttributes;
  static constexpr std::string_view name = "Gemm";
  template <class S>
  static Status infer(S& s) {
    using Dim = typename S::Dim;
    const auto& a = s.template attributes<GemmAttributes>();
    if (Status status = validate_activation(s, a); !status) return status;
    for (int input = 0; input < 2; ++input) {
      if (s.rank(input) != 2) {
        return s.fail(Code::kWrongRank, "rank of a matrix operand", 2, s.rank(input), input);
      }
    }
    const int a_inner = a.trans_a != 0 ? 0 : 1;
    const Dim inner = s.dim(1, a.trans_b != 0 ? 1 : 0);
    if (Status status =
            s.require_equal(inner, s.dim(0, a_inner), "inner extent of the product", 0, a_inner);
        !status) {
      return status;
    }
    Shape<Dim> y;
    y.push(s.dim(0, 1 - a_inner));
    y.push(s.dim(1, a.trans_b != 0 ? 0 : 1));
    if (s.has_input(2)) {
      const int rank = s.rank(2);
      if (rank > 2) return s.fail(Code::kWrongRank, "rank of the addend", 2, rank, 2);
      for (int axis = 0; axis < rank; ++axis) {
        const Dim extent = s.dim(2, axis);
        if (is_constant(extent) && constant_value(extent) == 1) continue;
        Status status =
            s.require_equal(y[2 - rank + axis], extent, "extent of the addend", 2, axis);
        if (!status) return status;
      }
    }
    if (Status status = require_shape(s, 3, y); !status) return status;
    return s.set_output(0, s.type(0), y);
  }
};

}  // namespace ops

/// What ScaledMatMul does to operands that MatMul takes as they are.
struct ProductForm {
  bool trans_a = false, trans_b = false;
  float alpha = 1;
};

/// What kernels of both are named and do; Rule is ops::MatMul or ops::ScaledMatMul.
template <class Rule>
inline constexpr std::string_view kProductName = "MatMul";
template <>
inline constexpr std::string_view kProductName<ops::ScaledMatMul> = "intarsia:ScaledMatMul";

template <class Rule, class Context>
ProductForm product_form(const Context& context) {
  if constexpr (std::is_same_v<Rule, ops::MatMul>) {
    return {};
  } else {
    const auto& attributes = context.template attributes<ScaledMatMulAttributes>();
    return {attributes.trans_a != 0, attributes.trans_b != 0, attributes.alpha};
  }
}

}  // namespace intarsia
