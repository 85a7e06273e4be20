// SPDX-License-Identifier: Apache-2.0
//
// Sliding windows as the specification words them, for tests: every output index, every tap, one
// multi-index at a time, in double. Shares nothing with the kernels.
#pragma once

#include <functional>

#include "core/operators/nn/window.h"
#include "test/kernels/common/kernel_harness.h"

namespace intarsia::test {

using Numbers = std::vector<double>;

/// Relative tolerance of sums whose terms lie within [-1, 1].
template <class T>
double tolerance() {
  return 8 * epsilon_of<T>();
}

inline int64_t place(const Dims& dims, const Dims& index) {
  int64_t result = 0;
  for (size_t i = 0; i < dims.size(); ++i) result = result * dims[i] + index[i];
  return result;
}

inline void for_each_index(const Dims& dims, const std::function<void(const Dims&)>& visit) {
  if (count_of(dims) == 0) return;
  Dims index(dims.size(), 0);
  for (;;) {
    visit(index);
    size_t axis = dims.size();
    while (axis > 0 && ++index[axis - 1] == dims[axis - 1]) index[--axis] = 0;
    if (axis == 0) return;
  }
}

template <class T>
Numbers numbers_of(const std::vector<T>& values) {
  Numbers result;
  for (T value : values) result.push_back(as_double<T>(value));
  return result;
}

/// Fills `values` with elements in [low, 1]; returns them as numbers.
template <class T>
Numbers random_numbers(int64_t count, uint32_t seed, std::vector<T>& values, double low = -1) {
  std::mt19937 engine(seed);
  values = random_values<T>(count, engine, low, 1);
  return numbers_of(values);
}

/// N, C, spatial... to N, spatial..., C.
inline Dims channels_last(const Dims& dims) {
  Dims result = dims;
  result.erase(result.begin() + 1);
  result.push_back(dims[1]);
  return result;
}
template <class T>
std::vector<T> channels_last(const Dims& dims, const std::vector<T>& values) {
  const Dims to = channels_last(dims);
  std::vector<T> result(values.size());
  for_each_index(dims, [&](const Dims& index) {
    result[static_cast<size_t>(place(to, channels_last(index)))] =
        values[static_cast<size_t>(place(dims, index))];
  });
  return result;
}

/// A window per spatial axis; `before` is the padding in front.
struct NaiveWindow {
  Dims kernel, stride, dilation, before;

  WindowAttributes attributes(const Dims& after) const {
    WindowAttributes a;
    for (size_t i = 0; i < kernel.size(); ++i) {
      a.kernel_shape.push(kernel[i]);
      a.strides.push(stride[i]);
      a.dilations.push(dilation[i]);
      a.pads.push(before[i]);
    }
    for (int32_t pad : after) a.pads.push(pad);
    return a;
  }

  /// Extents of the output of floor mode.
  Dims output(const Dims& in, const Dims& after) const {
    Dims out;
    for (size_t i = 0; i < in.size(); ++i) {
      const int32_t reach = dilation[i] * (kernel[i] - 1) + 1;
      out.push_back((in[i] + before[i] + after[i] - reach) / stride[i] + 1);
    }
    return out;
  }

  /// Visits the taps of output position `out`: `visit(tap index, input position, inside)`.
  void taps(const Dims& out, const Dims& in,
            const std::function<void(const Dims&, const Dims&, bool)>& visit) const {
    Dims at(out.size());
    for_each_index(kernel, [&](const Dims& tap) {
      bool inside = true;
      for (size_t i = 0; i < out.size(); ++i) {
        at[i] = out[i] * stride[i] - before[i] + tap[i] * dilation[i];
        inside = inside && at[i] >= 0 && at[i] < in[i];
      }
      visit(tap, at, inside);
    });
  }
};

inline Dims spatial_of(const Dims& dims) {
  return {dims.begin() + 2, dims.end()};
}
inline Dims joined(Dims first, const Dims& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

/// Y[n][m] = bias[m] + sum of x * w.
inline Numbers naive_conv(const Dims& x_dims, const Numbers& x, const Dims& w_dims,
                          const Numbers& w, const Numbers& bias, int group,
                          const NaiveWindow& window, const Dims& y_dims) {
  Numbers y(static_cast<size_t>(count_of(y_dims)));
  const int32_t depth = w_dims[1];
  const Dims image = spatial_of(x_dims);
  const int64_t pixels = count_of(image), taps = count_of(window.kernel);
  for_each_index(y_dims, [&](const Dims& index) {
    double sum = bias.empty() ? 0 : bias[static_cast<size_t>(index[1])];
    const int64_t first = index[1] / (w_dims[0] / group) * depth;
    const double* const planes = x.data() + (int64_t{index[0]} * x_dims[1] + first) * pixels;
    const double* const filter = w.data() + int64_t{index[1]} * depth * taps;
    window.taps(spatial_of(index), image, [&](const Dims& tap, const Dims& at, bool inside) {
      if (!inside) return;
      const int64_t pixel = place(image, at), t = place(window.kernel, tap);
      for (int64_t c = 0; c < depth; ++c) {
        sum += planes[c * pixels + pixel] * filter[c * taps + t];
      }
    });
    y[static_cast<size_t>(place(y_dims, index))] = sum;
  });
  return y;
}

}  // namespace intarsia::test
