// SPDX-License-Identifier: Apache-2.0
#include "kernels_cpu/nn/conv_packed.h"

#include <cstdint>

#include "core/operators/nn/conv.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/gemm/conv.h"
#include "kernels_cpu/gemm/depthwise.h"
#include "kernels_cpu/gemm/pack.h"

namespace intarsia::cpu {
namespace {

/// X is N,[H,]W,C; W is O,C/group,[KH,]KW. A 1-D convolution has height 1.
ConvShape shape_of(const KernelContext& context) {
  const TensorView& x = context.input(0);
  const TensorView& w = context.input(1);
  const TensorView& y = context.output(0);
  const auto& attributes = context.attributes<ConvAttributes>();
  const WindowAttributes& window = attributes.window;
  const int spatial = x.rank - 2;
  const int width = spatial - 1;  // the axis of columns among the spatial ones
  ConvShape shape;
  shape.batch = x.extents[0];
  shape.in_c = x.extents[x.rank - 1];
  shape.out_c = y.extents[y.rank - 1];
  shape.in_w = x.extents[1 + width];
  shape.out_w = y.extents[1 + width];
  shape.kernel_w = w.extents[2 + width];
  shape.stride_w = window.stride(width);
  shape.dilation_w = window.dilation(width);
  shape.pad_left = window.pad_before(width, shape.in_w, shape.out_w, shape.kernel_w);
  if (spatial == 2) {
    shape.in_h = x.extents[1];
    shape.out_h = y.extents[1];
    shape.kernel_h = w.extents[2];
    shape.stride_h = window.stride(0);
    shape.dilation_h = window.dilation(0);
    shape.pad_top = window.pad_before(0, shape.in_h, shape.out_h, shape.kernel_h);
  }
  shape.groups = attributes.group;
  shape.in_pitch = shape.in_c;
  shape.out_pitch = shape.out_c;
  return shape;
}

CheckedInt weight_bytes(const TensorView& w, int64_t groups) {
  const int64_t filters = w.extents[0];
  const int64_t k = filters == 0 ? 0 : w.count() / filters;
  return panel_bytes(groups, k, filters / groups);
}

bool is_candidate(const KernelContext& context) {
  const TensorView& x = context.input(0);
  const auto& attributes = context.attributes<ConvAttributes>();
  return attributes.channels_last != 0 && (x.rank == 3 || x.rank == 4) &&
         context.input(1).data != nullptr && context.input(1).count() > 0;
}

bool is_depthwise(const KernelContext& context) {
  const auto& attributes = context.attributes<ConvAttributes>();
  const TensorView& x = context.input(0);
  const TensorView& w = context.input(1);
  return attributes.group > 1 && attributes.group == x.extents[x.rank - 1] &&
         attributes.group == w.extents[0] && !context.input(3).present();
}

/// What both kernels rely on; `packed` is the size of the weights.
Status check_common(const KernelContext& context) {
  constexpr KernelType t = DataType::kFloat;
  const OperandTypes types{.inputs = {t, t, t, t}, .required_inputs = 2, .outputs = {t}};
  if (Status status = check_operands<ops::Conv>(context, types); !status) return status;
  const auto& attributes = context.attributes<ConvAttributes>();
  if (attributes.channels_last == 0) {
    return context.fail(Code::kInvalidValue, "channels_last", 1, attributes.channels_last);
  }
  const int rank = context.input(0).rank;
  if (rank != 3 && rank != 4) return context.fail(Code::kWrongRank, "input rank", 4, rank, 0);
  return {};
}

}  // namespace

bool ConvPacked::supports(const KernelContext& context) {
  return is_candidate(context);
}

int64_t ConvPacked::packed_bytes(const KernelContext& context, int input) {
  if (input != 1) return 0;
  return weight_bytes(context.input(1), context.attributes<ConvAttributes>().group).value();
}

void ConvPacked::pack(const KernelContext& context, int, void* packed) {
  const TensorView& w = context.input(1);
  const int64_t groups = context.attributes<ConvAttributes>().group;
  const bool image = w.rank == 4;
  pack_conv(w.as<const float>(), groups, w.extents[0] / groups, w.extents[1],
            image ? w.extents[2] : 1, w.extents[w.rank - 1], static_cast<float*>(packed));
}

int64_t ConvPacked::workspace(const KernelContext& context) {
  return (conv_workspace_bytes(shape_of(context)) * context.threads()).value();
}

Status ConvPacked::check(const KernelContext& context) {
  if (Status status = check_common(context); !status) return status;
  const int64_t groups = context.attributes<ConvAttributes>().group;
  const int64_t bytes = weight_bytes(context.input(1), groups).value();
  if (Status status = check_capacity(context, 1, bytes); !status) return status;
  return check_workspace(context, workspace(context));
}

ActivationSpec ConvPacked::activation(const KernelContext& context) {
  return activation_of(context.attributes<ConvAttributes>());
}

Status ConvPacked::run(const KernelContext& context) {
  compute(context, epilogue_of(activation(context), context.isa()));
  return {};
}

void ConvPacked::compute(const KernelContext& context, const Epilogue& epilogue) {
  ConvArgs args;
  args.shape = shape_of(context);
  args.input = context.input(0).as<const float>();
  args.weights = context.input(1).as<const float>();
  args.bias = context.input(2).as<const float>();
  args.residual = context.input(3).as<const float>();
  args.residual_pitch = args.shape.out_c;
  args.output = context.output(0).as<float>();
  args.epilogue = epilogue;
  args.isa = context.isa();
  const std::span<std::byte> workspace = context.workspace();
  const size_t per_thread = workspace.size() / static_cast<size_t>(context.threads()) / 64 * 64;
  context.parallel_for(conv_units(args.shape), [&](int64_t begin, int64_t end, int thread) {
    conv_run(args, begin, end, workspace.data() + static_cast<size_t>(thread) * per_thread);
  });
}

template struct Bounded<ConvPacked>;

bool ConvDepthwiseBase::supports(const KernelContext& context, int cols, int stride) {
  if (!is_candidate(context) || !is_depthwise(context)) return false;
  const ConvShape shape = shape_of(context);
  return cols == 0 || (shape.kernel_w == cols && shape.stride_w == stride * shape.dilation_w);
}

int64_t ConvDepthwiseBase::packed_bytes(const KernelContext& context, int input) {
  return input == 1 ? context.input(1).bytes() : 0;
}

void ConvDepthwiseBase::pack(const KernelContext& context, int, void* packed) {
  const TensorView& w = context.input(1);
  pack_depthwise(w.as<const float>(), w.extents[0], w.rank == 4 ? w.extents[2] : 1,
                 w.extents[w.rank - 1], static_cast<float*>(packed));
}

Status ConvDepthwiseBase::check(const KernelContext& context, int cols, int stride) {
  if (Status status = check_common(context); !status) return status;
  if (!is_depthwise(context)) {
    return context.fail(Code::kInvalidValue, "group",
                        context.input(0).extents[context.input(0).rank - 1],
                        context.attributes<ConvAttributes>().group);
  }
  const ConvShape shape = shape_of(context);
  if (cols != 0 && shape.kernel_w != cols) {
    return context.fail(Code::kInvalidValue, "kernel columns", cols, shape.kernel_w);
  }
  if (cols != 0 && shape.stride_w != stride * shape.dilation_w) {
    return context.fail(Code::kInvalidValue, "stride", stride * shape.dilation_w, shape.stride_w);
  }
  // The micro-kernel counts floats of a row with its padding in ptrdiff_t.
  const int64_t reach =
      (shape.out_w - 1) * shape.stride_w + (shape.kernel_w - 1) * shape.dilation_w;
  const int64_t columns = shape.pad_left > reach ? shape.pad_left : reach;
  const int64_t most = PTRDIFF_MAX / 16 / (shape.in_c > 0 ? shape.in_c : 1);
  if (columns > most) {
    return context.fail(Code::kUnsupported, "columns with their padding", most, columns, 0);
  }
  return check_capacity(context, 1, context.input(1).bytes());
}

ActivationSpec ConvDepthwiseBase::activation(const KernelContext& context) {
  return activation_of(context.attributes<ConvAttributes>());
}

void ConvDepthwiseBase::compute(const KernelContext& context, const Epilogue& epilogue,
                                DepthwiseFunction kernel) {
  DepthwiseArgs args;
  args.shape = shape_of(context);
  args.input = context.input(0).as<const float>();
  args.weights = context.input(1).as<const float>();
  args.bias = context.input(2).as<const float>();
  args.output = context.output(0).as<float>();
  args.epilogue = epilogue;
  args.kernel = kernel;
  context.parallel_for(depthwise_units(args.shape),
                       [&](int64_t begin, int64_t end, int) { depthwise_run(args, begin, end); });
}

}  // namespace intarsia::cpu
