// SPDX-License-Identifier: Apache-2.0
#include "kernels_cpu/nn/depthwise_byte_sums.h"

#include <cstring>

#include "kernels_cpu/common/accumulate.h"
#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/gemm/depthwise_bytes.h"
#include "kernels_cpu/nn/window_walk.h"

namespace intarsia::cpu {
namespace {

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

  /// The output rows [begin, end) of all images, the first of which lies at y.
  void rows(int64_t begin, int64_t end) const {
    const int last = walk.last();
    const int64_t in_image = walk.out_rows();
    int64_t position[kMaxSpatial] = {};
    const int64_t elements = walk.out[last] * walk.channels;
    for (int64_t unit = begin; unit < end; ++unit) {
      walk.decode_row(unit % in_image, position);
      const uint8_t* image = x.data + unit / in_image * walk.in_plane * walk.channels;
      uint32_t* row = y + (unit - begin) * elements;
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

}  // namespace

DepthwiseByteSums::DepthwiseByteSums(const KernelContext& node, int zeros)
    : shape(conv_shape(node, node.attributes<IntegerConvAttributes>().window,
                       node.attributes<IntegerConvAttributes>().group)),
      context_(node),
      x_(node, 0, zeros),
      w_(node, 1, zeros) {}

void DepthwiseByteSums::sum(int64_t begin, int64_t end, uint32_t* to) const {
  if (depthwise_bytes_serve(shape)) {
    const Isa isa = depthwise_bytes_isa(context_.isa(), shape.in_c);
    const DepthwiseBytes job{shape,    x_.data,      x_.zeros, x_.flip, w_.data,
                             w_.zeros, w_.zero_step, w_.flip,  to};
    pick_isa(isa, [&](auto i) {
      if constexpr (i == Isa::kAvx512) {
        if (has_byte_dots(isa) && w_.is_symmetric(shape.out_c)) {
          return DepthwiseByteTiles<i, ByteQuad>::rows(job, begin, end);
        }
      }
      DepthwiseByteTiles<i, Int16Pair>::rows(job, begin, end);
    });
    return;
  }
  const WindowWalk walk(context_.input(0), context_.output(0), context_.input(1).extents + 2,
                        context_.attributes<IntegerConvAttributes>().window, true);
  const Depthwise depthwise{x_, w_, walk, to};
  on_widest_isa(context_.isa(), [&] { depthwise.rows(begin, end); });
}

bool DepthwiseByteFilters::serves(const KernelContext& context) {
  const auto& a = context.attributes<IntegerConvAttributes>();
  const TensorView &x = context.input(0), &w = context.input(1);
  return x.rank <= 5 && a.group > 1 && a.group == x.extents[x.rank - 1] && a.group == w.extents[0];
}

bool DepthwiseByteFilters::supports(const KernelContext& context) {
  const TensorView& w = context.input(1);
  return w.data != nullptr && w.count() > 0 && serves(context);
}

void DepthwiseByteFilters::pack(const KernelContext& context, int, void* packed) {
  const TensorView& w = context.input(1);
  const int64_t channels = w.extents[0], taps = w.count() / channels;
  const auto* from = w.as<const uint8_t>();
  auto* to = static_cast<uint8_t*>(packed);
  for (int64_t tap = 0; tap < taps; ++tap) {
    for (int64_t c = 0; c < channels; ++c) *to++ = from[c * taps + tap];
  }
}

Status DepthwiseByteFilters::check_filters(const KernelContext& context) {
  if (!serves(context)) {
    const TensorView& x = context.input(0);
    return context.fail(Code::kInvalidValue, "group", x.extents[x.rank - 1],
                        context.attributes<IntegerConvAttributes>().group);
  }
  return check_capacity(context, 1, packed_bytes(context, 1));
}

}  // namespace intarsia::cpu
