// SPDX-License-Identifier: Apache-2.0
//
// Fast depthwise ConvInteger with constant weights, channels last: a group for each channel of x,
// and one filter each. Channels are computed side by side, where there are enough by
// gemm/depthwise_bytes.h. The weights' bytes are [tap][channel]. Output rows are shared out over
// the threads.
#include <cstring>

#include "core/kernel_list.h"
#include "kernels_cpu/common/accumulate.h"
#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/common/packed_at_run.h"
#include "kernels_cpu/gemm/depthwise_bytes.h"
#include "kernels_cpu/gemm/vector.h"
#include "kernels_cpu/nn/conv_integer.h"
#include "kernels_cpu/nn/conv_shape.h"
#include "kernels_cpu/nn/window_walk.h"

namespace intarsia::cpu {
namespace {

bool is_depthwise(const KernelContext& context) {
  const auto& a = context.attributes<IntegerConvAttributes>();
  const TensorView &x = context.input(0), &w = context.input(1);
  return a.group > 1 && a.group == x.extents[x.rank - 1] && a.group == w.extents[0];
}

/// Columns of which a tap's place and weights are found once.
constexpr int64_t kColumns = 8;

// Functions of their own: bytes may alias whatever a closure refers to.
INTARSIA_INLINE void widen(const uint8_t* w, uint8_t flip, const int16_t* zeros, int64_t count,
                           int16_t* weights) {
  INTARSIA_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) weights[i] = static_cast<int16_t>((w[i] ^ flip) - zeros[i]);
}

/// What one tap adds to the sums of some channels.
INTARSIA_INLINE void add_tap(const uint8_t* x, uint8_t flip, int16_t zero, const int16_t* weights,
                             int64_t count, uint32_t* sums) {
  INTARSIA_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) {
    const auto a = static_cast<int16_t>((x[i] ^ flip) - zero);
    sums[i] += static_cast<uint32_t>(int32_t{a} * int32_t{weights[i]});
  }
}

struct Depthwise {
  ByteOperand x, w;
  const WindowWalk& walk;
  uint32_t* y;

  /// The output rows [begin, end) of all images.
  void rows(int64_t begin, int64_t end) const {
    const int last = walk.last();
    const int64_t in_image = walk.out_rows();
    int64_t position[kMaxSpatial] = {};
    for (int64_t unit = begin; unit < end; ++unit) {
      walk.decode_row(unit % in_image, position);
      const uint8_t* image = x.data + unit / in_image * walk.in_plane * walk.channels;
      uint32_t* row = y + unit * walk.out[last] * walk.channels;
      for (int64_t c = 0; c < walk.channels; c += kLanes) {
        channels(position, image + c, c, row + c);
      }
    }
  }

 private:
  /// A row of up to kLanes channels from `c` on.
  void channels(const int64_t* position, const uint8_t* image, int64_t c, uint32_t* row) const {
    const int64_t rest = walk.channels - c, count = rest < kLanes ? rest : kLanes;
    const auto x_zero = static_cast<int16_t>(*x.zeros ^ x.flip);
    int16_t w_zeros[kLanes];
    for (int64_t i = 0; i < count; ++i) {
      w_zeros[i] = static_cast<int16_t>(w.zeros[(c + i) * w.zero_step] ^ w.flip);
    }
    const int64_t columns = walk.out[walk.last()];
    for (int64_t column = 0; column < columns; column += kColumns) {
      const int64_t left = columns - column, lanes = left < kColumns ? left : kColumns;
      uint32_t sums[kColumns * kLanes] = {};
      walk.for_taps(position, column, lanes,
                    [&](int64_t tap, int64_t offset, int64_t low, int64_t high) {
                      int16_t weights[kLanes];
                      widen(w.data + tap * walk.channels + c, w.flip, w_zeros, count, weights);
                      for (int64_t j = low; j < high; ++j, offset += walk.lane_step) {
                        add_tap(image + offset, x.flip, x_zero, weights, count, sums + j * kLanes);
                      }
                    });
      for (int64_t j = 0; j < lanes; ++j) {
        std::memcpy(row + (column + j) * walk.channels, sums + j * kLanes,
                    static_cast<size_t>(count) * sizeof(uint32_t));
      }
    }
  }
};

