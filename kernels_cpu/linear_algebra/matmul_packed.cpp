// SPDX-License-Identifier: Apache-2.0
#include "kernels_cpu/linear_algebra/matmul_packed.h"

#include "core/operators/linear_algebra/matmul.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/gemm/gemm.h"
#include "kernels_cpu/gemm/pack.h"

namespace intarsia::cpu {
namespace {

constexpr KernelType kFloatType = DataType::kFloat;

/// One product with a packed second factor; the operands are A, B, bias and residual, all dense.
void run_packed(const KernelContext& context, const GemmShape& shape, const Epilogue& epilogue) {
  GemmArgs args{shape,
                context.input(0).as<const float>(),
                shape.k,
                context.input(1).as<const float>(),
                context.output(0).as<float>(),
                shape.n};
  args.bias = context.input(2).as<const float>();
  args.residual = context.input(3).as<const float>();
  args.residual_pitch = shape.n;
  args.epilogue = epilogue;
  args.isa = context.isa();
  context.parallel_for(gemm_units(shape),
                       [&](int64_t begin, int64_t end, int) { gemm_run(args, begin, end); });
}

/// All leading axes of A are rows.
GemmShape packed_shape(const KernelContext& context) {
  const TensorView& b = context.input(1);
  const int64_t k = b.extents[0], n = b.extents[1];
  const TensorView& y = context.output(0);
  return {n == 0 ? 0 : y.count() / n, n, k};
}

// -- MatMul of two computed operands
// ---------------------------------------------------------------

struct BatchedShape {
  GemmShape gemm;
  int64_t batches;
};

BatchedShape computed_shape(const KernelContext& context) {
  const TensorView& a = context.input(0);
  const TensorView& y = context.output(0);
  const GemmShape gemm{y.extents[y.rank - 2], y.extents[y.rank - 1], a.extents[a.rank - 1]};
  int64_t batches = 1;
  for (int axis = 0; axis < y.rank - 2; ++axis) batches *= y.extents[axis];
  return {gemm, batches};
}

/// Index of the matrix of `operand` that serves matrix `batch` of Y.
int64_t matrix_index(const TensorView& operand, const TensorView& y, int64_t batch) {
  int64_t index = 0, stride = 1;
  for (int axis = y.rank - 3; axis >= 0; --axis) {
    const int64_t position = batch % y.extents[axis];
    batch /= y.extents[axis];
    const int own = axis - (y.rank - operand.rank);
    if (own < 0) continue;
    if (operand.extents[own] != 1) index += position * stride;
    stride *= operand.extents[own];
  }
  return index;
}

// -- Gemm
// ------------------------------------------------------------------------------------------

/// C is a bias per column: absent, a scalar, or one row.
bool is_row(const TensorView& c, int64_t n) {
  if (!c.present()) return true;
  const int64_t columns = c.rank == 0 ? 1 : c.extents[c.rank - 1];
  return c.count() == columns && (columns == 1 || columns == n);
}

int64_t gemm_columns(const KernelContext& context) {
  const TensorView& b = context.input(1);
  return b.extents[context.attributes<GemmAttributes>().trans_b != 0 ? 0 : 1];
}

GemmShape gemm_shape(const KernelContext& context) {
  const TensorView& a = context.input(0);
  return {a.extents[0], gemm_columns(context), a.extents[1]};
}

}  // namespace

bool MatMulPacked::supports(const KernelContext& context) {
  const TensorView& b = context.input(1);
  return b.data != nullptr && b.rank == 2 && b.count() > 0;
}

int64_t MatMulPacked::packed_bytes(const KernelContext& context, int input) {
  const TensorView& b = context.input(1);
  return input == 1 ? panel_bytes(1, b.extents[0], b.extents[1]).value() : 0;
}

void MatMulPacked::pack(const KernelContext& context, int, void* packed) {
  const TensorView& b = context.input(1);
  pack_b(b.as<const float>(), b.extents[1], b.extents[0], b.extents[1],
         static_cast<float*>(packed));
}

Status MatMulPacked::check(const KernelContext& context) {
  constexpr KernelType t = kFloatType;
  const OperandTypes types{.inputs = {t, t, t, t}, .required_inputs = 2, .outputs = {t}};
  if (Status status = check_operands<ops::MatMul>(context, types); !status) return status;
  if (context.input(1).rank != 2) {
    return context.fail(Code::kWrongRank, "rank of the packed factor", 2, context.input(1).rank, 1);
  }
  return check_capacity(context, 1, packed_bytes(context, 1));
}

ActivationSpec MatMulPacked::activation(const KernelContext& context) {
  return activation_of(context.attributes<MatMulAttributes>());
}

void MatMulPacked::compute(const KernelContext& context, const Epilogue& epilogue) {
  run_packed(context, packed_shape(context), epilogue);
}

Status MatMulPacked::run(const KernelContext& context) {
  compute(context, epilogue_of(activation(context), context.isa()));
  return {};
}

template struct Bounded<MatMulPacked>;

bool MatMulComputed::supports(const KernelContext& context) {
  return context.input(0).rank >= 2 && context.input(1).rank >= 2;
}

int64_t MatMulComputed::workspace(const KernelContext& context) {
  const GemmShape shape = computed_shape(context).gemm;
  return (panel_bytes(1, shape.k, shape.n) * context.threads()).value();
}

Status MatMulComputed::check(const KernelContext& context) {
  constexpr KernelType t = kFloatType;
  const OperandTypes types{.inputs = {t, t, t, t}, .required_inputs = 2, .outputs = {t}};
  if (Status status = check_operands<ops::MatMul>(context, types); !status) return status;
  for (int input : {0, 1}) {
    const int rank = context.input(input).rank;
    if (rank < 2) return context.fail(Code::kWrongRank, "rank of a factor", 2, rank, input);
  }
  return check_workspace(context, workspace(context));
}

Status MatMulComputed::run(const KernelContext& context) {
  const TensorView& a = context.input(0);
  const TensorView& b = context.input(1);
  const TensorView& y = context.output(0);
  if (y.count() == 0) return {};
  const BatchedShape batched = computed_shape(context);
  const GemmShape& shape = batched.gemm;
  const size_t panels = static_cast<size_t>(packed_floats(1, shape.k, shape.n)) * sizeof(float);
  GemmArgs common{shape, nullptr, shape.k, nullptr, nullptr, shape.n};
  common.bias = context.input(2).as<const float>();
  common.residual_pitch = shape.n;
  common.isa = context.isa();
  common.epilogue = epilogue_of(activation_of(context.attributes<MatMulAttributes>()), common.isa);
  const auto* residual = context.input(3).as<const float>();
  std::byte* workspace = context.workspace().data();
  context.parallel_for(batched.batches, [&](int64_t begin, int64_t end, int thread) {
    auto* packed = reinterpret_cast<float*>(workspace + static_cast<size_t>(thread) * panels);
    int64_t packed_matrix = -1;
    for (int64_t batch = begin; batch < end; ++batch) {
      const int64_t matrix = matrix_index(b, y, batch);
      if (matrix != packed_matrix) {
        pack_b(b.as<const float>() + matrix * shape.k * shape.n, shape.n, shape.k, shape.n, packed);
        packed_matrix = matrix;
      }
      GemmArgs args = common;
      args.a = a.as<const float>() + matrix_index(a, y, batch) * shape.m * shape.k;
      args.b = packed;
      args.c = y.as<float>() + batch * shape.m * shape.n;
      if (residual != nullptr) args.residual = residual + batch * shape.m * shape.n;
      gemm_run(args, 0, gemm_units(shape));
    }
  });
  return {};
}

bool GemmPacked::supports(const KernelContext& context) {
  const auto& attributes = context.attributes<GemmAttributes>();
  const TensorView& b = context.input(1);
  const TensorView& c = context.input(2);
  return attributes.trans_a == 0 && b.data != nullptr && b.count() > 0 &&
         (!c.present() || c.data != nullptr) && is_row(c, gemm_columns(context));
}

int64_t GemmPacked::packed_bytes(const KernelContext& context, int input) {
  const TensorView& b = context.input(1);
  const int64_t n = gemm_columns(context);
  if (input == 1) return panel_bytes(1, n == 0 ? 0 : b.count() / n, n).value();
  return input == 2 && context.input(2).present() ? 4 * n : 0;
}

void GemmPacked::pack(const KernelContext& context, int input, void* packed) {
  const auto& attributes = context.attributes<GemmAttributes>();
  const int64_t n = gemm_columns(context);
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

Status GemmPacked::check(const KernelContext& context) {
  constexpr KernelType t = kFloatType;
  const OperandTypes types{.inputs = {t, t, t, t}, .required_inputs = 2, .outputs = {t}};
  if (Status status = check_operands<ops::Gemm>(context, types); !status) return status;
  const auto& attributes = context.attributes<GemmAttributes>();
  if (attributes.trans_a != 0) {
    return context.fail(Code::kInvalidValue, "transA", 0, attributes.trans_a);
  }
  if (Status status = check_capacity(context, 1, packed_bytes(context, 1)); !status) return status;
  return context.input(2).present() ? check_capacity(context, 2, packed_bytes(context, 2))
                                    : Status();
}

ActivationSpec GemmPacked::activation(const KernelContext& context) {
  return activation_of(context.attributes<GemmAttributes>());
}

void GemmPacked::compute(const KernelContext& context, const Epilogue& epilogue) {
  run_packed(context, gemm_shape(context), epilogue);
}

Status GemmPacked::run(const KernelContext& context) {
  compute(context, epilogue_of(activation(context), context.isa()));
  return {};
}

template struct Bounded<GemmPacked>;

}  // namespace intarsia::cpu
