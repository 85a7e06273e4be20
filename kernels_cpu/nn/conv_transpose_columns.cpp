// SPDX-License-Identifier: Apache-2.0
//
// Transposed convolution to few channels in float, channels first or last, of 1 to 3 spatial axes:
// a product of all taps of all filters with some pixels at once, W[out_c * taps][in_c] *
// X[in_c][pixels], whose rows are added where they belong. Panels then hold 16 pixels; panels of 16
// filters, as the phases' convolutions have them (conv_transpose_packed.cpp), would be mostly
// empty.
//
// A unit is a band of outputs along the outermost axis. Pixels at its edges are multiplied for both
// bands, so that no two units write the same output, and every sum has one order.
#include "core/kernel_list.h"
#include "core/operators/nn/conv.h"
#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/gemm/gemm.h"
#include "kernels_cpu/gemm/pack.h"
#include "kernels_cpu/math/element.h"
#include "kernels_cpu/nn/conv_shape.h"
#include "kernels_cpu/nn/conv_weights.h"

namespace intarsia::cpu {
namespace {

struct Axis {
  int64_t in, out, kernel, stride, dilation, pad;

  int64_t output(int64_t input, int64_t tap) const { return input * stride + tap * dilation - pad; }
  /// The first input at which that tap meets output `out` or one behind it; may be out of range.
  int64_t first_input(int64_t tap, int64_t at) const {
    const int64_t distance = at + pad - tap * dilation;
    return distance <= 0 ? 0 : (distance + stride - 1) / stride;
  }
};

/// The outputs [begin, end) of an axis and the inputs that meet them.
struct Band {
  int64_t begin, end, first, last;
};

/// Elements from pixel to pixel, channel to channel and image to image.
struct Strides {
  int64_t pixel, channel, image;

  Strides(const KernelContext& context, int64_t channels, int64_t pixels)
      : pixel(1), channel(pixels), image(channels * pixels) {
    if (context.attributes<ConvTransposeAttributes>().channels_last != 0) {
      pixel = channels;
      channel = 1;
    }
  }
};

struct Rows {
  ConvShape s;
  Axis d, h, w;
  int64_t taps, filters, depth;  ///< Filters and depth of a group.
  int64_t pixels;                ///< That are multiplied together.

  Strides x, y;

  explicit Rows(const KernelContext& context)
      : s(transposed_shape(context)),
        d{s.in_d, s.out_d, s.kernel_d, s.stride_d, s.dilation_d, s.pad_front},
        h{s.in_h, s.out_h, s.kernel_h, s.stride_h, s.dilation_h, s.pad_top},
        w{s.in_w, s.out_w, s.kernel_w, s.stride_w, s.dilation_w, s.pad_left},
        taps(s.kernel_d * s.kernel_h * s.kernel_w),
        filters(s.out_c / s.groups),
        depth(s.in_c / s.groups),
        x(context, s.in_c, s.in_d * s.in_h * s.in_w),
        y(context, s.out_c, s.out_d * s.out_h * s.out_w) {
    constexpr int64_t kRoom = 1 << 15, kMost = 16;  // panels
    pixels = kRoom / (rows() + depth + 1) / kPanel;
    pixels = kPanel * (pixels < 1 ? 1 : pixels < kMost ? pixels : kMost);
  }

  int64_t rows() const { return filters * taps; }
  /// A volume without planes is one, too: it has no pixel to multiply.
  bool of_volumes() const { return d.in != 1 || d.out != 1; }
  const Axis& outer() const { return of_volumes() ? d : h; }
  int64_t inner_pixels() const { return of_volumes() ? s.in_h * s.in_w : s.in_w; }

  /// Into how many bands the outputs are cut: enough for several threads, few pixels twice.
  int64_t bands() const {
    constexpr int64_t kUnits = 16;
    const Axis& axis = outer();
    const int64_t least = 4 * ((axis.kernel - 1) * axis.dilation + axis.stride);
    const int64_t wanted = kUnits / (s.batch * s.groups), most = axis.out / least;
    const int64_t count = wanted < most ? wanted : most;
    return count < 1 ? 1 : count;
  }
  Band band(int64_t index, int64_t count) const {
    const Axis& axis = outer();
    Band band{axis.out * index / count, axis.out * (index + 1) / count, 0, 0};
    band.first = axis.first_input(axis.kernel - 1, band.begin);
    band.last = axis.first_input(0, band.end);  // of the first tap, which reaches the fewest
    if (band.last > axis.in) band.last = axis.in;
    return band;
  }
};

/// One band of one group of one image.
struct BandRun {
  const Rows& rows;
  Band band;
  float* output;  ///< The image's, from the group's channels on.

