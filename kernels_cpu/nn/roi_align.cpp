// SPDX-License-Identifier: Apache-2.0
//
// RoiAlign: the mean, or the maximum, of an image at points of each bin of a region.
//
// A point lies between four elements, each of which has the product of a weight along either axis;
// a point more than one element outside is 0. The points of a bin are a grid, so their mean is
//
//     Y[bin] = sum over y of v[y] * (sum over x of u[x] * X[y, x]),
//
// where v[y] is what all points of the bin give element y along one axis: every element of a bin is
// read once, however many points there are. The maximum is that of each point's four weighted
// elements, not of their sum, as ONNX's own cases have it; the largest and the smallest weight of
// an element decide it. NaN is passed over by it. Regions that are no numbers, or reach farther
// than 2^31 elements, have no points, and so are 0. Regions and blocks of channels are shared out
// over the threads. Specification: https://onnx.ai/onnx/operators/onnx__RoiAlign.html
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/kernel_list.h"
#include "core/operators/nn/roi.h"
#include "core/runtime/operand_check.h"
#include "intarsia/per_thread.h"
#include "kernels_cpu/common/isa_loop.h"
#include "kernels_cpu/common/kernel_types.h"
#include "kernels_cpu/math/element.h"

namespace intarsia::cpu {
namespace {

/// Channels of a unit of work: enough to pay for the tables.
constexpr int64_t kChannels = 32;

/// The bins of a region along one axis, in elements of the image.
struct Bins {
  int64_t count = 0;
  double start = 0, size = 0;  // of the first bin; sizes may be negative
  int64_t points = 0;          // of each bin
};

/// In V, which decides how many points there are as other implementations do.
template <class V>
Bins bins_of(V from, V to, int64_t count, const RoiAlignAttributes& a) {
  constexpr V kFar = V{0x1p31};
  const bool half = a.coordinates == RoiAlignAttributes::kHalfPixel;
  const V offset = half ? V{0.5} : V{0}, scale = static_cast<V>(a.spatial_scale);
  const V start = from * scale - offset;
  V size = (to * scale - offset) - start;
  if (!half && size < 1) size = 1;
  if (!(std::fabs(start) <= kFar && std::fabs(size) <= kFar)) return {count};
  const V bin = size / static_cast<V>(count);
  const V points = a.sampling_ratio > 0 ? static_cast<V>(a.sampling_ratio) : std::ceil(bin);
  return {count, static_cast<double>(start), static_cast<double>(bin),
          points > 0 ? static_cast<int64_t>(points) : 0};
}

/// What the points of each bin give to the elements of one axis. Each bin meets a run of the
/// elements that any bin meets; two bins share two of them at most.
template <class V>
class AxisTable {
 public:
  struct Run {
    int64_t first = 0, count = 0;  // places in the list of elements
    const V* high;                 // the sum of an element's weights, or the largest
    const V* low;                  // the smallest
    bool outside = false;          // has points outside of the image
  };

  static CheckedInt slots(int64_t extent, int64_t bins) {
    return (CheckedInt(extent) + CheckedInt(bins) * 2) * 2 + extent + CheckedInt(bins) * 4;
  }
  AxisTable(std::byte* memory, int64_t extent, int64_t bins, bool largest)
      : extent_(extent), largest_(largest), high_(reinterpret_cast<V*>(memory)) {
    low_ = high_ + extent + 2 * bins;
    // Behind them, in slots of 8 bytes.
    elements_ = reinterpret_cast<int64_t*>(memory) + 2 * (extent + 2 * bins);
    runs_ = elements_ + extent;
  }

  void fill(const Bins& bins) {
    count_ = 0;
    weights_ = 0;
    least_ = 0;
    // Upwards, so that elements come in order.
    const bool downwards = bins.size < 0;
    for (int64_t i = 0; i < bins.count; ++i) {
      const int64_t bin = downwards ? bins.count - 1 - i : i;
      const double start = bins.start + static_cast<double>(downwards ? bin + 1 : bin) * bins.size;
      add_bin(bin, start, std::fabs(bins.size), bins.points);
    }
  }

  int64_t count() const { return count_; }
  const int64_t* elements() const { return elements_; }
  Run run(int64_t bin) const {
    const int64_t* r = runs_ + 4 * bin;
    return {r[0], r[1], high_ + r[2], low_ + r[2], r[3] != 0};
  }

