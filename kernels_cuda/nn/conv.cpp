// SPDX-License-Identifier: Apache-2.0
#include "kernels_cuda/nn/conv.h"

namespace intarsia::cuda {
namespace {

int64_t taps_of(const TensorView& w) {
  return int64_t{w.extents[2]} * (w.rank == 4 ? w.extents[3] : 1);
}

bool is_depthwise(const KernelContext& context) {
  const auto& attributes = context.attributes<ConvAttributes>();
  const TensorView& w = context.input(1);
  return attributes.channels_last != 0 && w.extents[1] == 1 && w.extents[0] == attributes.group;
}

}  // namespace

ProductExtents conv_extents(const KernelContext& context) {
  const TensorView& w = context.input(1);
  const TensorView& y = context.output(0);
  const int64_t groups = context.attributes<ConvAttributes>().group;
  const int64_t filters = w.extents[0];
  return {filters != 0 ? y.count() / filters : 0, filters / groups, w.extents[1] * taps_of(w),
          groups};
}

Status check_conv(const KernelContext& context, DataType type) {
  if (Status status = check_product<ops::Conv>(context, type); !status) return status;
  const int rank = context.input(0).rank;
  return is_conv_rank(context) ? Status()
                               : context.fail(Code::kWrongRank, "input rank", 4, rank, 0);
}

template <class T>
void ConvPacked<T>::pack(const KernelContext& context, int, void* packed) {
  const TensorView& w = context.input(1);
  const int64_t groups = context.attributes<ConvAttributes>().group;
  const int64_t filters = w.extents[0] / groups, channels = w.extents[1];
  const int64_t taps = taps_of(w);
  const auto* from = w.as<const T>();
  auto* to = static_cast<T*>(packed);
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

template <class T>
bool ConvDepthwise<T>::supports(const KernelContext& context) {
  return is_conv_rank(context) && context.input(1).data != nullptr && is_depthwise(context);
}

template <class T>
void ConvDepthwise<T>::pack(const KernelContext& context, int, void* packed) {
  const TensorView& w = context.input(1);
  const int64_t channels = w.extents[0], taps = taps_of(w);
  const auto* from = w.as<const T>();
  auto* to = static_cast<T*>(packed);
  for (int64_t tap = 0; tap < taps; ++tap) {
    for (int64_t channel = 0; channel < channels; ++channel) {
      *to++ = from[channel * taps + tap];
    }
  }
}

template <class T>
Status ConvDepthwise<T>::check(const KernelContext& context) {
  if (Status status = check_conv(context, data_type_of<T>); !status) return status;
  return is_depthwise(context)
             ? Status()
             : context.fail(Code::kWrongExtent, "channels and filters of a group, channels last", 1,
                            context.input(1).extents[1], 1);
}

template struct ConvPacked<float>;
template struct ConvPacked<Float16>;
template struct ConvDepthwise<float>;
template struct ConvDepthwise<Float16>;

}  // namespace intarsia::cuda
