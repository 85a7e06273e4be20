// SPDX-License-Identifier: Apache-2.0
//
// SupportVectors (support_vectors.h) in float where k depends on x . v alone: constant vectors lie
// in panels (gemm/pack.h), and a block of rows is a matrix product.
#include "core/kernel_list.h"
#include "kernels_cpu/gemm/gemm.h"
#include "kernels_cpu/gemm/pack.h"
#include "kernels_cpu/ml/support_vectors.h"

namespace intarsia::cpu {
namespace {

struct SupportVectorsPacked {
  static constexpr KernelId id{"intarsia:SupportVectors", "packed", {DataType::kFloat}};
  static constexpr std::string_view packing = "panels of 16 vectors";

  static bool supports(const KernelContext& context) {
    const TensorView& vectors = context.input(1);
    const auto& attributes = context.attributes<SupportVectorsAttributes>();
    return attributes.kernel != SupportVectorsAttributes::kRbf && vectors.data != nullptr &&
           vectors.rank == 2 && vectors.count() > 0;
  }
  static int64_t packed_bytes(const KernelContext& context, int input) {
    const TensorView& vectors = context.input(1);
    return input == 1 ? panel_bytes(1, vectors.extents[0], vectors.extents[1]).value() : 0;
  }
  static void pack(const KernelContext& context, int, void* packed) {
    const TensorView& vectors = context.input(1);
    pack_b(vectors.as<const float>(), vectors.extents[1], vectors.extents[0], vectors.extents[1],
           static_cast<float*>(packed));
  }

  static int64_t workspace(const KernelContext& context) {
    return support_workspace<float>(context);
  }
  static Status check(const KernelContext& context) {
    if (Status status = check_support_vectors<float>(context); !status) return status;
    const auto& attributes = context.attributes<SupportVectorsAttributes>();
    if (attributes.kernel == SupportVectorsAttributes::kRbf) {
      return context.fail(Code::kInvalidValue, "kernel of packed vectors",
                          SupportVectorsAttributes::kLinear, attributes.kernel);
    }
    return check_capacity(context, 1, packed_bytes(context, 1));
  }
  static Status run(const KernelContext& context) {
    const int64_t vectors = context.input(1).extents[1];
    return run_support_vectors<float>(
        context, [&](const SupportFunctions& functions, const float* rows, int64_t columns,
                     int64_t count, float* near) {
          GemmArgs args{};
          args.shape = {count, vectors, columns};
          args.a = rows;
          args.a_pitch = columns;
          args.b = context.input(1).as<const float>();
          args.c = near;
          args.c_pitch = vectors;
          args.isa = context.isa();
          gemm_run(args, 0, gemm_units(args.shape));
          const int64_t sums = count * vectors;
          for (int64_t i = 0; i < sums; i += kSupportSums) {
            finish_sums(context.attributes<SupportVectorsAttributes>(), functions, near + i,
                        std::min(kSupportSums, sums - i));
          }
        });
  }
};

}  // namespace

extern const KernelList support_vectors_packed_kernels;
constinit const KernelList support_vectors_packed_kernels = kernel_list<SupportVectorsPacked>();

}  // namespace intarsia::cpu
