// SPDX-License-Identifier: Apache-2.0
//
// Transposed convolution whose constant weights pick one place of the window for each channel, as
// Col2Im has them: group g has one filter, and channel k of the group is tap k. There is nothing to
// multiply: the channels are what is added (transposed_bands.h). Float, channels first.
#include "core/kernel_list.h"
#include "intarsia/checked_int.h"
#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/common/lane_vector.h"
#include "kernels_cpu/common/widened.h"
#include "kernels_cpu/nn/transposed_bands.h"

namespace intarsia::cpu {
namespace {

struct PlacedChannels {
  static constexpr KernelId id{"ConvTranspose", "places", {DataType::kFloat}};
  static constexpr int cost = kFastCost - 4;

  static bool supports(const KernelContext& context) {
    const auto& a = context.attributes<ConvTransposeAttributes>();
    const TensorView& w = context.input(1);
    if (w.data == nullptr || w.count() == 0 || w.rank > 5 || !serves(context)) return false;
    const int64_t taps = w.count() / w.extents[0];
    for (int64_t i = 0; i < w.count(); ++i) {
      const float expected = i / taps % taps == i % taps ? 1.0f : 0.0f;
      if (number_at(w, i) != expected) return false;
    }
    return a.group > 0;
  }
  static Status check(const KernelContext& context) {
    if (Status status = check_transposed_operands(context); !status) return status;
    const int rank = context.input(0).rank;
    if (rank > 5) return context.fail(Code::kWrongRank, "input rank", 5, rank, 0);
    if (!serves(context)) {
      const TensorView& w = context.input(1);
      CheckedInt places = context.attributes<ConvTransposeAttributes>().group;
      for (int axis = 2; axis < w.rank; ++axis) places *= w.extents[axis];
      return context.fail(Code::kWrongExtent, "channels, one for each place of a window",
                          places.value(), w.extents[0], 1, 0);
    }
    return {};
  }
  static Status run(const KernelContext& context) {
    if (context.output(0).count() == 0) return {};
    const TapProduct product(context);
    const int64_t bands = product.bands(), units = product.s.batch * product.s.groups * bands;
    context.parallel_for(units, [&](int64_t begin, int64_t end, int) {
      for (int64_t unit = begin; unit < end; ++unit) {
        run_unit(context, product, unit / bands, product.band(unit % bands, bands));
      }
    });
    return {};
  }

 private:
  /// One filter for a group, and a channel for each tap; channels first.
  static bool serves(const KernelContext& context) {
    const auto& a = context.attributes<ConvTransposeAttributes>();
    const TensorView& w = context.input(1);
    if (a.channels_last != 0 || a.group < 1 || w.count() == 0 || w.extents[1] != 1) return false;
    return w.count() / w.extents[0] * a.group == w.extents[0];
  }
  static float number_at(const TensorView& w, int64_t i) {
    if (w.type == DataType::kFloat) return w.as<const float>()[i];
    return w.type == DataType::kFloat16 ? static_cast<float>(w.as<const Float16>()[i])
                                        : static_cast<float>(w.as<const BFloat16>()[i]);
  }
  /// `part`: image and group.
  static void run_unit(const KernelContext& context, const TapProduct& product, int64_t part,
                       const Band& band) {
    const ConvShape& s = product.s;
    const int64_t image = part / s.groups, group = part % s.groups;
    const float* bias = context.input(2).as<const float>();
    const BandRun run{
        product, band,
        context.output(0).as<float>() + image * product.y.image + group * product.y.channel,
        product.x.channel};
    run.start(bias != nullptr ? bias + group : nullptr);
    const float* x = context.input(0).as<const float>() + image * product.x.image +
                     group * product.depth * product.x.channel;
    on_vectors(context.isa(), [&](auto bytes) {
      constexpr int kLanes = bytes() / static_cast<int>(sizeof(float));
      for (int64_t tap = 0; tap < product.taps; ++tap) {
        add_channel<kLanes>(run, tap, x + tap * product.x.channel);
      }
    });
  }
  /// to[i] += from[i] for i < count, by vectors of which the last two overlap: rows are often
  /// short.
  template <int kLanes>
  INTARSIA_INLINE static void add_row(const float* from, float* to, int64_t count) {
    if constexpr (kLanes > 1) {
      if (count < kLanes) return add_row<kLanes / 2>(from, to, count);
    } else if (count < 1) {
      return;
    }
    using L = LaneVector<float, kLanes>;
    typename L::V last, more, sum;
    L::load(to + count - kLanes, last);
    L::load(from + count - kLanes, more);
    last += more;
    for (int64_t i = 0; i + kLanes < count; i += kLanes) {
      L::load(to + i, sum);
      L::load(from + i, more);
      sum += more;
      L::store(to + i, sum);
    }
    L::store(to + count - kLanes, last);
  }
  /// The rows that meet the band, of the channel of one tap.
  template <int kLanes>
  INTARSIA_INLINE static void add_channel(const BandRun& run, int64_t tap, const float* x) {
    const TapProduct& product = run.product;
    const ConvShape& s = product.s;
    const bool volumes = product.of_volumes();
    const int64_t kx = tap % s.kernel_w, ky = tap / s.kernel_w % s.kernel_h,
                  kz = tap / s.kernel_w / s.kernel_h;
    const BandRun::Range met = run.range(kx, 0, s.in_w);
    const int64_t count = met.end - met.begin, step = s.stride_w;
    const int64_t column = product.w.output(met.begin, kx);
    const int64_t first_z = volumes ? run.band.first : 0, last_z = volumes ? run.band.last : 1;
    const bool whole = volumes || product.of_lines();
    const int64_t first_y = whole ? 0 : run.band.first, last_y = whole ? s.in_h : run.band.last;
    for (int64_t z = first_z; z < last_z; ++z) {
      for (int64_t y = first_y; y < last_y; ++y) {
        const int64_t oz = product.d.output(z, kz), oy = product.h.output(y, ky);
        if (!run.meets(oz, oy)) continue;
        const float* from = x + (z * s.in_h + y) * s.in_w + met.begin;
        float* to = run.row_of(oz, oy) + column;
        if (step == 1) {
          add_row<kLanes>(from, to, count);
        } else {
          for (int64_t i = 0; i < count; ++i) to[i * step] += from[i];
        }
      }
    }
  }
};

}  // namespace

extern const KernelList conv_transpose_places_kernels;
constinit const KernelList conv_transpose_places_kernels =
    kernel_list<WithHalves<PlacedChannels>>();

}  // namespace intarsia::cpu