  void start(const float* bias) const {
    const ConvShape& s = rows.s;
    const int64_t inner = rows.of_volumes() ? s.out_h * s.out_w : s.out_w;
    for (int64_t c = 0; c < rows.filters; ++c) {
      float* y = output + c * rows.y.channel;
      const float start = bias != nullptr ? bias[c] : 0.0f;
      for (int64_t at = band.begin * inner; at < band.end * inner; ++at) {
        y[at * rows.y.pixel] = start;
      }
    }
  }

  /// Adds the products of `count` pixels of one row, from column x on.
  void add(const float* products, int64_t z, int64_t y, int64_t x, int64_t count) const {
    const ConvShape& s = rows.s;
    const bool volumes = rows.of_volumes();
    int64_t tap = 0;
    for (int64_t kz = 0; kz < s.kernel_d; ++kz) {
      for (int64_t ky = 0; ky < s.kernel_h; ++ky) {
        const int64_t oz = rows.d.output(z, kz), oy = rows.h.output(y, ky);
        const int64_t place = volumes ? oz : oy;
        const bool meets = place >= band.begin && place < band.end && oz >= 0 && oz < s.out_d &&
                           oy >= 0 && oy < s.out_h;
        if (!meets) {
          tap += s.kernel_w;
          continue;
        }
        float* row = output + (oz * s.out_h + oy) * s.out_w * rows.y.pixel;
        const bool pairs = s.stride_w == 2 && s.dilation_w == 1 && rows.y.pixel == 1;
        for (int64_t kx = 0; kx < s.kernel_w; ++kx, ++tap) {
          const float* sums = products + tap * rows.pixels;
          if (pairs && kx + 1 < s.kernel_w) {
            for (int64_t c = 0; c < rows.filters; ++c) {
              add_pair(sums + c * rows.taps * rows.pixels, row + c * rows.y.channel, kx, x, count);
            }
            ++kx, ++tap;
          } else {
            add_tap(sums, row, kx, x, count);
          }
        }
      }
    }
  }

  /// The inputs among [x, x + count) at which a tap meets an output.
  struct Range {
    int64_t begin, end;
  };
  Range range(int64_t tap, int64_t x, int64_t count) const {
    const int64_t from = rows.w.first_input(tap, 0), to = rows.w.first_input(tap, rows.w.out);
    return {from > x ? from : x, to < x + count ? to : x + count};
  }

  void add_tap(const float* sums, float* row, int64_t tap, int64_t x, int64_t count) const {
    const Range met = range(tap, x, count);
    const int64_t step = rows.w.stride * rows.y.pixel, n = met.end - met.begin;
    for (int64_t c = 0; c < rows.filters; ++c, sums += rows.taps * rows.pixels) {
      const float* sum = sums + (met.begin - x);
      float* y = row + rows.w.output(met.begin, tap) * rows.y.pixel + c * rows.y.channel;
      if (step == 1) {
        INTARSIA_INDEPENDENT
        for (int64_t i = 0; i < n; ++i) y[i] += sum[i];
      } else {
        for (int64_t i = 0; i < n; ++i) y[i * step] += sum[i];
      }
    }
  }

  /// Two taps that meet neighbours of every other output: together they leave no gaps, which is
  /// vector code.
  void add_pair(const float* sums, float* row, int64_t tap, int64_t x, int64_t count) const {
    const Range a = range(tap, x, count), b = range(tap + 1, x, count);
    const int64_t begin = a.begin > b.begin ? a.begin : b.begin;
    const int64_t end = a.end < b.end ? a.end : b.end;
    const float *first = sums - x, *second = first + rows.pixels;
    const auto add = [&](const float* from, int64_t at, int64_t k) {
      row[rows.w.output(at, k)] += from[at];
    };
    for (int64_t i = a.begin; i < begin && i < a.end; ++i) add(first, i, tap);
    for (int64_t i = b.begin; i < begin && i < b.end; ++i) add(second, i, tap + 1);
    float* y = row + rows.w.output(begin, tap);
    const int64_t n = end - begin;
    first += begin, second += begin;
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < n; ++i) {
      y[2 * i] += first[i];
      y[2 * i + 1] += second[i];
    }
    first -= begin, second -= begin;
    const int64_t done = n > 0 ? end : begin;
    for (int64_t i = done; i < a.end; ++i) add(first, i, tap);
    for (int64_t i = done; i < b.end; ++i) add(second, i, tap + 1);
  }
};

struct FewChannels {
  static constexpr KernelId id{"ConvTranspose", "columns", {DataType::kFloat}};
  static constexpr int cost = kFastCost - 3;
  static constexpr std::string_view packing = "rows of filters and taps";

