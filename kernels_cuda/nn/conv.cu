// SPDX-License-Identifier: Apache-2.0
#include "kernels_cuda/nn/conv.h"

#include "core/kernel_list.h"
#include "kernels_cuda/common/launch.h"
#include "kernels_cuda/linear_algebra/matrix_problem.h"
#include "kernels_cuda/nn/window.h"

namespace intarsia::cuda {
namespace {

/// A spatial axis as device code takes it.
struct Axis {
  int in = 1, out = 1, kernel = 1, stride = 1, dilation = 1, before = 0;

  explicit Axis(const WindowAxis& axis)
      : in(static_cast<int>(axis.in)),
        out(static_cast<int>(axis.out)),
        kernel(static_cast<int>(axis.kernel)),
        stride(static_cast<int>(axis.stride)),
        dilation(static_cast<int>(axis.dilation)),
        before(static_cast<int>(axis.before)) {}
};
struct Strides {
  int image, channel, row, column;

  explicit Strides(const ImageStrides& strides)
      : image(static_cast<int>(strides.image)),
        channel(static_cast<int>(strides.channel)),
        row(static_cast<int>(strides.row)),
        column(static_cast<int>(strides.column)) {}
};

/// A batch is a group; a row an output position of an image. The depth has channels innermost where
/// the weights are packed, taps where they are not, so that either form of the weights is linear in
/// it.
template <class T>
struct ConvProblem {
  struct Batch {
    int x = 0, b = 0, channel = 0;
  };
  struct Row {
    int x = 0;              // where its image begins
    int top = 0, left = 0;  // the first tap's position
  };
  struct Tap {
    int offset = 0;  // of the channel in its image
    int down = 0, right = 0;
  };
  int rows = 0, columns = 0, depth = 0;
  int channels = 0;  // of a group
  bool taps_innermost = false;
  Axis down, across;
  Strides x, y;
  int output_column = 0;
  int b_depth = 0, b_column = 0;
  Global<const T> left, right;

  explicit ConvProblem(const Window& window)
      : down(window.rows),
        across(window.columns),
        x(window.x),
        y(window.y),
        output_column(static_cast<int>(window.y.channel)) {}

  INTARSIA_DEVICE Batch batch(int group) const {
    return {group * channels * x.channel, group * depth * columns, group * columns};
  }
  struct Place {
    unsigned image, line, column;
  };
  INTARSIA_DEVICE Place place(int row) const {
    const auto at = static_cast<unsigned>(row);
    const auto width = static_cast<unsigned>(across.out), height = static_cast<unsigned>(down.out);
    return {at / width / height, at / width % height, at % width};
  }
  INTARSIA_DEVICE Row row(const Batch& batch, int row) const {
    const Place at = place(row);
    return {batch.x + static_cast<int>(at.image) * x.image,
            static_cast<int>(at.line) * down.stride - down.before,
            static_cast<int>(at.column) * across.stride - across.before};
  }
  INTARSIA_DEVICE Tap tap(int k) const {
    const auto width = static_cast<unsigned>(across.kernel);
    const auto minor = taps_innermost ? static_cast<unsigned>(down.kernel) * width
                                      : static_cast<unsigned>(channels);
    const unsigned inner = static_cast<unsigned>(k) % minor;
    const unsigned outer = static_cast<unsigned>(k) / minor;
    const unsigned channel = taps_innermost ? outer : inner;
    const unsigned tap = taps_innermost ? inner : outer;
    return {static_cast<int>(channel) * x.channel, static_cast<int>(tap / width) * down.dilation,
            static_cast<int>(tap % width) * across.dilation};
  }
  INTARSIA_DEVICE int a(const Row& row, const Tap& tap) const {
    const int line = row.top + tap.down, column = row.left + tap.right;
    if (line < 0 || line >= down.in || column < 0 || column >= across.in) return -1;
    return row.x + tap.offset + line * x.row + column * x.column;
  }
  INTARSIA_DEVICE int output(const Batch& batch, int row) const {
    const Place at = place(row);
    return static_cast<int>(at.image) * y.image + static_cast<int>(at.line) * y.row +
           static_cast<int>(at.column) * y.column + batch.channel * y.channel;
  }
  INTARSIA_DEVICE int channel(const Batch& batch) const { return batch.channel; }
};

/// Whether output positions are input positions: then there is no window to read through.
bool is_matrix(const Window& window, const ConvAttributes& attributes) {
  const auto plain = [](const WindowAxis& axis) {
    return axis.kernel == 1 && axis.stride == 1 && axis.before == 0 && axis.in == axis.out;
  };
  return attributes.channels_last != 0 && attributes.group == 1 && plain(window.rows) &&
         plain(window.columns);
}

template <class T>
Status run_conv(const KernelContext& context, bool packed) {
  const auto& attributes = context.attributes<ConvAttributes>();
  const TensorView& w = context.input(1);
  const TensorView& y = context.output(0);
  if (y.count() == 0) return {};
  const ProductExtents extents = conv_extents(context);
  const bool last = attributes.channels_last != 0;
  const Window window(context.input(0), y, w.extents + 2, attributes.window, last);
  const Epilogue<T> epilogue = epilogue_of<T>(context, attributes);
  const auto run = [&](auto problem, const ProductPacks& packs) {
    problem.b_depth = static_cast<int>(packed ? extents.columns : 1);
    problem.b_column = static_cast<int>(packed ? 1 : extents.depth);
    problem.left = elements<T>(context.input(0));
    problem.right = elements<T>(w);
    return launched(context, launch_product(context, extents, problem, epilogue, packs));
  };
  constexpr int kWide = kPack<T>;
  // Weights that are not packed have taps innermost.
  const bool channels_innermost = packed || extents.depth == w.extents[1];
  const ProductPacks packs{last && channels_innermost && w.extents[1] % kWide == 0,
                           packed && extents.columns % kWide == 0,
                           last && extents.columns % kWide == 0};
  if (is_matrix(window, attributes)) {
    MatrixProblem<T> problem;
    problem.a_row = static_cast<int>(extents.depth);
    problem.a_depth = 1;
    return run(problem, packs);
  }
  ConvProblem<T> problem(window);
  problem.channels = w.extents[1];
  problem.taps_innermost = !packed;
  return run(problem, packs);
}

}  // namespace

template <class T>
Status Conv<T>::run(const KernelContext& context) {
  return run_conv<T>(context, false);
}

template <class T>
Status ConvPacked<T>::run(const KernelContext& context) {
  return run_conv<T>(context, true);
}

extern const KernelList conv_kernels;
constinit const KernelList conv_kernels =
    kernel_list<ListOf<ConvPacked<float>, ConvPacked<Float16>, Conv<float>, Conv<Float16>>>();

}  // namespace intarsia::cuda
