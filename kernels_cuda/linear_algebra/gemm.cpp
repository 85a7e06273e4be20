// SPDX-License-Identifier: Apache-2.0
#include "kernels_cuda/linear_algebra/gemm.h"

#include "kernels_cuda/linear_algebra/product_check.h"

namespace intarsia::cuda {

Status MatMul::check(const KernelContext& context) {
  return check_product<ops::MatMul>(context);
}

Status Gemm::check(const KernelContext& context) {
  return check_product<ops::Gemm>(context);
}

bool GemmPacked::supports(const KernelContext& context) {
  return context.input(1).data != nullptr && context.attributes<GemmAttributes>().trans_b != 0;
}

int64_t GemmPacked::packed_bytes(const KernelContext& context, int input) {
  return input == 1 ? context.input(1).bytes() : 0;
}

void GemmPacked::pack(const KernelContext& context, int, void* packed) {
  const TensorView& b = context.input(1);
  const int64_t columns = b.extents[0], depth = b.extents[1];
  const auto* from = b.as<const float>();
  auto* to = static_cast<float*>(packed);
  for (int64_t k = 0; k < depth; ++k) {
    for (int64_t column = 0; column < columns; ++column) *to++ = from[column * depth + k];
  }
}

Status GemmPacked::check(const KernelContext& context) {
  if (Status status = check_product<ops::Gemm>(context); !status) return status;
  const int32_t trans_b = context.attributes<GemmAttributes>().trans_b;
  return trans_b != 0 ? Status() : context.fail(Code::kInvalidValue, "transB", 1, trans_b);
}

}  // namespace intarsia::cuda
