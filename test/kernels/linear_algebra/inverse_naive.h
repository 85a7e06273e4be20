// SPDX-License-Identifier: Apache-2.0
//
// Inverse as a loop in long double, and matrices of a known condition, for the tests of its kernels
// on every device.
#pragma once

#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "intarsia/types.h"

namespace intarsia::test {

/// The inverse of each n x n matrix, by elimination.
inline std::vector<double> naive_inverse(std::vector<double> a, int n) {
  std::vector<double> result(a.size());
  for (size_t first = 0; first < a.size(); first += static_cast<size_t>(n) * n) {
    std::vector<long double> m(static_cast<size_t>(2 * n * n));
    for (int i = 0; i < n * n; ++i) {
      m[static_cast<size_t>(i / n * 2 * n + i % n)] = a[first + static_cast<size_t>(i)];
      m[static_cast<size_t>(i / n * 2 * n + n + i % n)] = i / n == i % n ? 1 : 0;
    }
    const auto at = [&](int row, int column) -> long double& {
      return m[static_cast<size_t>(row * 2 * n + column)];
    };
    for (int k = 0; k < n; ++k) {
      int best = k;
      for (int row = k; row < n; ++row) {
        if (std::fabs(at(row, k)) > std::fabs(at(best, k))) best = row;
      }
      for (int c = 0; c < 2 * n; ++c) std::swap(at(k, c), at(best, c));
      const long double pivot = at(k, k);
      for (int c = 0; c < 2 * n; ++c) at(k, c) /= pivot;
      for (int row = 0; row < n; ++row) {
        const long double factor = at(row, k);
        for (int c = 0; row != k && c < 2 * n; ++c) at(row, c) -= factor * at(k, c);
      }
    }
    for (int i = 0; i < n * n; ++i) {
      result[first + static_cast<size_t>(i)] = static_cast<double>(at(i / n, n + i % n));
    }
  }
  return result;
}

/// An n x n matrix whose singular values go from 1 to `condition`, rounded to float16 so that every
/// type inverts the same matrix; that moves the condition by a few hundredths.
inline std::vector<double> conditioned_matrix(int n, double condition, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<double> a(static_cast<size_t>(n * n));
  for (int i = 0; i < n; ++i) {
    a[static_cast<size_t>(i * n + i)] = std::pow(condition, static_cast<double>(i) / (n - 1));
  }
  // A reflection of all columns, then one of all rows; singular values stay.
  for (const int step : {n, 1}) {
    const int other = n + 1 - step;
    std::vector<double> v;
    double square = 0;
    for (int i = 0; i < n; ++i) v.push_back(normal(random));
    for (const double value : v) square += value * value;
    for (int line = 0; line < n; ++line) {
      double along = 0;
      for (int i = 0; i < n; ++i) {
        along += v[static_cast<size_t>(i)] * a[static_cast<size_t>(line * other + i * step)];
      }
      for (int i = 0; i < n; ++i) {
        a[static_cast<size_t>(line * other + i * step)] -=
            2 * along / square * v[static_cast<size_t>(i)];
      }
    }
  }
  for (double& value : a) {
    value = static_cast<double>(static_cast<float>(Float16(static_cast<float>(value))));
  }
  return a;
}

}  // namespace intarsia::test
