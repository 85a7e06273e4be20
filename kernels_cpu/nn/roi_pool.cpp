// SPDX-License-Identifier: Apache-2.0
//
// MaxRoiPool: the largest element of an image in each bin of a region.
//
//     bin i of n covers [first + floor(i * size / n), first + ceil((i + 1) * size / n))
//
// along an axis, where the corners of the region are scaled and rounded, and both belong to it; a
// region has one element at least. A bin that lies outside of the image is 0, NaN is passed over.
// A number of an image is cut to a whole one. Regions and channels are shared out over the threads.
// Specification: https://onnx.ai/onnx/operators/onnx__MaxRoiPool.html
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/kernel_list.h"
#include "core/operators/nn/roi.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {
namespace {

/// Channels of a unit of work.
constexpr int64_t kChannels = 32;

/// A region along one axis.
template <class V>
struct Span {
  int64_t first = 0;
  V bin = 0;

  Span(V from, V to, V scale, int64_t bins) {
    const int64_t last = whole(to * scale);
    first = whole(from * scale);
    const int64_t size = std::max<int64_t>(last - first + 1, 1);
    bin = static_cast<V>(size) / static_cast<V>(bins);
  }
  /// Elements [begin, end) of an axis.
  struct Part {
    int64_t begin, end;
  };
  Part part(int64_t i, int64_t extent) const {
    const auto inside = [&](V distance) {
      return std::clamp<int64_t>(first + static_cast<int64_t>(distance), 0, extent);
    };
    return {inside(std::floor(static_cast<V>(i) * bin)),
            inside(std::ceil(static_cast<V>(i + 1) * bin))};
  }

 private:
  /// Corners far outside of every image, and what is no number, lie at its limit.
  static int64_t whole(V x) {
    constexpr V kFar = V{0x1p31};
    return static_cast<int64_t>(std::round(x < kFar ? (x > -kFar ? x : -kFar) : kFar));
  }
};

template <class T>
struct MaxRoiPool {
  static constexpr KernelId id{"MaxRoiPool", "", {kernel_type_of<T>}};
  using E = Element<T>;
  using V = typename E::Value;

  static Status check(const KernelContext& context) {
    constexpr KernelType t = kernel_type_of<T>;
    return check_operands<ops::MaxRoiPool>(
        context, {.inputs = {t, t}, .required_inputs = 2, .outputs = {t}});
  }

  static Status run(const KernelContext& context) {
    const TensorView &x = context.input(0), &y = context.output(0);
    if (y.count() == 0) return {};
    const auto& a = context.attributes<MaxRoiPoolAttributes>();
    const auto* numbers = context.input(1).as<const typename E::Stored>();
    const auto number = [&](int64_t region, int i) { return V(E::load(numbers[5 * region + i])); };
    for (int64_t i = 0; i < y.extents[0]; ++i) {
      const V image = number(i, 0);
      if (image >= 0 && image < static_cast<V>(x.extents[0])) continue;
      const bool far = !(std::fabs(image) < V{0x1p31});
      return context.fail(Code::kIndexOutOfRange, "index of an image", x.extents[0],
                          far ? INT32_MAX : static_cast<int64_t>(image), 1);
    }
    const int64_t channels = x.extents[1], height = x.extents[2], width = x.extents[3];
    const int64_t rows = a.pooled_shape[0], columns = a.pooled_shape[1];
    const V scale = static_cast<V>(a.spatial_scale);
    const auto* from = x.as<const typename E::Stored>();
    auto* to = y.as<typename E::Stored>();
    const int64_t blocks = (channels + kChannels - 1) / kChannels;
    context.parallel_for(y.extents[0] * blocks, [&](int64_t begin, int64_t end, int) {
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t region = unit / blocks, first = unit % blocks * kChannels;
        const int64_t count = std::min(kChannels, channels - first);
        const auto image = static_cast<int64_t>(number(region, 0));
        const Span<V> down(number(region, 2), number(region, 4), scale, rows);
        const Span<V> along(number(region, 1), number(region, 3), scale, columns);
        const auto* planes = from + (image * channels + first) * height * width;
        auto* results = to + (region * channels + first) * rows * columns;
        for (int64_t i = 0; i < rows; ++i) {
          const auto part = down.part(i, height);
          for (int64_t j = 0; j < columns; ++j) {
            const auto side = along.part(j, width);
            for (int64_t channel = 0; channel < count; ++channel) {
              results[(channel * rows + i) * columns + j] =
                  E::store(largest(planes + channel * height * width, width, part, side));
            }
          }
        }
      }
    });
    return {};
  }

 private:
  static V largest(const typename E::Stored* plane, int64_t width, typename Span<V>::Part rows,
                   typename Span<V>::Part columns) {
    if (rows.begin >= rows.end || columns.begin >= columns.end) return 0;
    V best = -std::numeric_limits<V>::infinity();
    for (int64_t i = rows.begin; i < rows.end; ++i) {
      const auto* row = plane + i * width;
      for (int64_t j = columns.begin; j < columns.end; ++j) {
        const V value = E::load(row[j]);
        best = value > best ? value : best;
      }
    }
    return best;
  }
};

}  // namespace

extern const KernelList roi_pool_kernels;
constinit const KernelList roi_pool_kernels = kernel_list<Each<MaxRoiPool, Floats>>();

}  // namespace intarsia::cpu