 private:
  void add_bin(int64_t bin, double start, double size, int64_t points) {
    const double step = size / static_cast<double>(points);
    const auto extent = static_cast<double>(extent_);
    int64_t* run = runs_ + 4 * bin;
    run[0] = run[1] = 0;
    run[2] = weights_;
    int64_t inside = 0, point = 0;
    // The points in front of the image may be any number.
    if (step > 0) {
      const double skipped = std::floor((-1 - start) / step) - 2;
      if (skipped > 0) point = skipped < static_cast<double>(points) ? int64_t(skipped) : points;
    }
    for (; point < points && extent_ > 0; ++point) {
      double x = start + (static_cast<double>(point) + 0.5) * step;
      if (x < -1) continue;
      if (x > extent) break;
      ++inside;
      x = x > 0 ? x : 0;
      // Of very large regions, steps vanish: what a bin has met stays behind it.
      const int64_t low = std::max(std::min(static_cast<int64_t>(x), extent_ - 1), least_);
      const bool last = low == extent_ - 1;
      const V weight = last ? V{0} : static_cast<V>(x - static_cast<double>(low));
      least_ = low;
      add(run, low, 1 - weight);
      add(run, last ? low : low + 1, weight);
    }
    run[3] = inside < points ? 1 : 0;
  }

  void add(int64_t* run, int64_t element, V weight) {
    int64_t place = count_;
    for (int64_t back = 1; back <= 2 && back <= count_; ++back) {
      if (elements_[count_ - back] == element) place = count_ - back;
    }
    if (place == count_) elements_[count_++] = element;
    if (run[1] == 0) run[0] = place;
    const int64_t at = run[2] + place - run[0];
    if (place - run[0] == run[1]) {
      ++run[1];
      ++weights_;
      high_[at] = low_[at] = weight;
    } else if (largest_) {
      high_[at] = std::max(high_[at], weight);
      low_[at] = std::min(low_[at], weight);
    } else {
      high_[at] += weight;
    }
  }

  int64_t extent_, count_ = 0, weights_ = 0, least_ = 0;
  bool largest_;
  V *high_, *low_;
  int64_t *elements_, *runs_;
};

/// How elements and weights become one number.
struct Mean {
  static constexpr bool kLargest = false;
  template <class V>
  static constexpr V kNone = V{0};
  template <class V>
  static V add(V sum, V x, V weight, V) {
    return sum + weight * x;
  }
};
struct Largest {
  static constexpr bool kLargest = true;
  template <class V>
  static constexpr V kNone = -std::numeric_limits<V>::infinity();
  template <class V>
  static V add(V best, V x, V high, V low) {
    // The larger product, not that which the sign of x asks for: this is no branch.
    const V most = x * high, least = x * low;
    const V product = least > most ? least : most;
    return product > best ? product : best;
  }
};

/// What the rows of a bin give to each column that is met.
template <class M, class E, class V>
void combine_rows(const AxisTable<V>& rows, const typename AxisTable<V>::Run& run,
                  const AxisTable<V>& columns, const typename E::Stored* plane, int64_t width,
                  V* line) {
  const int64_t* at = columns.elements();
  const int64_t count = columns.count();
  const bool together = at[count - 1] - at[0] == count - 1;
  for (int64_t row = 0; row < run.count; ++row) {
    const V high = run.high[row], low = run.low[row];
    const auto* from = plane + rows.elements()[run.first + row] * width;
    const auto each = [&](const auto& place) {
      const V none = M::template kNone<V>;
      INTARSIA_INDEPENDENT
      for (int64_t j = 0; j < count; ++j) {
        const V x = static_cast<V>(E::load(from[place(j)]));
        line[j] = M::add(row == 0 ? none : line[j], x, high, low);
      }
    };
    if (together) {
      from += at[0];
      each([](int64_t j) { return j; });
    } else {
      each([at](int64_t j) { return at[j]; });
    }
  }
}

/// A bin of a line of combined rows.
template <class M, class V>
V combine_columns(const typename AxisTable<V>::Run& run, const V* line, V start) {
  line += run.first;
  for (int64_t j = 0; j < run.count; ++j) start = M::add(start, line[j], run.high[j], run.low[j]);
  return start;
}

/// The bins of one region in one channel.
template <class M, class E, class V>
void align(const AxisTable<V>& rows, const AxisTable<V>& columns, const RoiAlignAttributes& a,
           V points, const typename E::Stored* plane, int64_t width, V* line,
           typename E::Stored* y) {
  for (int64_t i = 0; i < a.output_height; ++i) {
    const auto row = rows.run(i);
    const bool met = row.count > 0 && columns.count() > 0;
    if (met) combine_rows<M, E>(rows, row, columns, plane, width, line);
    for (int64_t j = 0; j < a.output_width; ++j) {
      const auto column = columns.run(j);
      V value = 0;
      if (met && column.count > 0) {
        const bool zero = row.outside || column.outside;
        value = combine_columns<M>(column, line, zero ? V{0} : M::template kNone<V>);
      }
      *y++ = E::store(M::kLargest ? value : value / points);
    }
  }
}

template <class T>
struct RoiAlign {
  static constexpr KernelId id{"RoiAlign", "", {kernel_type_of<T>}};
  using E = Element<T>;
  using V = std::conditional_t<std::is_same_v<T, double>, double, float>;

