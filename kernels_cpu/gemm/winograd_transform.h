// SPDX-License-Identifier: Apache-2.0
//
// The transforms of F(m, 3) in one dimension (Toom and Cook): polynomials evaluated at the points
// that `kFilter` names, the last of which is infinity. Those of two dimensions are the same along
// rows and then along columns. F is a float, a double or a vector of floats.
#pragma once

namespace intarsia::cpu {

template <int M>
struct Winograd;

/// Points 0, 1, -1.
template <>
struct Winograd<2> {
  static constexpr int kOut = 2;
  static constexpr int kIn = 4;
  static constexpr double kFilter[kIn][3] = {
      {1, 0, 0}, {0.5, 0.5, 0.5}, {0.5, -0.5, 0.5}, {0, 0, 1}};

  template <class F>
  [[gnu::always_inline]] static void input(const F (&d)[kIn], F (&v)[kIn]) {
    v[0] = d[0] - d[2];
    v[1] = d[1] + d[2];
    v[2] = d[2] - d[1];
    v[3] = d[3] - d[1];
  }
  template <class F>
  [[gnu::always_inline]] static void output(const F (&p)[kIn], F (&y)[kOut]) {
    y[0] = p[0] + (p[1] + p[2]);
    y[1] = (p[1] - p[2]) + p[3];
  }
};

/// Points 0, a, -a, 2a, -2a with a^2 = 1/2: reciprocal pairs keep the factors close to one, which
/// loses less than the points 1 and 2.
template <>
struct Winograd<4> {
  static constexpr int kOut = 4;
  static constexpr int kIn = 6;
  static constexpr double kRoot = 1.41421356237309504880;  // of 2
  static constexpr double kFilter[kIn][3] = {{1, 0, 0},
                                             {-2.0 / 3, -kRoot / 3, -1.0 / 3},
                                             {-2.0 / 3, kRoot / 3, -1.0 / 3},
                                             {1.0 / 6, kRoot / 6, 1.0 / 3},
                                             {1.0 / 6, -kRoot / 6, 1.0 / 3},
                                             {0, 0, 1}};

  template <class F>
  [[gnu::always_inline]] static void input(const F (&d)[kIn], F (&v)[kIn]) {
    constexpr auto kB = static_cast<float>(kRoot), kA = static_cast<float>(kRoot / 2);
    const F even = d[4] - 2.0f * d[2], odd = kA * d[3] - kB * d[1];
    const F even2 = d[4] - 0.5f * d[2], odd2 = kB * d[3] - kA * d[1];
    v[0] = (d[4] + d[0]) - 2.5f * d[2];
    v[1] = even + odd;
    v[2] = even - odd;
    v[3] = even2 + odd2;
    v[4] = even2 - odd2;
    v[5] = (d[5] + d[1]) - 2.5f * d[3];
  }
  template <class F>
  [[gnu::always_inline]] static void output(const F (&p)[kIn], F (&y)[kOut]) {
    constexpr auto kB = static_cast<float>(kRoot), kA = static_cast<float>(kRoot / 2);
    const F sum = p[1] + p[2], difference = p[1] - p[2];
    const F sum2 = p[3] + p[4], difference2 = p[3] - p[4];
    y[0] = p[0] + (sum + sum2);
    y[1] = kA * difference + kB * difference2;
    y[2] = 0.5f * sum + 2.0f * sum2;
    y[3] = (kA / 2 * difference + p[5]) + 2 * kB * difference2;
  }
};

}  // namespace intarsia::cpu
