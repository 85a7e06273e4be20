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
#include "kernels_cpu/common/widened.h"
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

struct TapProduct {
  ConvShape s;
  Axis d, h, w;
  int64_t taps, filters, depth;  ///< Filters and depth of a group.
  int64_t pixels;                ///< That are multiplied together.

  Strides x, y;

  explicit TapProduct(const KernelContext& context)
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
  const TapProduct& product;
  Band band;
  float* output;  ///< The image's, from the group's channels on.

  void start(const float* bias) const {
    const ConvShape& s = product.s;
    const int64_t inner = product.of_volumes() ? s.out_h * s.out_w : s.out_w;
    for (int64_t c = 0; c < product.filters; ++c) {
      float* y = output + c * product.y.channel;
      const float start = bias != nullptr ? bias[c] : 0.0f;
      if (product.y.pixel == 1) {
        std::fill(y + band.begin * inner, y + band.end * inner, start);
        continue;
      }
      for (int64_t at = band.begin * inner; at < band.end * inner; ++at) {
        y[at * product.y.pixel] = start;
      }
    }
  }

  /// Adds the products of `count` pixels of one row, from column x on.
  void add(const float* products, int64_t z, int64_t y, int64_t x, int64_t count) const {
    const ConvShape& s = product.s;
    const bool volumes = product.of_volumes();
    int64_t tap = 0;
    for (int64_t kz = 0; kz < s.kernel_d; ++kz) {
      for (int64_t ky = 0; ky < s.kernel_h; ++ky) {
        const int64_t oz = product.d.output(z, kz), oy = product.h.output(y, ky);
        const int64_t place = volumes ? oz : oy;
        const bool meets = place >= band.begin && place < band.end && oz >= 0 && oz < s.out_d &&
                           oy >= 0 && oy < s.out_h;
        if (!meets) {
          tap += s.kernel_w;
          continue;
        }
        float* row = output + (oz * s.out_h + oy) * s.out_w * product.y.pixel;
        const bool pairs = s.stride_w == 2 && s.dilation_w == 1 && product.y.pixel == 1;
        for (int64_t kx = 0; kx < s.kernel_w; ++kx, ++tap) {
          const float* sums = products + tap * product.pixels;
          if (pairs && kx + 1 < s.kernel_w) {
            for (int64_t c = 0; c < product.filters; ++c) {
              add_pair(sums + c * product.taps * product.pixels, row + c * product.y.channel, kx, x,
                       count);
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
    const int64_t from = product.w.first_input(tap, 0),
                  to = product.w.first_input(tap, product.w.out);
    return {from > x ? from : x, to < x + count ? to : x + count};
  }

  void add_tap(const float* sums, float* row, int64_t tap, int64_t x, int64_t count) const {
    const Range met = range(tap, x, count);
    const int64_t step = product.w.stride * product.y.pixel, n = met.end - met.begin;
    for (int64_t c = 0; c < product.filters; ++c, sums += product.taps * product.pixels) {
      const float* sum = sums + (met.begin - x);
      float* y = row + product.w.output(met.begin, tap) * product.y.pixel + c * product.y.channel;
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
    const float *first = sums - x, *second = first + product.pixels;
    const auto add = [&](const float* from, int64_t at, int64_t k) {
      row[product.w.output(at, k)] += from[at];
    };
    for (int64_t i = a.begin; i < begin && i < a.end; ++i) add(first, i, tap);
    for (int64_t i = b.begin; i < begin && i < b.end; ++i) add(second, i, tap + 1);
    float* y = row + product.w.output(begin, tap);
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
    if (Status status = check_transposed_operands(context); !status) return status;
    const int rank = context.input(0).rank;
    return rank <= 5 ? Status() : context.fail(Code::kWrongRank, "input rank", 5, rank, 0);
  }
  static CheckedInt weight_bytes(const KernelContext& context) {
    return CheckedInt(context.input(1).count()) * sizeof(float);
  }
  template <class E>
  static void pack_weights(const KernelContext& context, E* packed) {
    const TensorView& w = context.input(1);
    if (w.count() == 0) return;
    const TapProduct product(context);
    const int64_t size = product.depth * product.rows();
    for (int64_t g = 0; g < product.s.groups; ++g) {
      transpose(w.as<const E>() + g * size, product.rows(), product.depth, product.rows(),
                packed + g * size, product.depth);
    }
  }
  static CheckedInt scratch_bytes(const KernelContext& context) {
    const TapProduct product(context);
    return (CheckedInt(product.pixels) * product.rows() +
            packed_floats(1, product.depth, product.pixels)) *
           sizeof(float);
  }

  static void convolve(const KernelContext& context, const Epilogue&, const float* weights,
                       std::span<std::byte> scratch) {
    if (context.output(0).count() == 0) return;
    const TapProduct product(context);
    const int64_t bands = product.bands(), units = product.s.batch * product.s.groups * bands;
    const size_t share = scratch.size() / static_cast<size_t>(context.threads()) / 64 * 64;
    context.parallel_for(units, [&](int64_t begin, int64_t end, int thread) {
      std::byte* products = scratch.data() + static_cast<size_t>(thread) * share;
      for (int64_t unit = begin; unit < end; ++unit) {
        run_unit(context, product, unit / bands, product.band(unit % bands, bands), weights,
                 reinterpret_cast<float*>(products));
      }
    });
  }

 private:
  /// `part`: image and group.
  static void run_unit(const KernelContext& context, const TapProduct& product, int64_t part,
                       const Band& band, const float* weights, float* products) {
    const ConvShape& s = product.s;
    const int64_t image = part / s.groups, group = part % s.groups, n = product.rows();
    const float* bias = context.input(2).as<const float>();
    const BandRun run{product, band,
                      context.output(0).as<float>() + image * product.y.image +
                          group * product.filters * product.y.channel};
    run.start(bias != nullptr ? bias + group * product.filters : nullptr);
    const float* x = context.input(0).as<const float>() + image * product.x.image +
                     group * product.depth * product.x.channel;
    float* panels = products + n * product.pixels;
    GemmArgs args{};
    args.a = weights + group * n * product.depth;
    args.a_pitch = product.depth;
    args.b = panels;
    args.c = products;
    args.c_pitch = product.pixels;
    args.isa = context.isa();
    const int64_t stop = band.last * product.inner_pixels();
    for (int64_t at = band.first * product.inner_pixels(), count; at < stop; at += count) {
      count = stop - at < product.pixels ? stop - at : product.pixels;
      if (product.x.channel == 1) {
        pack_b_transposed(x + at * product.x.pixel, product.x.pixel, product.depth, count, panels);
      } else {
        pack_b(x + at, product.x.channel, product.depth, count, panels);
      }
      args.shape = {n, count, product.depth};
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

}  // namespace

extern const KernelList conv_transpose_columns_kernels;
constinit const KernelList conv_transpose_columns_kernels =
    kernel_list<WithHalves<Plain<Packed<FewChannels>>, Plain<PackedAtRun<Packed<FewChannels>>>>>();

}  // namespace intarsia::cpu
