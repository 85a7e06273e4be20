// SPDX-License-Identifier: Apache-2.0
//
// Normalisations without parameters, along any axes (ONNX LpNormalization,
// MeanVarianceNormalization):
//
//     LpNormalization            Y = X / norm_p(X along axis), 0 where the norm is 0
//     MeanVarianceNormalization  Y = (X - mean) / (deviation + 1e-9) over `axes`
//
// Sums are in double. Y may be the same memory as X.
// Specification: https://onnx.ai/onnx/operators/onnx__LpNormalization.html
#include <cmath>

#include "core/kernel_list.h"
#include "core/operators/nn/normalization.h"
#include "core/runtime/operand_check.h"
#include "kernels_cpu/nn/moments.h"

namespace intarsia::cpu {
namespace {

/// Some axes of a tensor, walked in row-major order.
struct AxisSet {
  int rank = 0;
  int64_t extents[kMaxRank] = {};
  int64_t strides[kMaxRank] = {};

  void push(int64_t extent, int64_t stride) {
    extents[rank] = extent;
    strides[rank++] = stride;
  }
  int64_t count() const {
    int64_t product = 1;
    for (int i = 0; i < rank; ++i) product *= extents[i];
    return product;
  }
  int64_t offset(int64_t index) const {
    int64_t result = 0;
    for (int i = rank - 1; i >= 0; --i) {
      result += index % extents[i] * strides[i];
      index /= extents[i];
    }
    return result;
  }
  /// Calls `body(offset)` for every position.
  template <class Body>
  void for_offsets(const Body& body) const {
    const int64_t inner = rank > 0 ? extents[rank - 1] : 1;
    const int64_t step = rank > 0 ? strides[rank - 1] : 0;
    const int64_t total = count();
    for (int64_t index = 0; index < total; index += inner) {
      const int64_t first = offset(index);
      for (int64_t i = 0; i < inner; ++i) body(first + i * step);
    }
  }
};

/// Splits the axes of a tensor into those in `mask` and the rest.
void split_axes(const TensorView& view, uint32_t mask, AxisSet& reduced, AxisSet& kept) {
  for (int axis = 0; axis < view.rank; ++axis) {
    int64_t stride = 1;
    for (int later = axis + 1; later < view.rank; ++later) stride *= view.extents[later];
    ((mask >> axis & 1u) != 0 ? reduced : kept).push(view.extents[axis], stride);
  }
}

/// Calls `normalize(first element, reduced axes)` for each position along the other axes.
template <class Normalize>
void for_slices(const KernelContext& context, uint32_t mask, const Normalize& normalize) {
  if (context.input(0).count() == 0) return;
  AxisSet reduced, kept;
  split_axes(context.input(0), mask, reduced, kept);
  context.parallel_for(kept.count(), [&](int64_t begin, int64_t end, int) {
    for (int64_t slice = begin; slice < end; ++slice) normalize(kept.offset(slice), reduced);
  });
}

template <class T>
struct LpNormalization {
  static constexpr KernelId id{"LpNormalization", "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{0};

  static Status check(const KernelContext& context) {
    constexpr KernelType t = kernel_type_of<T>;
    return check_operands<ops::LpNormalization>(context, {.inputs = {t}, .outputs = {t}});
  }

  static Status run(const KernelContext& context) {
    const auto& a = context.attributes<LpNormalizationAttributes>();
    const int axis = ops::wrapped_axis(a.axis, context.input(0).rank);
    const T* x = context.input(0).as<const T>();
    T* y = context.output(0).as<T>();
    for_slices(context, 1u << axis, [&](int64_t first, const AxisSet& reduced) {
      double norm = 0;
      reduced.for_offsets([&](int64_t offset) {
        const double value = as_double(x[first + offset]);
        norm += a.p == 1 ? std::fabs(value) : value * value;
      });
      if (a.p == 2) norm = std::sqrt(norm);
      reduced.for_offsets([&](int64_t offset) {
        const double value = as_double(x[first + offset]);
        y[first + offset] = from_double<T>(norm == 0 ? 0 : value / norm);
      });
    });
    return {};
  }
};

template <class T>
struct MeanVarianceNormalization {
  static constexpr KernelId id{"MeanVarianceNormalization", "", {kernel_type_of<T>}};
  static constexpr InPlace in_place{0};

  static Status check(const KernelContext& context) {
    constexpr KernelType t = kernel_type_of<T>;
    return check_operands<ops::MeanVarianceNormalization>(context, {.inputs = {t}, .outputs = {t}});
  }

  static Status run(const KernelContext& context) {
    const auto& a = context.attributes<MeanVarianceNormalizationAttributes>();
    uint32_t mask = 0;
    for (const int32_t axis : a.axes.view()) {
      mask |= 1u << ops::wrapped_axis(axis, context.input(0).rank);
    }
    const T* x = context.input(0).as<const T>();
    T* y = context.output(0).as<T>();
    for_slices(context, mask, [&](int64_t first, const AxisSet& reduced) {
      const auto n = static_cast<double>(reduced.count());
      double mean = 0;
      reduced.for_offsets([&](int64_t offset) { mean += as_double(x[first + offset]); });
      mean /= n;
      double variance = 0;
      reduced.for_offsets([&](int64_t offset) {
        const double centred = as_double(x[first + offset]) - mean;
        variance += centred * centred;
      });
      const double deviation = std::sqrt(variance / n) + 1e-9;
      reduced.for_offsets([&](int64_t offset) {
        y[first + offset] = from_double<T>((as_double(x[first + offset]) - mean) / deviation);
      });
    });
    return {};
  }
};

}  // namespace

extern const KernelList normalization_axes_kernels;
constinit const KernelList normalization_axes_kernels =
    kernel_list<Each<LpNormalization, Floats>, Each<MeanVarianceNormalization, Floats>>();

}  // namespace intarsia::cpu
