// SPDX-License-Identifier: Apache-2.0
#include "kernels_cpu/linear_algebra/matmul_reference.h"

#include <cmath>

#include "core/operators/linear_algebra/matmul.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/activated.h"

namespace intarsia::cpu {
namespace {

/// One row of A times a matrix B: where the elements lie.
template <class T>
struct RowProduct {
  const T* a;       // the row
  int64_t a_inner;  // elements from one of its elements to the next
  const T* b;
  int64_t b_inner, b_column;
  int64_t inner, columns;

  /// sums[j] = the row times column first + j.
  void columns_at(int64_t first, int64_t lanes, Accumulator<T>* sums) const {
    const T* start = b + first * b_column;
    for (int64_t j = 0; j < lanes; ++j) sums[j] = {};
    if (b_column == 1) {
      for (int64_t k = 0; k < inner; ++k) {
        const auto factor = accumulable<T>(a[k * a_inner]);
        const T* row = start + k * b_inner;
        for (int64_t j = 0; j < lanes; ++j) sums[j] += factor * accumulable<T>(row[j]);
      }
    } else {
      for (int64_t j = 0; j < lanes; ++j) sums[j] = dot(start + j * b_column);
    }
  }

 private:
  Accumulator<T> dot(const T* column) const {
    constexpr int kParts = 8;
    Accumulator<T> parts[kParts] = {};
    int64_t k = 0;
    if (a_inner == 1 && b_inner == 1) {
      for (; k + kParts <= inner; k += kParts) {
        for (int p = 0; p < kParts; ++p) {
          parts[p] += accumulable<T>(a[k + p]) * accumulable<T>(column[k + p]);
        }
      }
    }
    for (; k < inner; ++k) {
      parts[0] += accumulable<T>(a[k * a_inner]) * accumulable<T>(column[k * b_inner]);
    }
    Accumulator<T> sum = parts[0];
    for (int p = 1; p < kParts; ++p) sum += parts[p];
    return sum;
  }
};

/// Computes one output row; `finish(column, sum)` stores.
template <class T, class Finish>
void multiply_row(const RowProduct<T>& product, const Finish& finish) {
  for (int64_t first = 0; first < product.columns; first += kLanes) {
    const int64_t left = product.columns - first;
    const int64_t lanes = left < kLanes ? left : kLanes;
    Accumulator<T> sums[kLanes];
    product.columns_at(first, lanes, sums);
    for (int64_t j = 0; j < lanes; ++j) finish(first + j, sums[j]);
  }
}

/// Matrix number `index` of an operand with `rank` axes under the batch axes of the output.
int64_t batch_offset(const TensorView& view, const int32_t* batch, int batch_rank, int64_t index) {
  const int own = view.rank > 2 ? view.rank - 2 : 0;
  int64_t stride = 1;
  for (int axis = own; axis < view.rank; ++axis) stride *= view.extents[axis];
  int64_t offset = 0;
  for (int i = batch_rank - 1; i >= 0; --i) {
    const int64_t at = index % batch[i];
    index /= batch[i];
    const int axis = i - (batch_rank - own);
    if (axis < 0) continue;
    if (view.extents[axis] != 1) offset += at * stride;
    stride *= view.extents[axis];
  }
  return offset;
}

/// `value` scaled by Gemm's alpha or beta. Integers are given whole factors only (`check`).
template <class T>
Accumulator<T> scaled(Accumulator<T> value, float factor) {
  if constexpr (std::is_floating_point_v<Accumulator<T>>) {
    return value * static_cast<Accumulator<T>>(factor);
  } else {
    return value * static_cast<Accumulator<T>>(static_cast<int64_t>(factor));
  }
}

}  // namespace

template <class T>
Status MatMul<T>::check(const KernelContext& context) {
  constexpr KernelType t = kernel_type_of<T>;
  const OperandTypes types{.inputs = {t, t, t, t}, .required_inputs = 2, .outputs = {t}};
  if (Status status = check_operands<ops::MatMul>(context, types); !status) return status;
  return check_activation<T>(context, context.attributes<MatMulAttributes>());
}

template <class T>
Status MatMul<T>::run(const KernelContext& context) {
  const TensorView& a = context.input(0);
  const TensorView& b = context.input(1);
  const TensorView& y = context.output(0);
  if (y.count() == 0) return {};
  const int64_t rows = a.rank > 1 ? a.extents[a.rank - 2] : 1;
  const int64_t inner = a.extents[a.rank - 1];
  const int64_t columns = b.rank > 1 ? b.extents[b.rank - 1] : 1;
  const int a_batch = a.rank > 2 ? a.rank - 2 : 0;
  const int b_batch = b.rank > 2 ? b.rank - 2 : 0;
  const int batch_rank = a_batch > b_batch ? a_batch : b_batch;
  int64_t batches = 1;
  for (int i = 0; i < batch_rank; ++i) batches *= y.extents[i];
  const T* bias = context.input(2).as<const T>();
  const T* residual = context.input(3).as<const T>();
  T* out = y.as<T>();
  const ActivationSpec activation = activation_of(context.attributes<MatMulAttributes>());

  context.parallel_for(batches * rows, [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      const int64_t batch = row / rows;
      const RowProduct<T> product{
          a.as<const T>() + batch_offset(a, y.extents, batch_rank, batch) + row % rows * inner,
          1,
          b.as<const T>() + batch_offset(b, y.extents, batch_rank, batch),
          columns,
          1,
          inner,
          columns};
      multiply_row<T>(product, [&](int64_t column, Accumulator<T> sum) {
        const int64_t at = row * columns + column;
        if (bias != nullptr) sum += accumulable<T>(bias[column]);
        if (residual != nullptr) sum += accumulable<T>(residual[at]);
        out[at] = activated<T>(activation, sum);
      });
    }
  });
  return {};
}

