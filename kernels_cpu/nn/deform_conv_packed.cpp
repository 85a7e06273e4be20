// SPDX-License-Identifier: Apache-2.0
//
// Fast DeformConv in float with constant weights: the sampled elements of a block of pixels are the
// rows of a matrix, [group][tap][channel of the group], which the GEMM family multiplies by the
// weights.
//
// Each image is turned so that its channels lie together: a tap's four elements are then runs of
// channels, and a row is made of sums of such runs. The result, pixels by filters, is turned back.
// Both copies, and a block for each thread, lie in the workspace. Blocks of pixels are shared out
// over the threads.
#include <algorithm>
#include <cstring>

#include "core/kernel_list.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/common/strided_copy.h"
#include "kernels_cpu/common/widened.h"
#include "kernels_cpu/gemm/gemm.h"
#include "kernels_cpu/gemm/pack.h"
#include "kernels_cpu/nn/deform_taps.h"

namespace intarsia::cpu {
namespace {

/// Floats of a block of rows: what a second-level cache holds beside weights.
constexpr int64_t kBlockFloats = int64_t{1} << 17;
constexpr int64_t kLeastRows = 24, kMostRows = 96;

/// y = sum of weights times four runs of channels.
void add_runs(Isa isa, const float* const (&runs)[4], const float (&weight)[4], int64_t first,
              int64_t count, float* y) {
  const float *a = runs[0] + first, *b = runs[1] + first;
  const float *c = runs[2] + first, *d = runs[3] + first;
  const float wa = weight[0], wb = weight[1], wc = weight[2], wd = weight[3];
  on_isa(isa, [=] {
    INTARSIA_INDEPENDENT
    for (int64_t i = 0; i < count; ++i) y[i] = wa * a[i] + wb * b[i] + wc * c[i] + wd * d[i];
  });
}

struct DeformConvPacked {
  static constexpr KernelId id{"DeformConv", "packed", {DataType::kFloat}};
  static constexpr std::string_view packing = "panels of 16 columns";

  static bool serves(const KernelContext&) { return true; }
  static bool supports(const KernelContext& context) {
    const TensorView& w = context.input(1);
    return w.data != nullptr && w.count() > 0;
  }
  static int64_t packed_bytes(const KernelContext& context, int input) {
    if (input != 1) return 0;
    const TensorView& w = context.input(1);
    const int64_t groups = context.attributes<DeformConvAttributes>().group;
    const int64_t filters = w.extents[0];
    return panel_bytes(groups, filters == 0 ? 0 : w.count() / filters, filters / groups).value();
  }
  static void pack(const KernelContext& context, int input, void* packed) {
    pack_weights(context, input, static_cast<float*>(packed));
  }
  template <class E>
  static void pack_weights(const KernelContext& context, int, E* packed) {
    const TensorView& w = context.input(1);
    const int64_t groups = context.attributes<DeformConvAttributes>().group;
    pack_conv(w.as<const E>(), groups, w.extents[0] / groups, w.extents[1],
              int64_t{w.extents[2]} * w.extents[3], packed);
  }

  static int64_t row_count(int64_t row) {
    return std::clamp(kBlockFloats / std::max<int64_t>(row, 1), kLeastRows, kMostRows);
  }
  /// The image and a run of zeros, the result of an image, a block for each thread.
  struct Room {
    CheckedInt image, result, block;
    explicit Room(const KernelContext& context) {
      const TensorView &x = context.input(0), &w = context.input(1), &y = context.output(0);
      const auto floats = [](CheckedInt count) {
        return floor_div(count * sizeof(float) + 63, 64) * 64;
      };
      const CheckedInt channels = x.extents[1];
      const CheckedInt row = channels * w.extents[2] * w.extents[3];
      image = floats(channels * x.extents[2] * x.extents[3] + channels);
      result = floats(CheckedInt(y.extents[1]) * y.extents[2] * y.extents[3]);
      block = floats(row * row_count(row.value()));
    }
  };
  static int64_t workspace(const KernelContext& context) {
    const Room room(context);
    return (room.image + room.result + room.block * context.threads()).value();
  }

  static Status check(const KernelContext& context) {
    constexpr KernelType t = DataType::kFloat;
    Status status = check_operands<ops::DeformConv>(
        context, {.inputs = {t, t, t, t, t}, .required_inputs = 3, .outputs = {t}});
    if (!status) return status;
    if (status = check_capacity(context, 1, packed_bytes(context, 1)); !status) return status;
    return check_workspace(context, workspace(context));
  }

