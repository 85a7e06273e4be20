// SPDX-License-Identifier: Apache-2.0
#include "kernels_cuda/nn/conv.h"

#include "core/kernel_list.h"
#include "kernels_cuda/common/launch.h"
#include "kernels_cuda/linear_algebra/product.h"
#include "kernels_cuda/nn/window.h"

namespace intarsia::cuda {
namespace {

/// A batch is a group; a row an output position of an image. Positions are decoded in 32 bits: a
/// division in 64 bits takes many instructions, and no count here exceeds what `check` admits.
/// The depth has channels innermost where the weights are packed, taps where they are not, so that
/// either form of the weights is linear in it.
struct ConvProblem {
  struct Row {
    int64_t x = 0, y = 0;       // where its image begins
    int64_t top = 0, left = 0;  // the first tap's position
  };
  struct Tap {
    int64_t offset = 0;  // of the group's channel in its image
    int64_t down = 0, right = 0;
  };
  int64_t rows = 0, columns = 0, depth = 0, batches = 1;
  int64_t channels = 0;  // of a group
  bool taps_innermost = false;
  Window window;
  int64_t w_group = 0, w_depth = 0, w_filter = 0;
  Global<const float> x, w;

  explicit ConvProblem(const Window& over) : window(over) {}

  INTARSIA_DEVICE Row row(int64_t, int64_t row) const {
    const auto place = static_cast<uint32_t>(row);
    const auto width = static_cast<uint32_t>(window.columns.out);
    const auto height = static_cast<uint32_t>(window.rows.out);
    const uint32_t column = place % width;
    const uint32_t line = place / width % height;
    const uint32_t image = place / width / height;
    return {image * window.x.image,
            image * window.y.image + line * window.y.row + column * window.y.column,
            line * window.rows.stride - window.rows.before,
            column * window.columns.stride - window.columns.before};
  }
  INTARSIA_DEVICE Tap tap(int64_t group, int64_t k) const {
    const auto width = static_cast<uint32_t>(window.columns.kernel);
    const auto minor =
        static_cast<uint32_t>(taps_innermost ? window.rows.kernel * width : channels);
    const uint32_t inner = static_cast<uint32_t>(k) % minor;
    const uint32_t outer = static_cast<uint32_t>(k) / minor;
    const uint32_t channel = taps_innermost ? outer : inner;
    const uint32_t tap = taps_innermost ? inner : outer;
    return {(group * channels + channel) * window.x.channel, tap / width * window.rows.dilation,
            tap % width * window.columns.dilation};
  }
  INTARSIA_DEVICE float a(const Row& row, const Tap& tap) const {
    const int64_t line = row.top + tap.down;
    const int64_t column = row.left + tap.right;
    if (line < 0 || line >= window.rows.in || column < 0 || column >= window.columns.in) return 0;
    return x[row.x + tap.offset + line * window.x.row + column * window.x.column];
  }
  INTARSIA_DEVICE float b(int64_t group, int64_t k, int64_t filter) const {
    return w[group * w_group + k * w_depth + filter * w_filter];
  }
  INTARSIA_DEVICE int64_t output(const Row& row, int64_t group, int64_t filter) const {
    return row.y + channel(group, filter) * window.y.channel;
  }
  INTARSIA_DEVICE int64_t channel(int64_t group, int64_t filter) const {
    return group * columns + filter;
  }
};

Status run_conv(const KernelContext& context, bool packed) {
  const auto& attributes = context.attributes<ConvAttributes>();
  const TensorView& w = context.input(1);
  const TensorView& y = context.output(0);
  if (y.count() == 0) return {};
  ConvProblem problem(
      Window(context.input(0), y, w.extents + 2, attributes.window, attributes.channels_last != 0));
  const Window& window = problem.window;
  problem.batches = attributes.group;
  problem.columns = w.extents[0] / attributes.group;
  problem.channels = w.extents[1];
  const int64_t taps = window.rows.kernel * window.columns.kernel;
  problem.depth = taps * problem.channels;
  problem.rows = window.batch * window.rows.out * window.columns.out;
  problem.w_group = problem.depth * problem.columns;
  problem.taps_innermost = !packed;
  problem.w_depth = packed ? problem.columns : 1;
  problem.w_filter = packed ? 1 : problem.depth;
  problem.x = elements<float>(context.input(0));
  problem.w = elements<float>(w);
  const Epilogue epilogue = epilogue_of(context, attributes);
  return launched(context, launch_product(problem, epilogue, stream_of(context)));
}

}  // namespace

Status Conv::run(const KernelContext& context) {
  return run_conv(context, false);
}

Status ConvPacked::run(const KernelContext& context) {
  return run_conv(context, true);
}

extern const KernelList conv_kernels;
constinit const KernelList conv_kernels = kernel_list<ConvKernels>();

}  // namespace intarsia::cuda
