// SPDX-License-Identifier: Apache-2.0
//
// GridSample: the values of an image at points between its elements, in any number of axes.
//
// A point has one, two or four taps along each axis; their products weigh the elements. Runs of
// points are sampled in one channel after another, by lists of their taps; where these are many,
// several channels of a point are summed up at a time. Points that are no numbers, or farther away
// than 2^31 elements, lie outside (zeros) or at the first element. Cubic weights are those of Keys
// with a = -0.75. Arithmetic is in double for doubles, else in float; the nearest element is
// copied, whatever its type.
// Specification: https://onnx.ai/onnx/operators/onnx__GridSample.html
#include <algorithm>

#include "core/kernel_list.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/common/lane_vector.h"
#include "kernels_cpu/common/strided_copy.h"
#include "kernels_cpu/common/widened.h"
#include "kernels_cpu/math/element.h"
#include "kernels_cpu/movement/grid_sample_taps.h"

namespace intarsia::cpu {
namespace {

/// Channels that are summed up together.
constexpr int64_t kLanes = 16;

/// The points of a grid, numbered through all images.
template <class V, class G>
class Points {
 public:
  /// Points that are sampled in one channel after another.
  static constexpr int64_t kRun = PointsInside<V>::kMost;

  explicit Points(const KernelContext& context)
      : a_(context.attributes<GridSampleAttributes>()),
        x_(context.input(0)),
        axes_(x_.rank - 2),
        places_(context.input(1).as<const typename Element<G>::Stored>()) {
    count_ = context.output(0).count() == 0 ? 0 : context.input(1).count() / axes_;
    plane_ = x_.extents[0] == 0 ? 0 : count_ / x_.extents[0];
  }
  /// Of one image.
  int64_t plane() const { return plane_; }

  void taps(int64_t point, AxisTaps<V>* taps) const {
    for (int axis = 0; axis < axes_; ++axis) {  // the grid has the last axis first
      const auto place = Element<G>::load(places_[point * axes_ + axes_ - 1 - axis]);
      Axis<V>(a_, x_.extents[2 + axis]).find(static_cast<V>(place), taps[axis]);
    }
  }
  /// Finds those of the run of points that lie between elements along all axes.
  void find_inside(int64_t first, int64_t count, PointsInside<V>& found) const {
    using Found = PointsInside<V>;
    const bool zeros = a_.padding_mode == GridSampleAttributes::kZeros;
    for (int64_t i = 0; i < count; ++i) found.offset[i] = 0;
    for (int axis = 0; axis < axes_; ++axis) {
      const int64_t extent = x_.extents[2 + axis];
      const auto* place = places_ + first * axes_ + axes_ - 1 - axis;
      for (int64_t i = 0; i < count; ++i) {
        const V x = image_place(a_, static_cast<V>(Element<G>::load(place[i * axes_])),
                                static_cast<V>(extent));
        const bool inside = x >= 0 && x < static_cast<V>(extent - 1) && x < V{0x1p31};
        const bool beyond = zeros && !(x >= -1 && x < static_cast<V>(extent));
        const auto at = static_cast<int32_t>(inside ? x : V{0});
        const int64_t known = found.offset[i];
        found.part[axis][i] = x - static_cast<V>(at);
        found.offset[i] = inside && known >= 0 ? known * extent + at : Found::kNone;
        if (beyond || known == Found::kZero) found.offset[i] = Found::kZero;
      }
    }
  }
  /// Calls `sample(image, first, count)` for runs of points of one image, on the caller's threads.
  template <class Sample>
  void for_runs(const KernelContext& context, const Sample& sample) const {
    for_items(context, count_, 64 * x_.extents[1], [&](int64_t begin, int64_t end) {
      while (begin < end) {
        const int64_t image = begin / plane_;
        const int64_t stop = std::min({end, begin + kRun, (image + 1) * plane_});
        sample(image, begin, stop - begin);
        begin = stop;
      }
    });
  }