  static Status run(const KernelContext& context) {
    if (context.output(0).count() == 0) return {};
    const DeformShape s(context);
    const DeformTaps<float, float> taps(context, s);
    const Room room(context);
    std::byte* memory = context.workspace().data();
    auto* image = reinterpret_cast<float*>(memory);
    auto* result = reinterpret_cast<float*>(memory + room.image.value());
    std::byte* blocks = memory + room.image.value() + room.result.value();
    const float* zeros = image + s.plane * s.channels;
    std::memset(image + s.plane * s.channels, 0, static_cast<size_t>(s.channels) * sizeof(float));
    const int64_t row = s.channels * s.taps, rows = row_count(row);
    for (int64_t i = 0; i < s.batch; ++i) {
      turn(context, s.channels, s.plane, context.input(0).as<float>() + i * s.channels * s.plane,
           image);
      context.parallel_for(
          (s.pixels + rows - 1) / rows, [&](int64_t begin, int64_t end, int thread) {
            auto* block = reinterpret_cast<float*>(blocks + thread * room.block.value());
            for (int64_t unit = begin; unit < end; ++unit) {
              const int64_t first = unit * rows, count = std::min(rows, s.pixels - first);
              for (int64_t j = 0; j < count; ++j) {
                sample(context.isa(), s, taps, image, zeros, i, first + j, block + j * row);
              }
              multiply(context, s, block, count, result + first * s.filters);
            }
          });
      turn(context, s.pixels, s.filters, result,
           context.output(0).as<float>() + i * s.filters * s.pixels);
    }
    return {};
  }

 private:
  /// [rows][columns] to [columns][rows].
  static void turn(const KernelContext& context, int64_t rows, int64_t columns, const float* from,
                   float* to) {
    StridedCopy copy;
    copy.add(columns, rows, 1);
    copy.add(rows, 1, columns);
    using Bits = Width<32>::Element;
    strided_copy(context, copy, reinterpret_cast<Bits*>(to), reinterpret_cast<const Bits*>(from));
  }

  /// The row of one pixel.
  static void sample(Isa isa, const DeformShape& s, const DeformTaps<float, float>& taps,
                     const float* image, const float* zeros, int64_t i, int64_t pixel, float* row) {
    for (int64_t part = 0; part < s.offset_groups; ++part) {
      const int64_t end = (part + 1) * s.share;
      for (int64_t tap = 0; tap < s.taps; ++tap) {
        const Corners<float> corners = taps.corners(i, part, tap, pixel);
        const float* runs[4];
        for (int k = 0; k < 4; ++k) {
          runs[k] = corners.at[k] < 0 ? zeros : image + corners.at[k] * s.channels;
        }
        // Groups of offsets and groups of the convolution may overlap.
        for (int64_t c = part * s.share; c < end;) {
          const int64_t group = c / s.depth, next = std::min(end, (group + 1) * s.depth);
          float* y = row + (group * s.taps + tap) * s.depth + c % s.depth;
          if (corners.none) {
            std::memset(y, 0, static_cast<size_t>(next - c) * sizeof(float));
          } else {
            add_runs(isa, runs, corners.weight, c, next - c, y);
          }
          c = next;
        }
      }
    }
  }

  static void multiply(const KernelContext& context, const DeformShape& s, const float* block,
                       int64_t count, float* result) {
    const int64_t filters = s.filters / s.groups, k = s.taps * s.depth;
    const float* bias = context.input(3).as<const float>();
    for (int64_t group = 0; group < s.groups; ++group) {
      GemmArgs args{{count, filters, k},
                    block + group * k,
                    s.channels * s.taps,
                    context.input(1).as<const float>() + group * packed_floats(1, k, filters),
                    result + group * filters,
                    s.filters};
      args.bias = bias != nullptr ? bias + group * filters : nullptr;
      args.isa = context.isa();
      gemm_run(args, 0, gemm_units(args.shape));
    }
  }
};

}  // namespace

extern const KernelList deform_conv_packed_kernels;
constinit const KernelList deform_conv_packed_kernels =
    kernel_list<WithHalves<DeformConvPacked, PackedAtRun<DeformConvPacked>>>();

}  // namespace intarsia::cpu
