// SPDX-License-Identifier: Apache-2.0
//
// Gemm in float by a constant matrix, which the converter packs in panels of 16 columns
// (gemm/pack.h) with alpha, beta and transB folded in, and with fused residual and activation. C is
// a bias per column: absent, a scalar, or one row. Matrix and C keep their ONNX extents in the
// plan. The residual may be the same memory as Y.
#include "core/kernel_list.h"
#include "core/operators/linear_algebra/matmul.h"
#include "kernels_cpu/common/bounded.h"
#include "kernels_cpu/common/epilogue.h"
#include "kernels_cpu/gemm/pack.h"
#include "kernels_cpu/linear_algebra/product_args.h"

namespace intarsia::cpu {
namespace {

bool is_row(const TensorView& c, int64_t n) {
  if (!c.present()) return true;
  const int64_t columns = c.rank == 0 ? 1 : c.extents[c.rank - 1];
  return c.count() == columns && (columns == 1 || columns == n);
}

int64_t columns_of(const KernelContext& context) {
  const TensorView& b = context.input(1);
  return b.extents[context.attributes<GemmAttributes>().trans_b != 0 ? 0 : 1];
}

struct GemmPacked {
  using Rule = ops::Gemm;
  static constexpr KernelId id{"Gemm", "packed", {DataType::kFloat}};
  static constexpr std::string_view kBoundedVariant = "bounded";
  static constexpr std::string_view packing = "panels of 16 columns";
  static constexpr InPlace in_place{3};

  static bool supports(const KernelContext& context) {
    const auto& attributes = context.attributes<GemmAttributes>();
    const TensorView& b = context.input(1);
    const TensorView& c = context.input(2);
    return attributes.trans_a == 0 && b.data != nullptr && b.count() > 0 &&
           (!c.present() || c.data != nullptr) && is_row(c, columns_of(context));
  }

  static int64_t packed_bytes(const KernelContext& context, int input) {
    const TensorView& b = context.input(1);
    const int64_t n = columns_of(context);
    if (input == 1) return panel_bytes(1, n == 0 ? 0 : b.count() / n, n).value();
    return input == 2 && context.input(2).present() ? 4 * n : 0;
  }

  static void pack(const KernelContext& context, int input, void* packed) {
    const auto& attributes = context.attributes<GemmAttributes>();
    const int64_t n = columns_of(context);
    auto* out = static_cast<float*>(packed);
    if (input == 2) {
      const TensorView& c = context.input(2);
      const int64_t step = c.count() == 1 ? 0 : 1;
      for (int64_t i = 0; i < n; ++i) out[i] = attributes.beta * c.as<const float>()[i * step];
      return;
    }
    const TensorView& b = context.input(1);
    const int64_t k = b.count() / n;
    if (attributes.trans_b != 0) {
      pack_b_transposed(b.as<const float>(), k, k, n, out);
    } else {
      pack_b(b.as<const float>(), n, k, n, out);
    }
    if (attributes.alpha == 1) return;
    const int64_t count = packed_floats(1, k, n);
    for (int64_t i = 0; i < count; ++i) out[i] *= attributes.alpha;
  }

  static Status check(const KernelContext& context) {
    if (Status status = check_with_epilogue<Rule, float>(context); !status) return status;
    const auto& attributes = context.attributes<GemmAttributes>();
    if (attributes.trans_a != 0) {
      return context.fail(Code::kInvalidValue, "transA", 0, attributes.trans_a);
    }
    for (int input : {1, 2}) {
      if (!context.input(input).present()) continue;
      if (Status s = check_capacity(context, input, packed_bytes(context, input)); !s) return s;
    }
    return {};
  }

  static void compute(const KernelContext& context, const Epilogue& epilogue) {
    const TensorView& a = context.input(0);
    const GemmShape shape{a.extents[0], columns_of(context), a.extents[1]};
    run_product(context, product_args(context, shape, epilogue));
  }
};

}  // namespace

extern const KernelList gemm_packed_kernels;
constinit const KernelList gemm_packed_kernels =
    kernel_list<Bounded<GemmPacked>, AnyActivation<GemmPacked>>();

}  // namespace intarsia::cpu