 private:
  const GridSampleAttributes& a_;
  const TensorView& x_;
  int axes_;
  const typename Element<G>::Stored* places_;
  int64_t count_ = 0, plane_ = 0;
};

Status check_image(const KernelContext& context) {
  if (context.output(0).count() == 0 || context.input(0).count() != 0) return {};
  return context.fail(Code::kWrongExtent, "elements to sample", 1, 0, 0);
}

using Grids = Types<float, Float16, double>;

template <class T, class G>
struct GridSample {
  static constexpr KernelId id{"GridSample", "", {kernel_type_of<T>, kernel_type_of<G>}};
  using E = Element<T>;
  using V = std::conditional_t<std::is_same_v<T, double>, double, float>;

  static Status check(const KernelContext& context) {
    return check_operands<ops::GridSample>(context,
                                           {.inputs = {kernel_type_of<T>, kernel_type_of<G>},
                                            .required_inputs = 2,
                                            .outputs = {kernel_type_of<T>}});
  }
  static Status run(const KernelContext& context) {
    if (Status status = check_image(context); !status) return status;
    const TensorView &x = context.input(0), &y = context.output(0);
    const int64_t channels = x.extents[1];
    const int64_t image = x.count() == 0 ? 0 : x.count() / (x.extents[0] * channels);
    const auto* from = x.as<const typename E::Stored>();
    auto* to = y.as<typename E::Stored>();
    const Points<V, G> points(context);
    const bool linear =
        context.attributes<GridSampleAttributes>().mode == GridSampleAttributes::kLinear;
    points.for_runs(context, [&](int64_t item, int64_t first, int64_t count) {
      const auto* planes = from + item * channels * image;
      auto* results = to + (item * channels - item) * points.plane() + first;
      AxisTaps<V> taps[kMaxRank];
      TapList<V> lists[Points<V, G>::kRun];
      bool few = true;
      // Most points lie inside of the image, and there have neighbours along each axis.
      PointsInside<V> inside;
      const bool simple = linear && x.rank - 2 <= PointsInside<V>::kMostAxes;
      if (simple) points.find_inside(first, count, inside);
      for (int64_t i = 0; i < count && few; ++i) {
        if (simple && inside.offset[i] != PointsInside<V>::kNone) {
          lists[i].fill(inside, i, x.extents + 2, x.rank - 2);
        } else {
          points.taps(first + i, taps);
          few = lists[i].fill(taps, x.extents + 2, x.rank - 2);
        }
      }
      for (int64_t i = 0; i < count && !few; ++i) {
        points.taps(first + i, taps);
        sample_channels(x, taps, planes, channels, image, results + i, points.plane());
      }
      if (!few) return;
      int64_t channel = 0;
      const auto next = [&]<int kTogether>(std::integral_constant<int, kTogether>) {
        sample_points<kTogether>(lists, count, planes + channel * image, image,
                                 results + channel * points.plane(), points.plane());
        channel += kTogether;
      };
      while (channel + 4 <= channels) next(std::integral_constant<int, 4>());
      while (channel < channels) next(std::integral_constant<int, 1>());
    });
    return {};
  }

