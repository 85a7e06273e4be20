// SPDX-License-Identifier: Apache-2.0
//
// Transposed convolution to few channels in float, channels first or last, of 1 to 3 spatial axes:
// a product of all taps of all filters with some pixels at once, W[out_c * taps][in_c] *
// X[in_c][pixels], whose rows are added where they belong (transposed_bands.h). Panels then hold 16
// pixels, of several images where these are small; panels of 16 filters, as the phases'
// convolutions have them (conv_transpose_packed.cpp), would be mostly empty.
#include <cstring>

#include "core/kernel_list.h"
#include "intarsia/per_thread.h"
#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/common/widened.h"
#include "kernels_cpu/gemm/pack.h"
#include "kernels_cpu/nn/conv_weights.h"
#include "kernels_cpu/nn/transposed_bands.h"

namespace intarsia::cpu {
namespace {

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
    const int64_t bands = product.bands(), groups = product.s.groups;
    const int64_t together = bands == 1 ? images_together(product) : 1;
    const int64_t units = (product.s.batch + together - 1) / together * groups * bands;
    const PerThread<float> memory(scratch, context.threads());
    context.parallel_for(units, [&](int64_t begin, int64_t end, int thread) {
      float* products = memory[thread];
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t part = unit / bands, first = part / groups * together;
        const int64_t rest = product.s.batch - first;
        run_unit(context, product, {first, rest < together ? rest : together}, part % groups,
                 product.band(unit % bands, bands), weights, products);
      }
    });
  }

 private:
  struct Images {
    int64_t first, count;
  };

  /// How many small images fill the pixels that are multiplied together, and leave work for several
  /// threads.
  static int64_t images_together(const TapProduct& product) {
    constexpr int64_t kUnits = 16;
    const int64_t pixels = product.pixels_of_image();
    const int64_t fit = pixels > 0 ? product.pixels / pixels : 1;
    const int64_t most = product.s.batch * product.s.groups / kUnits;
    const int64_t together = fit < most ? fit : most;
    return together < 1 ? 1 : together;
  }

  /// `count` pixels from number `at` on, counted through images, to panels of columns.
  static void pack(const TapProduct& product, const float* x, int64_t at, int64_t count,
                   float* panels) {
    const int64_t plane = product.pixels_of_image(), step = product.depth * kPanel;
    if (product.x.channel == 1 && product.x.image == plane * product.x.pixel) {
      return pack_b_transposed(x + at * product.x.pixel, product.x.pixel, product.depth, count,
                               panels);
    }
    if (at / plane == (at + count - 1) / plane) {
      x += at / plane * product.x.image + at % plane * product.x.pixel;
      if (product.x.channel != 1) {
        return pack_b(x, product.x.channel, product.depth, count, panels);
      }
      return pack_b_transposed(x, product.x.pixel, product.depth, count, panels);
    }
    std::memset(panels, 0, static_cast<size_t>(panel_count(count) * step) * sizeof(float));
    for (int64_t i = 0; i < count; ++i) {
      const int64_t pixel = at + i;
      const float* from = x + pixel / plane * product.x.image + pixel % plane * product.x.pixel;
      float* to = panels + i / kPanel * step + i % kPanel;
      for (int64_t k = 0; k < product.depth; ++k) to[k * kPanel] = from[k * product.x.channel];
    }
  }

  static void run_unit(const KernelContext& context, const TapProduct& product, Images images,
                       int64_t group, const Band& band, const float* weights, float* products) {
    const ConvShape& s = product.s;
    const int64_t n = product.rows();
    const float* bias = context.input(2).as<const float>();
    const auto run_of = [&](int64_t image) {
      return BandRun{product, band,
                     context.output(0).as<float>() + (images.first + image) * product.y.image +
                         group * product.filters * product.y.channel,
                     product.pixels};
    };
    for (int64_t image = 0; image < images.count; ++image) {
      run_of(image).start(bias != nullptr ? bias + group * product.filters : nullptr);
    }
    const float* x = context.input(0).as<const float>() + images.first * product.x.image +
                     group * product.depth * product.x.channel;
    float* panels = products + n * product.pixels;
    GemmArgs args{};
    args.a = weights + group * n * product.depth;
    args.a_pitch = product.depth;
    args.b = panels;
    args.c = products;
    args.c_pitch = product.pixels;
    args.isa = context.isa();
    // Of several images all pixels, of one those that meet the band.
    const int64_t inner = product.inner_pixels(), plane = product.pixels_of_image();
    const int64_t stop = images.count > 1 ? images.count * plane : band.last * inner;
    for (int64_t at = images.count > 1 ? 0 : band.first * inner, count; at < stop; at += count) {
      count = stop - at < product.pixels ? stop - at : product.pixels;
      pack(product, x, at, count, panels);
      args.shape = {n, count, product.depth};
      gemm_run(args, 0, gemm_units(args.shape));
      for (int64_t done = 0, row; done < count; done += row) {
        const int64_t pixel = at + done, place = pixel % s.in_w;
        const int64_t line = pixel % plane / s.in_w;
        row = s.in_w - place < count - done ? s.in_w - place : count - done;
        on_isa(context.isa(), [&] {
          run_of(pixel / plane).add(products + done, line / s.in_h, line % s.in_h, place, row);
        });
      }
    }
  }
};

}  // namespace

extern const KernelList conv_transpose_columns_kernels;
constinit const KernelList conv_transpose_columns_kernels =
    kernel_list<WithHalves<Plain<Packed<FewChannels>>, Plain<PackedAtRun<Packed<FewChannels>>>>>();

}  // namespace intarsia::cpu