  /// Two tables and a line, in slots of 8 bytes.
  static CheckedInt thread_bytes(const KernelContext& context) {
    const auto& a = context.attributes<RoiAlignAttributes>();
    const TensorView& x = context.input(0);
    const CheckedInt slots = AxisTable<V>::slots(x.extents[2], a.output_height) +
                             AxisTable<V>::slots(x.extents[3], a.output_width) + x.extents[3];
    return slots * 8;
  }
  static int64_t workspace(const KernelContext& context) {
    return (thread_bytes(context) * context.threads()).value();
  }
  static Status check(const KernelContext& context) {
    constexpr KernelType t = kernel_type_of<T>;
    Status status = check_operands<ops::RoiAlign>(
        context, {.inputs = {t, t, DataType::kInt64}, .required_inputs = 3, .outputs = {t}});
    return status ? check_workspace(context, workspace(context)) : status;
  }

  static Status run(const KernelContext& context) {
    const TensorView &x = context.input(0), &y = context.output(0);
    if (y.count() == 0) return {};
    const auto& a = context.attributes<RoiAlignAttributes>();
    const int64_t regions = y.extents[0], channels = y.extents[1];
    const auto* images = context.input(2).as<const int64_t>();
    for (int64_t i = 0; i < regions; ++i) {
      if (images[i] >= 0 && images[i] < x.extents[0]) continue;
      return context.fail(Code::kIndexOutOfRange, "index of an image", x.extents[0], images[i], 2);
    }
    const auto* corners = context.input(1).as<const typename E::Stored>();
    const int64_t height = x.extents[2], width = x.extents[3];
    const int64_t bins = int64_t{a.output_height} * a.output_width;
    const int64_t blocks = (channels + kChannels - 1) / kChannels;
    const bool largest = a.mode == RoiAlignAttributes::kMax;
    const PerThread<std::byte> own(context.workspace(), context.threads(),
                                   thread_bytes(context).value());
    const auto* from = x.as<const typename E::Stored>();
    auto* to = y.as<typename E::Stored>();
    context.parallel_for(regions * blocks, [&](int64_t begin, int64_t end, int thread) {
      std::byte* memory = own[thread];
      AxisTable<V> rows(memory, height, a.output_height, largest);
      memory += AxisTable<V>::slots(height, a.output_height).value() * 8;
      AxisTable<V> columns(memory, width, a.output_width, largest);
      memory += AxisTable<V>::slots(width, a.output_width).value() * 8;
      V* line = reinterpret_cast<V*>(memory);
      int64_t known = -1;
      V points = 1;
      for (int64_t unit = begin; unit < end; ++unit) {
        const int64_t region = unit / blocks, first = unit % blocks * kChannels;
        if (region != known) {
          const auto corner = [&](int i) {
            return static_cast<V>(E::load(corners[4 * region + i]));
          };
          const Bins down = bins_of<V>(corner(1), corner(3), a.output_height, a);
          const Bins along = bins_of<V>(corner(0), corner(2), a.output_width, a);
          rows.fill(down);
          columns.fill(along);
          points = std::max(V{1}, static_cast<V>(down.points) * static_cast<V>(along.points));
          known = region;
        }
        const int64_t last = std::min(first + kChannels, channels);
        for (int64_t channel = first; channel < last; ++channel) {
          const auto* plane = from + (images[region] * channels + channel) * height * width;
          auto* result = to + (region * channels + channel) * bins;
          on_isa(context.isa(), [&] {
            if (largest) {
              align<Largest, E>(rows, columns, a, points, plane, width, line, result);
            } else {
              align<Mean, E>(rows, columns, a, points, plane, width, line, result);
            }
          });
        }
      }
    });
    return {};
  }
};

}  // namespace

extern const KernelList roi_align_kernels;
constinit const KernelList roi_align_kernels = kernel_list<Each<RoiAlign, Floats>>();

}  // namespace intarsia::cpu
