// SPDX-License-Identifier: Apache-2.0
//
// Fast DeformConv in float and double: the sampled elements of a block of pixels are the rows of a
// matrix, [group][tap][channel of the group], which the GEMM family multiplies by the weights, in
// panels of floats, or of doubles with the channels of a tap side by side.
//
// Each image is turned so that its channels lie together: a tap's four elements are then runs of
// channels, and a row is made of sums of such runs. The result, pixels by filters, is turned back.
// Both copies, and a block for each thread, lie in the workspace. Blocks of pixels are shared out
// over the threads.
#include <algorithm>
#include <cstring>

#include "core/kernel_list.h"
#include "core/runtime/operand_check.h"
#include "intarsia/per_thread.h"
#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/common/strided_copy.h"
#include "kernels_cpu/common/widened.h"
#include "kernels_cpu/gemm/even_block.h"
#include "kernels_cpu/gemm/gemm.h"
#include "kernels_cpu/gemm/pack.h"
#include "kernels_cpu/gemm/typed.h"
#include "kernels_cpu/nn/deform_taps.h"

namespace intarsia::cpu {
namespace {

/// Bytes of a block of rows: what a second-level cache holds beside weights.
constexpr int64_t kBlockBytes = int64_t{1} << 19;
constexpr int64_t kLeastRows = 24, kMostRows = 96;

/// y = sum of weights times four runs of channels.
template <class T>
INTARSIA_INLINE void add_runs(const T* const (&runs)[4], const T (&weight)[4], int64_t first,
                              int64_t count, T* y) {
  const T *a = runs[0] + first, *b = runs[1] + first;
  const T *c = runs[2] + first, *d = runs[3] + first;
  const T wa = weight[0], wb = weight[1], wc = weight[2], wd = weight[3];
  INTARSIA_INDEPENDENT
  for (int64_t i = 0; i < count; ++i) y[i] = wa * a[i] + wb * b[i] + wc * c[i] + wd * d[i];
}

/// Extents of W: [filters][depth][taps], in groups of filters.
struct DeformWeights {
  int64_t groups, filters, depth, taps;
  explicit DeformWeights(const KernelContext& context) {
    const TensorView& w = context.input(1);
    groups = context.attributes<DeformConvAttributes>().group;
    filters = w.extents[0], depth = w.extents[1];
    taps = int64_t{w.extents[2]} * w.extents[3];
  }
  int64_t row() const { return depth * taps; }
};

/// Products by weights of type T. `bytes`: of the weights as they are packed; `room`: of what a
/// thread needs for blocks of so many rows.
template <class T>
struct DeformProduct;

template <>
struct DeformProduct<float> {
  static constexpr std::string_view packing = "panels of 16 columns";

  static int64_t bytes(const DeformWeights& w) {
    return panel_bytes(w.groups, w.row(), w.filters / w.groups).value();
  }
  template <class E>
  static void pack(const DeformWeights& w, const E* from, E* packed) {
    pack_conv(from, w.groups, w.filters / w.groups, w.depth, w.taps, packed);
  }
  static CheckedInt room(const DeformWeights&, int64_t) { return 0; }
  static void run(const GemmShape& shape, const float* rows, int64_t pitch, const float* packed,
                  int64_t group, const float* bias, float* y, int64_t y_pitch, Isa isa,
                  std::byte*) {
    GemmArgs args{shape, rows,   pitch, packed + group * packed_floats(1, shape.k, shape.n),
                  y,     y_pitch};
    args.bias = bias;
    args.isa = isa;
    gemm_run(args, 0, gemm_units(shape));
  }
};

template <>
struct DeformProduct<double> {
  static constexpr std::string_view packing = "[filter][tap][channel]";

