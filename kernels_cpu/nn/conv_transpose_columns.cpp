// SPDX-License-Identifier: Apache-2.0
//
// Transposed convolution to few channels in float, channels first or last, of 1 to 3 spatial axes:
// a product of all taps of all filters with some pixels at once, W[out_c * taps][in_c] *
// X[in_c][pixels], whose rows are added where they belong (transposed_bands.h). Panels then hold 16
// pixels; panels of 16 filters, as the phases' convolutions have them (conv_transpose_packed.cpp),
// would be mostly empty.
#include "core/kernel_list.h"
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
                          group * product.filters * product.y.channel,
                      product.pixels};
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
