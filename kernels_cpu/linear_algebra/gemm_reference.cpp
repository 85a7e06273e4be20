// SPDX-License-Identifier: Apache-2.0
//
// The reference of ONNX Gemm, with the epilogue that fast kernels have:
//
//     Y = activation(alpha * A' * B' + beta * C + Z)
//
// Integers wrap, and take whole alpha and beta only. The residual Z may be the same memory as Y.
// Rows of the output are shared out over the threads.
// Specification: https://onnx.ai/onnx/operators/onnx__Gemm.html
#include <cmath>

#include "core/kernel_list.h"
#include "core/operators/linear_algebra/matmul.h"
#include "kernels_cpu/common/epilogue.h"
#include "kernels_cpu/linear_algebra/row_product.h"

namespace intarsia::cpu {
namespace {

/// `value` scaled by Gemm's alpha or beta. Integers are given whole factors only (`check`).
template <class T>
Accumulator<T> scaled(Accumulator<T> value, float factor) {
  if constexpr (std::is_floating_point_v<Accumulator<T>>) {
    return value * static_cast<Accumulator<T>>(factor);
  } else {
    return value * static_cast<Accumulator<T>>(static_cast<int64_t>(factor));
  }
}

template <class T>
struct Gemm {
  static constexpr KernelId id{"Gemm", "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{3};

  static Status check(const KernelContext& context) {
    if (Status status = check_with_epilogue<ops::Gemm, T>(context); !status) return status;
    if constexpr (!std::is_floating_point_v<Accumulator<T>>) {
      const auto& attributes = context.attributes<GemmAttributes>();
      for (const float factor : {attributes.alpha, attributes.beta}) {
        // Beyond 2^24 a float no longer tells neighbouring integers apart.
        if (!(std::fabs(factor) <= 0x1p24f) || factor != std::trunc(factor)) {
          return context.fail(Code::kUnsupported, "fractional alpha or beta of an integer Gemm");
        }
      }
    }
    return {};
  }

  static Status run(const KernelContext& context) {
    const auto& attributes = context.attributes<GemmAttributes>();
    const TensorView& a = context.input(0);
    const TensorView& b = context.input(1);
    const TensorView& c = context.input(2);
    const bool trans_a = attributes.trans_a != 0;
    const bool trans_b = attributes.trans_b != 0;
    const int64_t rows = a.extents[trans_a ? 1 : 0];
    const int64_t inner = a.extents[trans_a ? 0 : 1];
    const int64_t columns = b.extents[trans_b ? 0 : 1];
    if (context.output(0).count() == 0) return {};
    // C broadcasts to the output: an axis of extent 1, or a missing one, stands still.
    const int64_t c_columns = c.rank > 0 ? c.extents[c.rank - 1] : 1;
    const int64_t c_row = c.rank > 1 && c.extents[0] != 1 ? c_columns : 0;
    const int64_t c_column = c_columns != 1 ? 1 : 0;
    const ReferenceEpilogue<T> end(context, activation_of(attributes));

    context.parallel_for(rows, [&](int64_t first, int64_t last, int) {
      for (int64_t row = first; row < last; ++row) {
        const RowProduct<T> product{a.as<const T>() + row * (trans_a ? 1 : inner),
                                    trans_a ? rows : 1,
                                    b.as<const T>(),
                                    trans_b ? 1 : columns,
                                    trans_b ? inner : 1,
                                    inner,
                                    columns};
        multiply_row<T>(product, [&](int64_t column, Accumulator<T> sum) {
          sum = scaled<T>(sum, attributes.alpha);
          if (end.bias != nullptr) {
            const auto term = accumulable<T>(end.bias[row * c_row + column * c_column]);
            sum += scaled<T>(term, attributes.beta);
          }
          end.store(row * columns + column, sum);
        });
      }
    });
    return {};
  }
};

}  // namespace

extern const KernelList gemm_kernels;
constinit const KernelList gemm_kernels = kernel_list<Each<Gemm, WideNumbers>>();

}  // namespace intarsia::cpu