  static int64_t bytes(const DeformWeights& w) {
    return (CheckedInt(w.filters) * w.row() * sizeof(double)).value();
  }
  static void pack(const DeformWeights& w, const double* from, double* packed) {
    for (int64_t filter = 0; filter < w.filters; ++filter, from += w.row()) {
      for (int64_t tap = 0; tap < w.taps; ++tap) {
        for (int64_t c = 0; c < w.depth; ++c) *packed++ = from[c * w.taps + tap];
      }
    }
  }
  static CheckedInt room(const DeformWeights& w, int64_t rows) {
    return typed_workspace<double>({rows, w.filters / w.groups, w.row()});
  }
  static void run(const GemmShape& shape, const double* rows, int64_t pitch, const double* packed,
                  int64_t group, const double* bias, double* y, int64_t y_pitch, Isa isa,
                  std::byte* room) {
    TypedArgs<double> args{};
    args.shape = shape;
    args.a = {rows, static_cast<ptrdiff_t>(pitch), 1};
    args.b = {packed + group * shape.n * shape.k, static_cast<ptrdiff_t>(shape.k), 1};
    args.c = y;
    args.pitch = static_cast<ptrdiff_t>(y_pitch);
    args.d = bias;
    args.d_column = 1;
    args.isa = isa;
    typed_run(args, 0, typed_units<double>(shape), room);
  }
};

template <class T>
struct DeformConvPacked {
  using Product = DeformProduct<T>;
  static constexpr KernelId id{"DeformConv", "packed", {kernel_type_of<T>}};
  static constexpr std::string_view packing = Product::packing;

  static bool serves(const KernelContext&) { return true; }
  static bool supports(const KernelContext& context) {
    const TensorView& w = context.input(1);
    return w.data != nullptr && w.count() > 0;
  }
  static int64_t packed_bytes(const KernelContext& context, int input) {
    return input == 1 ? Product::bytes(DeformWeights(context)) : 0;
  }
  static void pack(const KernelContext& context, int input, void* packed) {
    pack_weights(context, input, static_cast<T*>(packed));
  }
  template <class E>
  static void pack_weights(const KernelContext& context, int, E* packed) {
    Product::pack(DeformWeights(context), context.input(1).as<const E>(), packed);
  }

  static int64_t row_count(int64_t row) {
    return std::clamp(kBlockBytes / int64_t{sizeof(T)} / std::max<int64_t>(row, 1), kLeastRows,
                      kMostRows);
  }
  /// Even blocks of at most `most` rows, and several for each of some threads.
  static int64_t block_rows(int64_t pixels, int64_t most) {
    constexpr int64_t kUnits = 16;
    const int64_t few = std::min(kUnits, ceil_div(pixels, kLeastRows));
    return ceil_div(pixels, std::max(few, ceil_div(pixels, most)));
  }
  /// The image and a run of zeros, the result of an image; for each thread a block, and behind its
  /// `rows` what its product needs.
  struct Room {
    CheckedInt image, result, rows, block;
    explicit Room(const KernelContext& context) {
      const TensorView &x = context.input(0), &w = context.input(1), &y = context.output(0);
      const auto elements = [](CheckedInt count) {
        return floor_div(count * sizeof(T) + 63, 64) * 64;
      };
      const CheckedInt channels = x.extents[1];
      const CheckedInt row = channels * w.extents[2] * w.extents[3];
      image = elements(channels * x.extents[2] * x.extents[3] + channels);
      result = elements(CheckedInt(y.extents[1]) * y.extents[2] * y.extents[3]);
      rows = elements(row * row_count(row.value()));
      block = rows + Product::room(DeformWeights(context), row_count(row.value()));
    }
  };
  static int64_t workspace(const KernelContext& context) {
    const Room room(context);
    return (room.image + room.result + room.block * context.threads()).value();
  }

  static Status check(const KernelContext& context) {
    constexpr KernelType t = kernel_type_of<T>;
    Status status = check_operands<ops::DeformConv>(
        context, {.inputs = {t, t, t, t, t}, .required_inputs = 3, .outputs = {t}});
    if (!status) return status;
    if (status = check_capacity(context, 1, packed_bytes(context, 1)); !status) return status;
    return check_workspace(context, workspace(context));
  }

