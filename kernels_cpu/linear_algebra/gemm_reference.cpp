// SPDX-License-Identifier: Apache-2.0
//
// The reference of ONNX Gemm, with the epilogue that fast kernels have:
//
//     Y = activation(alpha * A' * B' + beta * C + Z)
//
// Integers wrap, and take whole alpha and beta only. The residual Z may be the same memory as Y.
// Rows of the output are shared out over the threads.
// Specification: https://onnx.ai/onnx/operators/onnx__Gemm.html
#include "core/kernel_list.h"
#include "kernels_cpu/common/epilogue.h"
#include "kernels_cpu/linear_algebra/operands.h"
#include "kernels_cpu/linear_algebra/row_product.h"

namespace intarsia::cpu {
namespace {

template <class T>
struct Gemm {
  static constexpr KernelId id{"Gemm", "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{3};

  static Status check(const KernelContext& context) {
    if (Status status = check_with_epilogue<ops::Gemm, T>(context); !status) return status;
    if constexpr (!std::is_floating_point_v<Accumulator<T>>) {
      return check_factors(context);
    }
    return {};
  }

  static Status run(const KernelContext& context) {
    const auto& attributes = context.attributes<GemmAttributes>();
    const ProductLayout l = gemm_layout(context);
    if (context.output(0).count() == 0) return {};
    const auto alpha = factor_of<Accumulator<T>>(attributes.alpha);
    const auto beta = factor_of<Accumulator<T>>(attributes.beta);
    const ReferenceEpilogue<T> end(context, activation_of(attributes));

    context.parallel_for(l.rows, [&](int64_t first, int64_t last, int) {
      for (int64_t row = first; row < last; ++row) {
        const RowProduct<T> product{context.input(0).as<const T>() + row * l.a_row,
                                    l.a_inner,
                                    context.input(1).as<const T>(),
                                    l.b_inner,
                                    l.b_column,
                                    l.inner,
                                    l.columns};
        multiply_row<T>(product, [&](int64_t column, Accumulator<T> sum) {
          sum *= alpha;
          if (end.bias != nullptr) {
            const int64_t at = row * l.addend_row + column * l.addend_column;
            sum += accumulable<T>(end.bias[at]) * beta;
          }
          end.store(row * l.columns + column, sum);
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