  static bool serves(const KernelContext& context) {
    const TensorView& w = context.input(1);
    int64_t extents[kMaxRank];
    for (int axis = 0; axis < w.rank; ++axis) extents[axis] = w.extents[axis];
    return w.rank <= 5 && ops::few_transposed_filters(context.attributes<ConvTransposeAttributes>(),
                                                      {extents, static_cast<size_t>(w.rank)});
  }
  static Status check_shape(const KernelContext& context) {
    const Status status = check_operands<ops::ConvTranspose>(
        context, {.inputs = {DataType::kFloat, DataType::kFloat, DataType::kFloat},
                  .required_inputs = 2,
                  .outputs = {DataType::kFloat}});
    if (!status) return status;
    const int rank = context.input(0).rank;
    return rank <= 5 ? Status() : context.fail(Code::kWrongRank, "input rank", 5, rank, 0);
  }
  static CheckedInt weight_bytes(const KernelContext& context) {
    return CheckedInt(context.input(1).count()) * sizeof(float);
  }
  static void pack_weights(const KernelContext& context, float* packed) {
    const TensorView& w = context.input(1);
    if (w.count() == 0) return;
    const Rows rows(context);
    const int64_t size = rows.depth * rows.rows();
    for (int64_t g = 0; g < rows.s.groups; ++g) {
      transpose(w.as<const float>() + g * size, rows.rows(), rows.depth, rows.rows(),
                packed + g * size, rows.depth);
    }
  }
  static CheckedInt scratch_bytes(const KernelContext& context) {
    const Rows rows(context);
    return (CheckedInt(rows.pixels) * rows.rows() + packed_floats(1, rows.depth, rows.pixels)) *
           sizeof(float);
  }

  static void convolve(const KernelContext& context, const Epilogue&, const float* weights,
                       std::span<std::byte> scratch) {
    if (context.output(0).count() == 0) return;
    const Rows rows(context);
    const int64_t bands = rows.bands(), units = rows.s.batch * rows.s.groups * bands;
    const size_t share = scratch.size() / static_cast<size_t>(context.threads()) / 64 * 64;
    context.parallel_for(units, [&](int64_t begin, int64_t end, int thread) {
      std::byte* products = scratch.data() + static_cast<size_t>(thread) * share;
      for (int64_t unit = begin; unit < end; ++unit) {
        run_unit(context, rows, unit / bands, rows.band(unit % bands, bands), weights,
                 reinterpret_cast<float*>(products));
      }
    });
  }

 private:
  /// `part`: image and group.
  static void run_unit(const KernelContext& context, const Rows& rows, int64_t part,
                       const Band& band, const float* weights, float* products) {
    const ConvShape& s = rows.s;
    const int64_t image = part / s.groups, group = part % s.groups, n = rows.rows();
    const float* bias = context.input(2).as<const float>();
    const BandRun run{rows, band,
                      context.output(0).as<float>() + image * rows.y.image +
                          group * rows.filters * rows.y.channel};
    run.start(bias != nullptr ? bias + group * rows.filters : nullptr);
    const float* x = context.input(0).as<const float>() + image * rows.x.image +
                     group * rows.depth * rows.x.channel;
    float* panels = products + n * rows.pixels;
    GemmArgs args{};
    args.a = weights + group * n * rows.depth;
    args.a_pitch = rows.depth;
    args.b = panels;
    args.c = products;
    args.c_pitch = rows.pixels;
    args.isa = context.isa();
    const int64_t stop = band.last * rows.inner_pixels();
    for (int64_t at = band.first * rows.inner_pixels(), count; at < stop; at += count) {
      count = stop - at < rows.pixels ? stop - at : rows.pixels;
      if (rows.x.channel == 1) {
        pack_b_transposed(x + at * rows.x.pixel, rows.x.pixel, rows.depth, count, panels);
      } else {
        pack_b(x + at, rows.x.channel, rows.depth, count, panels);
      }
      args.shape = {n, count, rows.depth};
      gemm_run(args, 0, gemm_units(args.shape));
      for (int64_t done = 0, row; done < count; done += row) {
        const int64_t pixel = at + done, place = pixel % s.in_w, line = pixel / s.in_w;
        row = s.in_w - place < count - done ? s.in_w - place : count - done;
        on_isa(context.isa(),
               [&] { run.add(products + done, line / s.in_h, line % s.in_h, place, row); });
      }
    }
  }
};

template <class K>
struct Plain : K {
  static Status run(const KernelContext& context) {
    K::compute(context, Epilogue{});
    return {};
  }
};

}  // namespace

extern const KernelList conv_transpose_columns_kernels;
constinit const KernelList conv_transpose_columns_kernels =
    kernel_list<Plain<Packed<FewChannels>>>();

}  // namespace intarsia::cpu
