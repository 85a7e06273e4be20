// SPDX-License-Identifier: Apache-2.0
//
// The elements behind each result of an operator along axes: what tests of reductions, Softmax and
// running sums compute from, one list at a time.
#pragma once

#include "test/kernels/common/kernel_harness.h"

namespace intarsia::test {

using List = std::vector<long double>;

/// Extents after the axes in `mask` are reduced.
inline Dims reduced_dims(const Dims& dims, unsigned mask, bool keep) {
  Dims result;
  for (size_t axis = 0; axis < dims.size(); ++axis) {
    if ((mask >> axis & 1u) == 0) {
      result.push_back(dims[axis]);
    } else if (keep) {
      result.push_back(1);
    }
  }
  return result;
}

/// The elements behind each output of a reduction over the axes in `mask`.
inline std::vector<List> groups_of(const Dims& dims, const std::vector<double>& x, unsigned mask) {
  std::vector<List> groups(static_cast<size_t>(count_of(reduced_dims(dims, mask, true))));
  for (size_t i = 0; i < x.size(); ++i) {
    int64_t rest = static_cast<int64_t>(i), group = 0, stride = 1;
    for (size_t axis = dims.size(); axis-- > 0;) {
      const int64_t index = rest % dims[axis];
      rest /= dims[axis];
      if ((mask >> axis & 1u) != 0) continue;
      group += index * stride;
      stride *= dims[axis];
    }
    groups[static_cast<size_t>(group)].push_back(x[i]);
  }
  return groups;
}

/// Calls body(extents, axis, axis from the front) for every axis of several tensors.
inline void for_axes(const std::function<void(const Dims&, int32_t, unsigned)>& body) {
  for (const Dims& dims : {Dims{}, Dims{1}, Dims{37}, Dims{3, 5}, Dims{2, 19, 33}, Dims{4, 1, 3, 2},
                           Dims{300, 40}, Dims{3, 0, 2}, Dims{7, 777}, Dims{2, 90, 150}}) {
    for (int32_t axis = 0; axis < static_cast<int32_t>(std::max<size_t>(dims.size(), 1)); ++axis) {
      const auto rank = static_cast<int32_t>(dims.size());
      body(dims, rank > 0 && axis % 2 != 0 ? axis - rank : axis, static_cast<unsigned>(axis));
    }
  }
}

/// Lines along `axis`, each a list of indices into the tensor.
inline std::vector<std::vector<size_t>> lines_of(const Dims& dims, unsigned axis) {
  std::vector<size_t> indices(static_cast<size_t>(count_of(dims)));
  std::vector<double> numbers;
  for (size_t i = 0; i < indices.size(); ++i) numbers.push_back(static_cast<double>(i));
  std::vector<std::vector<size_t>> lines;
  for (const List& group : groups_of(dims, numbers, 1u << axis)) {
    lines.emplace_back(group.begin(), group.end());
  }
  return lines;
}

inline long double exponentials_of(const List& list) {
  long double sum = 0;
  for (long double value : list) sum += std::exp(value);
  return sum;
}

}  // namespace intarsia::test