 private:
  /// Points with few taps, in some channels at a time.
  template <int kTogether>
  static void sample_points(const TapList<V>* lists, int64_t count,
                            const typename E::Stored* planes, int64_t image,
                            typename E::Stored* results, int64_t plane) {
    for (int64_t i = 0; i < count; ++i) {
      if constexpr (std::is_same_v<typename E::Stored, V>) {
        if (lists[i].pairs) {
          sample_pairs<kTogether>(lists[i], planes, image, results + i, plane);
          continue;
        }
      }
      V sums[kTogether] = {};
      for (int k = 0; k < lists[i].count; ++k) {
        const auto* from = planes + lists[i].offset[k];
        const V weight = lists[i].weight[k];
        for (int c = 0; c < kTogether; ++c) {
          sums[c] += weight * static_cast<V>(E::load(from[c * image]));
        }
      }
      for (int c = 0; c < kTogether; ++c) results[c * plane + i] = E::store(sums[c]);
    }
  }
  /// One point whose elements come in twos: half as many loads and products.
  template <int kTogether>
  static void sample_pairs(const TapList<V>& list, const V* planes, int64_t image, V* results,
                           int64_t plane) {
    using L = LaneVector<V, 2>;
    typename L::V sums[kTogether] = {}, weights, x;
    for (int k = 0; k < list.count; k += 2) {
      const V* from = planes + list.offset[k];
      L::load(list.weight + k, weights);
      for (int c = 0; c < kTogether; ++c) {
        L::load(from + c * image, x);
        sums[c] += weights * x;
      }
    }
    for (int c = 0; c < kTogether; ++c) results[c * plane] = sums[c][0] + sums[c][1];
  }
  /// One point with any number of taps, in all channels.
  static void sample_channels(const TensorView& x, const AxisTaps<V>* taps,
                              const typename E::Stored* planes, int64_t channels, int64_t image,
                              typename E::Stored* results, int64_t plane) {
    for (int64_t first = 0; first < channels; first += kLanes) {
      const int64_t lanes = std::min(kLanes, channels - first);
      const auto* from = planes + first * image;
      V sums[kLanes] = {};
      for_taps(taps, x.extents + 2, x.rank - 2, [&](int64_t offset, V weight) {
        for (int64_t lane = 0; lane < lanes; ++lane) {
          sums[lane] += weight * static_cast<V>(E::load(from[lane * image + offset]));
        }
      });
      for (int64_t lane = 0; lane < lanes; ++lane) {
        results[(first + lane) * plane] = E::store(sums[lane]);
      }
    }
  }
};

/// The nearest element, of any type.
template <class W, class G>
struct GridSampleNearest {
  static constexpr KernelId id{"GridSample", "nearest", {kernel_type_of<W>, kernel_type_of<G>}};
  using E = typename W::Element;
  // What the kernel of doubles takes, so that both find the same element.
  using V = std::conditional_t<std::is_same_v<W, Width<64>>, double, float>;

  static bool supports(const KernelContext& context) {
    return context.attributes<GridSampleAttributes>().mode == GridSampleAttributes::kNearest;
  }
  static Status check(const KernelContext& context) {
    Status status =
        check_operands<ops::GridSample>(context, {.inputs = {kernel_type_of<W>, kernel_type_of<G>},
                                                  .required_inputs = 2,
                                                  .outputs = {kernel_type_of<W>}});
    if (!status || supports(context)) return status;
    return context.fail(Code::kInvalidValue, "mode", GridSampleAttributes::kNearest,
                        context.attributes<GridSampleAttributes>().mode);
  }
  static Status run(const KernelContext& context) {
    if (Status status = check_image(context); !status) return status;
    const TensorView &x = context.input(0), &y = context.output(0);
    const int64_t channels = x.extents[1];
    const int64_t image = x.count() == 0 ? 0 : x.count() / (x.extents[0] * channels);
    const auto* from = x.as<const E>();
    auto* to = y.as<E>();
    const Points<V, G> points(context);
    points.for_runs(context, [&](int64_t item, int64_t first, int64_t count) {
      int64_t offsets[Points<V, G>::kRun];
      for (int64_t i = 0; i < count; ++i) {
        AxisTaps<V> taps[kMaxRank];
        points.taps(first + i, taps);
        offsets[i] = -1;
        for_taps(taps, x.extents + 2, x.rank - 2, [&](int64_t at, V) { offsets[i] = at; });
      }
      E* results = to + (item * channels - item) * points.plane() + first;
      for (int64_t channel = 0; channel < channels; ++channel) {
        const E* one = from + (item * channels + channel) * image;
        E* result = results + channel * points.plane();
        for (int64_t i = 0; i < count; ++i) result[i] = offsets[i] < 0 ? E{} : one[offsets[i]];
      }
    });
    return {};
  }
};

}  // namespace

extern const KernelList grid_sample_kernels;
constinit const KernelList grid_sample_kernels =
    kernel_list<EachPair<GridSample, Floats, Grids>, EachPair<GridSampleNearest, Widths, Grids>,
                Widened<GridSample<float, float>, Float16>>();

}  // namespace intarsia::cpu
