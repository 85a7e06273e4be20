// SPDX-License-Identifier: Apache-2.0
//
// Windows: one thread per element of the output. NaN in a window of MaxPool is passed over, as the
// CPU's kernels do.
#include "kernels_cuda/nn/pool.h"

#include <cmath>

#include "core/kernel_list.h"
#include "kernels_cuda/common/launch.h"
#include "kernels_cuda/nn/window.h"

namespace intarsia::cuda {
namespace {

/// The taps of an output position along one axis.
struct TapRange {
  int64_t start = 0;    // input position of tap 0
  TapRun inside;        // taps inside the input
  int64_t divisor = 0;  // how many count: those, or with padding those inside the padded input

  INTARSIA_DEVICE TapRange(const WindowAxis& axis, int64_t position, bool with_padding)
      : start(position * axis.stride - axis.before) {
    inside = taps_between(axis.kernel, axis.dilation, start, 0, axis.in);
    divisor = with_padding ? taps_between(axis.kernel, axis.dilation, start, -axis.before,
                                          axis.in + axis.after)
                                 .count()
                           : inside.count();
  }
};

struct MaxOf {
  float result = -INFINITY;
  INTARSIA_DEVICE void take(float value) { result = value > result ? value : result; }
  INTARSIA_DEVICE float finish(int64_t) const { return result; }
};
struct AverageOf {
  float result = 0;
  INTARSIA_DEVICE void take(float value) { result += value; }
  INTARSIA_DEVICE float finish(int64_t taps) const {
    return result / static_cast<float>(taps > 0 ? taps : 1);
  }
};

template <class Sum, class T>
INTARSIA_GLOBAL window_kernel(Window window, int64_t channels, bool with_padding, Global<const T> x,
                              Global<T> y, int64_t count) {
  INTARSIA_ROLLED
  for (int64_t i = first_element(); i < count; i += element_step()) {
    // Neighbouring threads take neighbouring elements of the output, whatever its layout is.
    const bool channels_last = window.y.channel == 1 && window.y.column == channels;
    int64_t rest = i;
    int64_t channel = 0;
    if (channels_last) {
      channel = rest % channels;
      rest /= channels;
    }
    const int64_t column = rest % window.columns.out;
    rest /= window.columns.out;
    const int64_t row = rest % window.rows.out;
    rest /= window.rows.out;
    if (!channels_last) {
      channel = rest % channels;
      rest /= channels;
    }
    const TapRange down(window.rows, row, with_padding);
    const TapRange right(window.columns, column, with_padding);
    const int64_t start = rest * window.x.image + channel * window.x.channel;
    Sum sum;
    for (int64_t r = down.inside.first; r < down.inside.end; ++r) {
      const int64_t line = down.start + r * window.rows.dilation;
      for (int64_t c = right.inside.first; c < right.inside.end; ++c) {
        const int64_t at = right.start + c * window.columns.dilation;
        sum.take(number_of(x[start + line * window.x.row + at * window.x.column]));
      }
    }
    y[i] = element_of<T>(sum.finish(down.divisor * right.divisor));
  }
}

template <class Sum, class T, class Attributes>
Status run_window(const KernelContext& context, const Attributes& attributes, bool with_padding) {
  const TensorView& x = context.input(0);
  const TensorView& y = context.output(0);
  if (y.count() == 0) return {};
  const bool channels_last = attributes.pool.channels_last != 0;
  const Window window(x, y, attributes.pool.window.kernel_shape.values, attributes.pool.window,
                      channels_last);
  const int64_t channels = x.extents[ImageAxes{x.rank, channels_last}.channel()];
  return launched(context, launch<window_kernel<Sum, T>>(
                               grid_for(y.count()), kThreads, stream_of(context), window, channels,
                               with_padding, elements<T>(x), writable<T>(y), y.count()));
}

}  // namespace

template <class Op, class T>
Status WindowPool<Op, T>::run(const KernelContext& context) {
  const auto& attributes = context.attributes<typename Op::Attributes>();
  if constexpr (std::is_same_v<Op, AveragePoolOp>) {
    return run_window<AverageOf, T>(context, attributes, attributes.count_include_pad != 0);
  } else {
    return run_window<MaxOf, T>(context, attributes, false);
  }
}

extern const KernelList window_pool_kernels;
constinit const KernelList window_pool_kernels = kernel_list<WindowPoolKernels>();

}  // namespace intarsia::cuda