template <class T>
Status Gemm<T>::check(const KernelContext& context) {
  constexpr KernelType t = kernel_type_of<T>;
  const OperandTypes types{.inputs = {t, t, t, t}, .required_inputs = 2, .outputs = {t}};
  if (Status status = check_operands<ops::Gemm>(context, types); !status) return status;
  const auto& a = context.attributes<GemmAttributes>();
  if (!std::is_floating_point_v<Accumulator<T>>) {
    for (const float factor : {a.alpha, a.beta}) {
      // Beyond 2^24 a float no longer tells neighbouring integers apart.
      if (!(std::fabs(factor) <= 0x1p24f) || factor != std::trunc(factor)) {
        return context.fail(Code::kUnsupported, "fractional alpha or beta of an integer Gemm");
      }
    }
  }
  return check_activation<T>(context, a);
}

template <class T>
Status Gemm<T>::run(const KernelContext& context) {
  const auto& attributes = context.attributes<GemmAttributes>();
  const TensorView& a = context.input(0);
  const TensorView& b = context.input(1);
  const TensorView& c = context.input(2);
  const bool trans_a = attributes.trans_a != 0;
  const bool trans_b = attributes.trans_b != 0;
  const int64_t rows = a.extents[trans_a ? 1 : 0];
  const int64_t inner = a.extents[trans_a ? 0 : 1];
  const int64_t columns = b.extents[trans_b ? 0 : 1];
  const T* addend = c.as<const T>();
  const T* residual = context.input(3).as<const T>();
  T* y = context.output(0).as<T>();
  if (context.output(0).count() == 0) return {};
  // C broadcasts to the output: an axis of extent 1, or a missing one, stands still.
  const int64_t c_columns = c.rank > 0 ? c.extents[c.rank - 1] : 1;
  const int64_t c_row = c.rank > 1 && c.extents[0] != 1 ? c_columns : 0;
  const int64_t c_column = c_columns != 1 ? 1 : 0;
  const ActivationSpec activation = activation_of(attributes);

  context.parallel_for(rows, [&](int64_t begin, int64_t end, int) {
    for (int64_t row = begin; row < end; ++row) {
      const RowProduct<T> product{a.as<const T>() + row * (trans_a ? 1 : inner),
                                  trans_a ? rows : 1,
                                  b.as<const T>(),
                                  trans_b ? 1 : columns,
                                  trans_b ? inner : 1,
                                  inner,
                                  columns};
      multiply_row<T>(product, [&](int64_t column, Accumulator<T> sum) {
        const int64_t at = row * columns + column;
        sum = scaled<T>(sum, attributes.alpha);
        if (addend != nullptr) {
          const auto term = accumulable<T>(addend[row * c_row + column * c_column]);
          sum += scaled<T>(term, attributes.beta);
        }
        if (residual != nullptr) sum += accumulable<T>(residual[at]);
        y[at] = activated<T>(activation, sum);
      });
    }
  });
  return {};
}

template struct MatMul<float>;
template struct MatMul<double>;
template struct MatMul<Float16>;
template struct MatMul<BFloat16>;
template struct MatMul<int32_t>;
template struct MatMul<uint32_t>;
template struct MatMul<int64_t>;
template struct MatMul<uint64_t>;
template struct Gemm<float>;
template struct Gemm<double>;
template struct Gemm<Float16>;
template struct Gemm<BFloat16>;
template struct Gemm<int32_t>;
template struct Gemm<uint32_t>;
template struct Gemm<int64_t>;
template struct Gemm<uint64_t>;

}  // namespace intarsia::cpu
