// SPDX-License-Identifier: Apache-2.0
//
// GridSample: the values of an image at points between its elements, in any number of axes.
//
// A point has one, two or four taps along each axis; their products weigh the elements. Several
// channels are summed up at a time, so that the walk over the taps is paid once. Points that are no
// numbers, or farther away than 2^31 elements, lie outside (zeros) or at the first element. Cubic
// weights are those of Keys with a = -0.75. Arithmetic is in double for doubles, else in float.
// Specification: https://onnx.ai/onnx/operators/onnx__GridSample.html
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
    const V first = std::floor(x), t = x - first;
    const auto i = static_cast<int64_t>(first);
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

/// The taps of all points; `sample(image, point, taps)` writes a result for every channel.
template <class V, class G, class Sample>
void for_points(const KernelContext& context, const Sample& sample) {
  const auto& a = context.attributes<GridSampleAttributes>();
  const TensorView &x = context.input(0), &grid = context.input(1);
  const int axes = x.rank - 2;
  const int64_t points = context.output(0).count() == 0 ? 0 : grid.count() / axes;
  const int64_t plane = x.extents[0] == 0 ? 0 : points / x.extents[0];
  const auto* places = grid.as<const typename Element<G>::Stored>();
  for_items(context, points, 64 * x.extents[1], [&](int64_t begin, int64_t end) {
    for (int64_t point = begin; point < end; ++point) {
      AxisTaps<V> taps[kMaxRank];
      for (int axis = 0; axis < axes; ++axis) {  // the grid has the last axis first
        const V place = static_cast<V>(Element<G>::load(places[point * axes + axes - 1 - axis]));
        taps[axis] = Axis<V>(a, x.extents[2 + axis]).taps(place);
      }
      sample(point / plane, point % plane, plane, taps);
    }
  });
}

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
    const TensorView &x = context.input(0), &y = context.output(0);
    if (y.count() != 0 && x.count() == 0) {
      return context.fail(Code::kWrongExtent, "elements to sample", 1, 0, 0);
    }
    const int64_t channels = x.extents[1];
    const int64_t image = x.count() == 0 ? 0 : x.count() / (x.extents[0] * channels);
    const auto* from = x.as<const typename E::Stored>();
    auto* to = y.as<typename E::Stored>();
    for_points<V, G>(context, [&](int64_t item, int64_t point, int64_t plane, const auto* taps) {
      for (int64_t first = 0; first < channels; first += kLanes) {
        const int64_t lanes = std::min(kLanes, channels - first);
        const auto* planes = from + (item * channels + first) * image;
        V sums[kLanes] = {};
        for_taps(taps, x.extents + 2, x.rank - 2, [&](int64_t offset, V weight) {
          for (int64_t lane = 0; lane < lanes; ++lane) {
            sums[lane] += weight * static_cast<V>(E::load(planes[lane * image + offset]));
          }
        });
        auto* results = to + (item * channels + first) * plane + point;
        for (int64_t lane = 0; lane < lanes; ++lane) results[lane * plane] = E::store(sums[lane]);
      }
    });
    return {};
  }
};

}  // namespace

extern const KernelList grid_sample_kernels;
constinit const KernelList grid_sample_kernels =
    kernel_list<EachPair<GridSample, Floats, Types<float, Float16, double>>>();

}  // namespace intarsia::cpu
