// SPDX-License-Identifier: Apache-2.0
#include "kernels_cuda/nn/conv.h"

#include "core/operators/nn/conv.h"
#include "kernels_cuda/linear_algebra/product_check.h"

namespace intarsia::cuda {

bool Conv::supports(const KernelContext& context) {
  return context.input(0).rank == 3 || context.input(0).rank == 4;
}

Status Conv::check(const KernelContext& context) {
  if (Status status = check_product<ops::Conv>(context); !status) return status;
  const int rank = context.input(0).rank;
  return supports(context) ? Status() : context.fail(Code::kWrongRank, "input rank", 4, rank, 0);
}

bool ConvPacked::supports(const KernelContext& context) {
  return Conv::supports(context) && context.input(1).data != nullptr;
}

int64_t ConvPacked::packed_bytes(const KernelContext& context, int input) {
  return input == 1 ? context.input(1).bytes() : 0;
}

void ConvPacked::pack(const KernelContext& context, int, void* packed) {
  const TensorView& w = context.input(1);
  const int64_t groups = context.attributes<ConvAttributes>().group;
  const int64_t filters = w.extents[0] / groups, channels = w.extents[1];
  const int64_t taps = w.extents[2] * (w.rank == 4 ? w.extents[3] : 1);
  const auto* from = w.as<const float>();
  auto* to = static_cast<float*>(packed);
  for (int64_t group = 0; group < groups; ++group) {
    for (int64_t tap = 0; tap < taps; ++tap) {
      for (int64_t channel = 0; channel < channels; ++channel) {
        for (int64_t filter = 0; filter < filters; ++filter) {
          *to++ = from[((group * filters + filter) * channels + channel) * taps + tap];
        }
      }
    }
  }
}

Status ConvPacked::check(const KernelContext& context) {
  return Conv::check(context);
}

}  // namespace intarsia::cuda
