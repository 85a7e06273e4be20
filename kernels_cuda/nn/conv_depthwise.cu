// SPDX-License-Identifier: Apache-2.0
//
// Depthwise convolution, channels last: a thread computes a few neighbouring channels of one output
// position, so that it reads and writes 16 bytes at once where the channels allow.
#include "core/kernel_list.h"
#include "core/operators/common/activation.h"
#include "core/operators/common/fused_activation.h"
#include "kernels_cuda/common/launch.h"
#include "kernels_cuda/common/packs.h"
#include "kernels_cuda/nn/conv.h"
#include "kernels_cuda/nn/window.h"

namespace intarsia::cuda {
namespace {

template <class T>
struct Depthwise {
  int height, width, out_height, out_width;
  int kernel_height, kernel_width, stride_down, stride_across, dilation_down, dilation_across;
  int top, left;
  int channels;
  unsigned threads;  // with work
  Global<const T> x, w, bias, residual;
  Global<T> y;
  ActivationSpec activation;
};

template <class T, int Width>
INTARSIA_GLOBAL depthwise_kernel(Depthwise<T> conv) {
  const auto at = static_cast<unsigned>(first_element());
  if (at >= conv.threads) return;
  const auto pieces = static_cast<unsigned>(conv.channels) / Width;
  const int channel = static_cast<int>(at % pieces) * Width;
  const unsigned position = at / pieces;
  const auto out_width = static_cast<unsigned>(conv.out_width);
  const auto out_height = static_cast<unsigned>(conv.out_height);
  const int top = static_cast<int>(position / out_width % out_height) * conv.stride_down - conv.top;
  const int left = static_cast<int>(position % out_width) * conv.stride_across - conv.left;
  const int image = static_cast<int>(position / out_width / out_height) * conv.height;
  float sums[Width];
  Pack<T, Width> start{};
  if (conv.bias.present()) start = conv.bias.template pack<Width>(channel);
  for (int i = 0; i < Width; ++i) sums[i] = number_of(start.values[i]);
  for (int i = 0; i < conv.kernel_height; ++i) {
    const int line = top + i * conv.dilation_down;
    if (line < 0 || line >= conv.height) continue;
    for (int j = 0; j < conv.kernel_width; ++j) {
      const int column = left + j * conv.dilation_across;
      if (column < 0 || column >= conv.width) continue;
      const auto x = conv.x.template pack<Width>(
          ((image + line) * conv.width + column) * conv.channels + channel);
      const auto w =
          conv.w.template pack<Width>((i * conv.kernel_width + j) * conv.channels + channel);
      for (int k = 0; k < Width; ++k) sums[k] += number_of(x.values[k]) * number_of(w.values[k]);
    }
  }
  const int place = static_cast<int>(position) * conv.channels + channel;
  Pack<T, Width> before{}, result;
  if (conv.residual.present()) before = conv.residual.template pack<Width>(place);
  for (int k = 0; k < Width; ++k) {
    result.values[k] =
        element_of<T>(activate(conv.activation, sums[k] + number_of(before.values[k])));
  }
  conv.y.store(place, result);
}

}  // namespace

template <class T>
Status ConvDepthwise<T>::run(const KernelContext& context) {
  const auto& attributes = context.attributes<ConvAttributes>();
  const TensorView& w = context.input(1);
  const TensorView& y = context.output(0);
  if (y.count() == 0) return {};
  const Window window(context.input(0), y, w.extents + 2, attributes.window, true);
  const auto number = [](int64_t value) { return static_cast<int>(value); };
  Depthwise<T> conv{number(window.rows.in),
                    number(window.columns.in),
                    number(window.rows.out),
                    number(window.columns.out),
                    number(window.rows.kernel),
                    number(window.columns.kernel),
                    number(window.rows.stride),
                    number(window.columns.stride),
                    number(window.rows.dilation),
                    number(window.columns.dilation),
                    number(window.rows.before),
                    number(window.columns.before),
                    w.extents[0],
                    0,
                    elements<T>(context.input(0)),
                    elements<T>(w),
                    elements<T>(context.input(2)),
                    elements<T>(context.input(3)),
                    writable<T>(y),
                    activation_of(attributes)};
  bool packs = conv.channels % kPack<T> == 0;
  for (const TensorView* view : {&context.input(0), &w, &context.input(2), &context.input(3), &y}) {
    packs = packs && takes_packs<T, kPack<T>>(*view);
  }
  const int width = packs ? kPack<T> : 1;
  conv.threads = static_cast<unsigned>(y.count() / width);
  constexpr unsigned kBlock = 128;
  const auto blocks = static_cast<unsigned>(blocks_of(conv.threads, kBlock));
  void* stream = stream_of(context);
  return launched(context, packs
                               ? launch<depthwise_kernel<T, kPack<T>>>(blocks, kBlock, stream, conv)
                               : launch<depthwise_kernel<T, 1>>(blocks, kBlock, stream, conv));
}

extern const KernelList depthwise_kernels;
constinit const KernelList depthwise_kernels =
    kernel_list<ListOf<ConvDepthwise<float>, ConvDepthwise<Float16>>>();

}  // namespace intarsia::cuda
