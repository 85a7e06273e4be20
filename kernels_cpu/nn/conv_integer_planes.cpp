// SPDX-License-Identifier: Apache-2.0
//
// ConvInteger of few terms in planes, as ONNX has them (gemm/planes.h): floats hold such sums
// exactly. For nodes that stand alone (ops::gain_of_integer_channels_last): vectors of columns have
// work for a single filter, and neither the image nor the sums, four times as large, are turned.
// The sums take the place of floats in the output's memory.
#include <algorithm>
#include <bit>

#include "core/kernel_list.h"
#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/common/packed_at_run.h"
#include "kernels_cpu/gemm/even_block.h"
#include "kernels_cpu/gemm/planes.h"
#include "kernels_cpu/math/element.h"
#include "kernels_cpu/nn/conv_integer.h"
#include "kernels_cpu/nn/conv_shape.h"

namespace intarsia::cpu {
namespace {

ConvShape planes_of(const KernelContext& context) {
  const auto& a = context.attributes<IntegerConvAttributes>();
  return conv_shape(context, a.window, a.group, false);
}

/// loop(begin, end) for pieces of [0, count) on all threads, each compiled for the vectors there
/// are.
template <class Loop>
void for_pieces(const KernelContext& context, int64_t count, const Loop& loop) {
  constexpr int64_t kPiece = 1 << 14;
  context.parallel_for(ceil_div(count, kPiece), [&](int64_t first, int64_t last, int) {
    const int64_t begin = first * kPiece, end = std::min(last * kPiece, count);
    on_widest_isa(context.isa(), [&] { loop(begin, end); });
  });
}

/// x without its zero point.
void widen_image(const KernelContext& context, float* to) {
  const ByteOperand x(context, 0, kZeroPoints);
  const int zero = *x.zeros ^ x.flip;
  for_pieces(context, context.input(0).count(),
             [=, from = x.data, flip = x.flip](int64_t begin, int64_t end) {
               INTARSIA_INDEPENDENT
               for (int64_t i = begin; i < end; ++i) {
                 to[i] = static_cast<float>((from[i] ^ flip) - zero);
               }
             });
}

/// Sums become integers where they are. None is beyond the limits, unless packed weights are not
/// what they say; no conversion is undefined even so.
void round_sums(const KernelContext& context, int32_t* y) {
  constexpr float kLimit = 1 << 24;
  for_pieces(context, context.output(0).count(), [=](int64_t begin, int64_t end) {
    INTARSIA_INDEPENDENT
    for (int64_t i = begin; i < end; ++i) {
      float sum = std::bit_cast<float>(y[i]);
      sum = sum > -kLimit ? sum : -kLimit;
      y[i] = static_cast<int32_t>(sum < kLimit ? sum : kLimit);
    }
  });
}

template <class X, class W>
struct ConvIntegerPlanes {
  static constexpr KernelId id{"ConvInteger", "planes", {kernel_type_of<X>, kernel_type_of<W>}};
  static constexpr KernelLayout layout = KernelLayout::kChannelsFirst;
  static constexpr KernelTargets targets = kPackingTargets;
  static constexpr std::string_view packing = "columns of 12 filters, in floats";

  static bool serves(const KernelContext& context) {
    return context.input(0).rank <= 5 && terms(context) <= ops::kExactIntegerTerms;
  }
  /// Products of a sum.
  static int64_t terms(const KernelContext& context) {
    const TensorView& w = context.input(1);
    return w.count() > 0 ? w.count() / w.extents[0] : 0;
  }
  static bool supports(const KernelContext& context) {
    return has_constant_filters(context, kZeroPoints) && serves(context);
  }
  static int64_t packed_bytes(const KernelContext& context, int input) {
    if (input != 1) return 0;
    return (CheckedInt(context.input(1).count()) * int64_t{sizeof(float)}).value();
  }
  static void pack(const KernelContext& context, int, void* packed) {
    const TensorView& w = context.input(1);
    const ByteOperand weights(context, 1, kZeroPoints);
    const int64_t groups = context.attributes<IntegerConvAttributes>().group;
    if (w.count() == 0) return;
    const int64_t k = terms(context);
    for_packed_planes(groups, w.extents[0] / groups, k, [&](int64_t filter, int64_t i) {
      const int value = weights.difference(weights.data[filter * k + i], filter);
      *static_cast<float*>(packed) = static_cast<float>(value);
      packed = static_cast<float*>(packed) + 1;
    });
  }

  /// The image in floats, and the strips of all threads.
  static CheckedInt image_bytes(const KernelContext& context) {
    return DerivedNode::room(CheckedInt(context.input(0).count()) * int64_t{sizeof(float)});
  }
  static int64_t workspace(const KernelContext& context) {
    const CheckedInt strips = plane_workspace_bytes(planes_of(context)) * context.threads();
    return (image_bytes(context) + strips).value();
  }
  static Status check(const KernelContext& context) {
    if (Status status = check_conv_integer<X, W>(context); !status) return status;
    const int32_t last = context.attributes<IntegerConvAttributes>().channels_last;
    if (last != 0) return context.fail(Code::kInvalidValue, "channels_last", 0, last);
    const int rank = context.input(0).rank;
    if (rank > 5) return context.fail(Code::kWrongRank, "input rank", 5, rank, 0);
    if (const int64_t k = terms(context); k > ops::kExactIntegerTerms) {
      return context.fail(Code::kInvalidValue, "products of a sum", ops::kExactIntegerTerms, k, 1);
    }
    if (Status s = check_capacity(context, 1, packed_bytes(context, 1)); !s) return s;
    return check_workspace(context, workspace(context));
  }
  static Status run(const KernelContext& context) {
    if (context.output(0).count() == 0) return {};
    auto* image = reinterpret_cast<float*>(context.workspace().data());
    widen_image(context, image);
    const ConvArgs args{.shape = planes_of(context),
                        .input = image,
                        .weights = context.input(1).as<const float>(),
                        .output = context.output(0).as<float>(),
                        .isa = context.isa()};
    const std::span<std::byte> strips =
        context.workspace().subspan(static_cast<size_t>(image_bytes(context).value()));
    const size_t share = strips.size() / static_cast<size_t>(context.threads()) / 64 * 64;
    context.parallel_for(plane_units(args.shape), [&](int64_t begin, int64_t end, int thread) {
      plane_run(args, begin, end, strips.data() + static_cast<size_t>(thread) * share);
    });
    round_sums(context, context.output(0).as<int32_t>());
    return {};
  }
};

template <class X, class W>
using OfComputed = PackedAtRun<ConvIntegerPlanes<X, W>>;

using Bytes = Types<int8_t, uint8_t>;

}  // namespace

extern const KernelList conv_integer_planes_kernels;
constinit const KernelList conv_integer_planes_kernels =
    kernel_list<EachPair<ConvIntegerPlanes, Bytes, Bytes>, EachPair<OfComputed, Bytes, Bytes>>();

}  // namespace intarsia::cpu