  static Status run(const KernelContext& context) {
    if (context.output(0).count() == 0) return {};
    const DeformShape s(context);
    const DeformTaps<T, T> taps(context, s);
    const Room room(context);
    std::byte* memory = context.workspace().data();
    auto* image = reinterpret_cast<T*>(memory);
    auto* result = reinterpret_cast<T*>(memory + room.image.value());
    const auto shared = static_cast<size_t>((room.image + room.result).value());
    const PerThread<std::byte> blocks(context.workspace().subspan(shared), context.threads(),
                                      room.block.value());
    const T* zeros = image + s.plane * s.channels;
    std::memset(image + s.plane * s.channels, 0, static_cast<size_t>(s.channels) * sizeof(T));
    const int64_t row = s.channels * s.taps, rows = block_rows(s.pixels, row_count(row));
    for (int64_t i = 0; i < s.batch; ++i) {
      turn(context, s.channels, s.plane, context.input(0).as<T>() + i * s.channels * s.plane,
           image);
      context.parallel_for(ceil_div(s.pixels, rows), [&](int64_t begin, int64_t end, int thread) {
        std::byte* own = blocks[thread];
        auto* block = reinterpret_cast<T*>(own);
        for (int64_t unit = begin; unit < end; ++unit) {
          const int64_t first = unit * rows, count = std::min(rows, s.pixels - first);
          on_isa(context.isa(), [&] {
            for (int64_t j = 0; j < count; ++j) {
              sample(s, taps, image, zeros, i, first + j, block + j * row);
            }
          });
          multiply(context, s, block, count, result + first * s.filters, own + room.rows.value());
        }
      });
      turn(context, s.pixels, s.filters, result,
           context.output(0).as<T>() + i * s.filters * s.pixels);
    }
    return {};
  }

 private:
  /// [rows][columns] to [columns][rows].
  static void turn(const KernelContext& context, int64_t rows, int64_t columns, const T* from,
                   T* to) {
    StridedCopy copy;
    copy.add(columns, rows, 1);
    copy.add(rows, 1, columns);
    using Bits = typename Width<8 * sizeof(T)>::Element;
    strided_copy(context, copy, reinterpret_cast<Bits*>(to), reinterpret_cast<const Bits*>(from));
  }

  /// The row of one pixel.
  INTARSIA_INLINE static void sample(const DeformShape& s, const DeformTaps<T, T>& taps,
                                     const T* image, const T* zeros, int64_t i, int64_t index,
                                     T* row) {
    const DeformPlace pixel = taps.pixel(index);
    // Without channels a row has no elements, but perhaps any number of taps.
    for (int64_t part = 0; part < s.offset_groups && s.share > 0; ++part) {
      const int64_t begin = part * s.share, end = begin + s.share;
      const int64_t first_group = begin / s.depth, first_channel = begin % s.depth;
      for (DeformPlace tap = taps.tap(0); tap.index < s.taps; tap.advance(s.kernel_w)) {
        const Corners<T> corners = taps.corners(i, part, tap, pixel);
        const T* runs[4];
        for (int k = 0; k < 4; ++k) {
          runs[k] = corners.at[k] < 0 ? zeros : image + corners.at[k] * s.channels;
        }
        // Groups of offsets and groups of the convolution may overlap.
        int64_t group = first_group, channel = first_channel;
        for (int64_t c = begin, count; c < end; c += count, ++group, channel = 0) {
          count = std::min(end - c, s.depth - channel);
          T* y = row + (group * s.taps + tap.index) * s.depth + channel;
          if (corners.none) {
            std::memset(y, 0, static_cast<size_t>(count) * sizeof(T));
          } else {
            add_runs(runs, corners.weight, c, count, y);
          }
        }
      }
    }
  }

  static void multiply(const KernelContext& context, const DeformShape& s, const T* block,
                       int64_t count, T* result, std::byte* room) {
    const GemmShape shape{count, s.filters / s.groups, s.taps * s.depth};
    const T* bias = context.input(3).as<const T>();
    for (int64_t group = 0; group < s.groups; ++group) {
      const int64_t first = group * shape.n;
      Product::run(shape, block + group * shape.k, s.channels * s.taps,
                   context.input(1).as<const T>(), group, bias != nullptr ? bias + first : nullptr,
                   result + first, s.filters, context.isa(), room);
    }
  }
};

}  // namespace

extern const KernelList deform_conv_packed_kernels;
constinit const KernelList deform_conv_packed_kernels =
    kernel_list<WithHalves<DeformConvPacked<float>, PackedAtRun<DeformConvPacked<float>>>,
                DeformConvPacked<double>, PackedAtRun<DeformConvPacked<double>>>();

}  // namespace intarsia::cpu
