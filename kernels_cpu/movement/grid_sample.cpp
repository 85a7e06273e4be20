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
#include <cmath>

#include "core/kernel_list.h"
#include "core/operators/movement/grid_sample.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/common/strided_copy.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {
namespace {

constexpr int kMostTaps = 4;
/// Channels that are summed up together.
constexpr int64_t kLanes = 16;

template <class V>
struct AxisTaps {
  int count = 0;
  int64_t index[kMostTaps] = {};  ///< -1: no element, its value is 0.
  V weight[kMostTaps] = {};
};

/// x thrown back at the ends until it lies between them.
template <class V>
V reflect(V x, V low, V high) {
  const V range = high - low;
  if (range <= 0) return low;
  if (x >= low && x <= high) return x;
  const V beyond = x < low ? low - x : x - high;
  const V whole = std::floor(beyond / range);
  const V rest = beyond - whole * range;
  const bool turned = std::fmod(whole, V{2}) != 0;
  return (x < low) != turned ? low + rest : high - rest;
}

/// One axis of an image.
template <class V>
class Axis {
 public:
  Axis(const GridSampleAttributes& a, int64_t extent)
      : a_(a),
        extent_(extent),
        low_(a.align_corners != 0 ? V{0} : V{-0.5}),
        high_(static_cast<V>(extent) - (a.align_corners != 0 ? V{1} : V{0.5})) {}

  AxisTaps<V> taps(V place) const {
    const auto extent = static_cast<V>(extent_);
    V x = a_.align_corners != 0 ? (place + 1) / 2 * (extent - 1) : ((place + 1) * extent - 1) / 2;
    if (!(std::fabs(x) <= V{0x1p31})) {
      if (a_.padding_mode == GridSampleAttributes::kZeros) return {1, {-1}, {0}};
      x = 0;
    }
    if (a_.mode == GridSampleAttributes::kNearest) x = std::nearbyint(x);
    if (a_.padding_mode == GridSampleAttributes::kBorder) {
      // What lies in the outer half of an end element stays where it is.
      x = x < low_ ? 0 : (x > high_ ? extent - 1 : x);
    } else if (a_.padding_mode == GridSampleAttributes::kReflection) {
      x = reflect(x, low_, high_);
    }
    if (a_.mode == GridSampleAttributes::kNearest) {
      return {1, {element(static_cast<int64_t>(x))}, {1}};
    }
    auto i = static_cast<int64_t>(x);
    i -= static_cast<V>(i) > x ? 1 : 0;  // rounded down, without a call
    const V t = x - static_cast<V>(i);
    if (a_.mode == GridSampleAttributes::kLinear) {
      return {2, {element(i), element(i + 1)}, {1 - t, t}};
    }
    return {4,
            {element(i - 1), element(i), element(i + 1), element(i + 2)},
            {outer(t), inner(t), inner(1 - t), outer(1 - t)}};
  }

 private:
  static V inner(V t) { return ((kA + 2) * t - (kA + 3)) * t * t + 1; }
  static V outer(V t) { return ((kA * (t + 1) - 5 * kA) * (t + 1) + 8 * kA) * (t + 1) - 4 * kA; }

  int64_t element(int64_t i) const {
    if (i >= 0 && i < extent_) return i;
    if (a_.padding_mode == GridSampleAttributes::kZeros) return -1;
    if (a_.padding_mode == GridSampleAttributes::kReflection) {
      i = static_cast<int64_t>(reflect(static_cast<V>(i), low_, high_));
    }
    return i < 0 ? 0 : (i >= extent_ ? extent_ - 1 : i);
  }

  static constexpr V kA = V{-0.75};
  const GridSampleAttributes& a_;
  int64_t extent_;
  V low_, high_;
};

/// Calls `body(offset, weight)` for each element of the image that a point has.
template <class V, class Body>
void for_taps(const AxisTaps<V>* taps, const int32_t* extents, int axes, const Body& body) {
  int at[kMaxRank] = {};
  while (true) {
    int64_t offset = 0;
    V weight = 1;
    for (int axis = 0; axis < axes && offset >= 0; ++axis) {
      const int64_t index = taps[axis].index[at[axis]];
      offset = index < 0 ? -1 : offset * extents[axis] + index;
      weight *= taps[axis].weight[at[axis]];
    }
    if (offset >= 0) body(offset, weight);
    int axis = axes - 1;
    for (; axis >= 0 && ++at[axis] == taps[axis].count; --axis) at[axis] = 0;
    if (axis < 0) return;
  }
}

/// The elements of a point and their weights, if they are few.
template <class V>
struct TapList {
  static constexpr int kMost = 16;
  int count = 0;
  int64_t offset[kMost];
  V weight[kMost];

  /// False if there are too many.
  bool fill(const AxisTaps<V>* taps, const int32_t* extents, int axes) {
    int all = 1;
    for (int axis = 0; axis < axes && all <= kMost; ++axis) all *= taps[axis].count;
    if (all > kMost) return false;
    int entries = 1;
    offset[0] = 0;
    weight[0] = 1;
    for (int axis = 0; axis < axes; ++axis) {
      const AxisTaps<V>& own = taps[axis];
      // In place, from the last one on.
      for (int i = entries - 1; i >= 0; --i) {
        const int64_t row = offset[i] * extents[axis];
        const bool outside = offset[i] < 0;
        const V factor = weight[i];
        for (int k = own.count - 1; k >= 0; --k) {
          offset[i * own.count + k] = outside || own.index[k] < 0 ? -1 : row + own.index[k];
          weight[i * own.count + k] = factor * own.weight[k];
        }
      }
      entries *= own.count;
    }
    count = 0;
    for (int i = 0; i < entries; ++i) {
      offset[count] = offset[i];
      weight[count] = weight[i];
      count += offset[i] < 0 ? 0 : 1;
    }
    return true;
  }
};

/// The points of a grid, numbered through all images.
template <class V, class G>
class Points {
 public:
  /// Points that are sampled in one channel after another.
  static constexpr int64_t kRun = 32;

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
      taps[axis] = Axis<V>(a_, x_.extents[2 + axis]).taps(static_cast<V>(place));
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
    points.for_runs(context, [&](int64_t item, int64_t first, int64_t count) {
      const auto* planes = from + item * channels * image;
      auto* results = to + (item * channels - item) * points.plane() + first;
      AxisTaps<V> taps[kMaxRank];
      TapList<V> lists[Points<V, G>::kRun];
      bool few = true;
      for (int64_t i = 0; i < count && few; ++i) {
        points.taps(first + i, taps);
        few = lists[i].fill(taps, x.extents + 2, x.rank - 2);
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
    kernel_list<EachPair<GridSample, Floats, Grids>, EachPair<GridSampleNearest, Widths, Grids>>();

}  // namespace intarsia::cpu