/// By taps in pairs; false if the shape has too few channels or too many taps for that.
bool convolve_pairs(const KernelContext& context) {
  const auto& a = context.attributes<IntegerConvAttributes>();
  const ByteOperand x(context, 0), w(context, 1);
  const DepthwiseBytes job{conv_shape(context, a.window, a.group),
                           x.data,
                           x.zeros,
                           x.flip,
                           w.data,
                           w.zeros,
                           w.zero_step,
                           w.flip,
                           context.output(0).as<uint32_t>()};
  const ConvShape& s = job.shape;
  if (!depthwise_bytes_serve(s)) return false;
  context.parallel_for(s.batch * s.out_d * s.out_h, [&](int64_t begin, int64_t end, int) {
    pick_isa(context.isa(),
             [&](auto isa) { DepthwiseByteTiles<decltype(isa)::value>::rows(job, begin, end); });
  });
  return true;
}

void convolve(const KernelContext& context) {
  if (convolve_pairs(context)) return;
  const auto& a = context.attributes<IntegerConvAttributes>();
  const WindowWalk walk(context.input(0), context.output(0), context.input(1).extents + 2, a.window,
                        true);
  const Depthwise depthwise{ByteOperand(context, 0), ByteOperand(context, 1), walk,
                            context.output(0).as<uint32_t>()};
  context.parallel_for(walk.batch * walk.out_rows(), [&](int64_t begin, int64_t end, int) {
    on_widest_isa(context.isa(), [&] { depthwise.rows(begin, end); });
  });
}

template <class X, class W>
struct ConvIntegerDepthwise {
  static constexpr KernelId id{"ConvInteger", "depthwise", {kernel_type_of<X>, kernel_type_of<W>}};
  static constexpr int cost = kFastCost - 2;
  static constexpr KernelLayout layout = KernelLayout::kChannelsLast;
  static constexpr std::string_view packing = "channels last";

  static bool serves(const KernelContext& context) {
    return context.input(0).rank <= 5 && is_depthwise(context);
  }
  static bool supports(const KernelContext& context) {
    const TensorView& w = context.input(1);
    return w.data != nullptr && w.count() > 0 && serves(context);
  }
  static int64_t packed_bytes(const KernelContext& context, int input) {
    return input == 1 ? context.input(1).bytes() : 0;
  }
  static void pack(const KernelContext& context, int, void* packed) {
    const TensorView& w = context.input(1);
    const int64_t channels = w.extents[0], taps = w.count() / channels;
    const auto* from = w.as<const uint8_t>();
    auto* to = static_cast<uint8_t*>(packed);
    for (int64_t tap = 0; tap < taps; ++tap) {
      for (int64_t c = 0; c < channels; ++c) *to++ = from[c * taps + tap];
    }
  }

  static Status check(const KernelContext& context) {
    if (Status status = check_fast_conv_integer<X, W>(context); !status) return status;
    if (!is_depthwise(context)) {
      const TensorView& x = context.input(0);
      return context.fail(Code::kInvalidValue, "group", x.extents[x.rank - 1],
                          context.attributes<IntegerConvAttributes>().group);
    }
    return check_capacity(context, 1, packed_bytes(context, 1));
  }
  static Status run(const KernelContext& context) {
    if (context.output(0).count() > 0) convolve(context);
    return {};
  }
};

template <class X, class W>
using DepthwiseComputed = PackedAtRun<ConvIntegerDepthwise<X, W>>;

using Bytes = Types<int8_t, uint8_t>;

}  // namespace

extern const KernelList conv_integer_depthwise_kernels;
constinit const KernelList conv_integer_depthwise_kernels =
    kernel_list<EachPair<ConvIntegerDepthwise, Bytes, Bytes>,
                EachPair<DepthwiseComputed, Bytes, Bytes>>();

}  // namespace intarsia::cpu
