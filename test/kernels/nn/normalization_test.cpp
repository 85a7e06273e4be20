// SPDX-License-Identifier: Apache-2.0
//
// Normalisations against formulas in double, in all layouts, and rejected nodes.
#include "core/operators/nn/normalization.h"

#include <cstring>

#include "test/kernels/gemm/harness.h"
#include "test/kernels/nn/naive.h"

namespace intarsia::test {
namespace {

constexpr std::string_view kBatchNormalization = "BatchNormalization<float, float, float>";

/// Mean and variance of each group of elements that `group_of` puts together.
struct NaiveMoments {
  Numbers mean, variance;
  NaiveMoments(const Numbers& x, size_t groups, const std::function<size_t(size_t)>& group_of)
      : mean(groups), variance(groups) {
    Numbers count(groups);
    for (size_t i = 0; i < x.size(); ++i) mean[group_of(i)] += x[i], count[group_of(i)] += 1;
    for (size_t g = 0; g < groups; ++g) mean[g] /= count[g];
    for (size_t i = 0; i < x.size(); ++i) {
      const size_t g = group_of(i);
      variance[g] += (x[i] - mean[g]) * (x[i] - mean[g]) / count[g];
    }
  }
};

template <class T, class P>
void expect_batch_normalization(bool last, Isa isa) {
  const Dims dims = {2, 70, 3, 3};
  std::vector<T> x;
  std::vector<P> scale, shift, mean, variance;
  const Numbers xs = random_numbers(count_of(dims), 1, x);
  const Numbers scales = random_numbers(70, 2, scale), shifts = random_numbers(70, 3, shift);
  const Numbers means = random_numbers(70, 4, mean);
  const Numbers variances = random_numbers(70, 5, variance, 0.5);
  BatchNormalizationAttributes a;
  a.epsilon = 0.25f;
  a.channels_last = last ? 1 : 0;
  Numbers expected;
  for (size_t i = 0; i < xs.size(); ++i) {
    const size_t c = i / 9 % 70;
    expected.push_back((xs[i] - means[c]) / std::sqrt(variances[c] + 0.25) * scales[c] + shifts[c]);
  }
  Node node;
  node.input<T>(last ? channels_last(dims) : dims, last ? channels_last(dims, x) : x);
  node.input<P>({70}, scale).template input<P>({70}, shift);
  node.input<P>({70}, mean).template input<P>({70}, variance);
  node.output<T>(last ? channels_last(dims) : dims).attributes(a).threads(3).in_place(0);
  const std::string kernel =
      kernel_name("BatchNormalization", {data_type_of<T>, data_type_of<P>, data_type_of<P>});
  ASSERT_TRUE(node.isa(isa).run(kernel).ok()) << node.diagnostic().what;
  expect_near<T>(node.result<T>(), last ? channels_last(dims, expected) : expected,
                 4 * epsilon_of<T>(), 4 * epsilon_of<T>());
}

TEST(Normalization, BatchStatisticsAreInputs) {
  for (Isa isa : cpu::available_isas()) {
    for (bool last : {false, true}) {
      expect_batch_normalization<float, float>(last, isa);
      expect_batch_normalization<double, double>(last, isa);
      expect_batch_normalization<Float16, float>(last, isa);
      expect_batch_normalization<BFloat16, BFloat16>(last, isa);
    }
  }
  Node rank1;  // one channel
  rank1.input<float>({2}, {1, 2}).input<float>({1}, {2}).input<float>({1}, {1});
  rank1.input<float>({1}, {1}).input<float>({1}, {1}).output<float>({2});
  BatchNormalizationAttributes a;
  a.epsilon = 0;
  ASSERT_TRUE(rank1.attributes(a).run(kBatchNormalization).ok());
  EXPECT_EQ(rank1.result<float>(), (std::vector<float>{1, 3}));
}

TEST(Normalization, TrainingComputesTheStatistics) {
  // Channel 0 holds 1, 3, 5, 7: mean 4, variance 5; channel 1 is constant.
  Node node;
  node.input<float>({2, 2, 2}, {1, 3, 2, 2, 5, 7, 2, 2});
  node.input<float>({2}, {2, 1}).input<float>({2}, {10, -1});
  node.input<float>({2}, {0, 4}).input<float>({2}, {1, 1});
  node.output<float>({2, 2, 2}).output<float>({2}).output<float>({2}).threads(2).in_place(0);
  BatchNormalizationAttributes a;
  a.epsilon = 4;
  a.momentum = 0.75f;
  a.training_mode = 1;
  ASSERT_TRUE(node.attributes(a).run(kBatchNormalization).ok()) << node.diagnostic().what;
  expect_near<float>(node.result<float>(), {8, 10 - 2.0 / 3, -1, -1, 10 + 2.0 / 3, 12, -1, -1},
                     1e-6, 0);
  EXPECT_EQ(node.result<float>(1), (std::vector<float>{1, 3.5f}));
  EXPECT_EQ(node.result<float>(2), (std::vector<float>{2, 0.75f}));
  // The same numbers with the channels last.
  a.channels_last = 1;
  Node last;
  last.input<float>({2, 2, 2}, {1, 2, 3, 2, 5, 2, 7, 2});
  last.input<float>({2}, {2, 1}).input<float>({2}, {10, -1});
  last.input<float>({2}, {0, 4}).input<float>({2}, {1, 1});
  last.output<float>({2, 2, 2}).output<float>({2}).output<float>({2}).threads(2).in_place(0);
  ASSERT_TRUE(last.attributes(a).run(kBatchNormalization).ok()) << last.diagnostic().what;
  expect_near<float>(last.result<float>(), {8, -1, 10 - 2.0 / 3, -1, 10 + 2.0 / 3, -1, 12, -1},
                     1e-6, 0);
  EXPECT_EQ(last.result<float>(1), (std::vector<float>{1, 3.5f}));
  EXPECT_EQ(last.result<float>(2), (std::vector<float>{2, 0.75f}));
}

/// X of 2 images: a group of channels is a run of `channels * plane / groups` elements.
void expect_groups(int32_t channels, int32_t plane, int32_t groups) {
  SCOPED_TRACE(std::to_string(channels) + " channels of " + std::to_string(plane));
  const Dims dims = {2, channels, plane};
  const auto count = static_cast<size_t>(count_of(dims)), size = static_cast<size_t>(plane);
  const auto lines = static_cast<size_t>(channels);
  const size_t run = lines * size / static_cast<size_t>(groups);
  std::vector<float> x, scale, shift;
  const Numbers xs = random_numbers(count_of(dims), 1, x),
                scales = random_numbers(channels, 2, scale);
  const Numbers shifts = random_numbers(channels, 3, shift);
  const NaiveMoments moments(xs, count / run, [run](size_t i) { return i / run; });
  Numbers expected;
  for (size_t i = 0; i < count; ++i) {
    const double deviation = std::sqrt(moments.variance[i / run] + 1e-5);
    expected.push_back((xs[i] - moments.mean[i / run]) / deviation * scales[i / size % lines] +
                       shifts[i / size % lines]);
  }
  Node node;
  node.input<float>(dims, x).input<float>({channels}, scale).input<float>({channels}, shift);
  node.output<float>(dims).threads(2).in_place(0);
  if (groups == channels) {
    node.attributes(InstanceNormalizationAttributes{});
    ASSERT_TRUE(node.run("InstanceNormalization<float>").ok());
  } else {
    GroupNormalizationAttributes a;
    a.num_groups = groups;
    ASSERT_TRUE(node.attributes(a).run("GroupNormalization<float>").ok());
  }
  expect_near<float>(node.result<float>(), expected, 2e-6, 2e-6);
}

TEST(Normalization, GroupsAndInstances) {
  for (const auto& [channels, plane] : {std::pair(6, 5), std::pair(6, 40), std::pair(300, 3)}) {
    for (const int groups : {3, channels}) expect_groups(channels, plane, groups);
  }
  expect_groups(602, 1, 2);
}

// Many planes, whose lanes, rests and joins have the same order everywhere. Of one all elements are
// the same, those of the next are so small that their squares are none among floats.
template <class T>
void expect_same_bits(int32_t plane) {
  SCOPED_TRACE(plane);
  constexpr int32_t kChannels = 75;
  const Dims dims = {2, kChannels, plane};
  const auto n = static_cast<size_t>(plane);
  std::vector<T> x, scale, shift;
  random_numbers(count_of(dims), 1, x), random_numbers(kChannels, 2, scale);
  random_numbers(kChannels, 3, shift);
  for (size_t i = 0; i < n; ++i) {
    x[7 * n + i] = T(0.1F);
    x[8 * n + i] = T(i % 2 == 0 ? 1e-25F : -3e-25F);
  }
  std::vector<T> expected;
  for (const Isa isa : cpu::available_isas()) {
    for (const int threads : {1, 3}) {
      Node node;
      node.input<T>(dims, x).template input<T>({kChannels}, scale);
      node.template input<T>({kChannels}, shift).template output<T>(dims).in_place(0);
      node.attributes(InstanceNormalizationAttributes{}).isa(isa).threads(threads);
      ASSERT_TRUE(node.run(kernel_name("InstanceNormalization", {data_type_of<T>})).ok());
      if (expected.empty()) expected = node.template result<T>();
      EXPECT_EQ(0, std::memcmp(expected.data(), node.template result<T>().data(),
                               expected.size() * sizeof(T)));
      for (size_t i = 0; i < n; ++i) {
        EXPECT_NEAR(static_cast<double>(expected[7 * n + i]), static_cast<double>(shift[7]), 1e-4);
        EXPECT_NEAR(static_cast<double>(expected[8 * n + i]), static_cast<double>(shift[8]), 1e-4);
      }
    }
  }
}

TEST(Normalization, SameBitsOnEveryInstructionSet) {
  for (const int32_t plane : {1, 5, 8, 13, 16, 20, 49, 64, 100, 127, 300, 1500}) {
    expect_same_bits<float>(plane);
    expect_same_bits<double>(plane);
  }
}

TEST(Normalization, GroupsDivideTheChannels) {
  const auto code = [](int32_t groups) {
    GroupNormalizationAttributes a;
    a.num_groups = groups;
    Node node;
    node.input<float>({1, 6}, std::vector<float>(6)).input<float>({6}, std::vector<float>(6));
    node.input<float>({6}, std::vector<float>(6)).output<float>({1, 6}).attributes(a);
    return node.check("GroupNormalization<float>").code();
  };
  EXPECT_EQ(code(2), Code::kOk);
  EXPECT_EQ(code(4), Code::kWrongExtent);
  EXPECT_EQ(code(0), Code::kInvalidValue);
}

template <class T>
void expect_layer_normalization(bool with_shift, int32_t columns, Isa isa) {
  const Dims dims = {3, 2, columns};
  const auto run = 2 * static_cast<size_t>(columns);
  std::vector<T> x, scale, shift;
  const Numbers xs = random_numbers(3 * run, 1, x), scales = random_numbers(run, 2, scale);
  const Numbers shifts = random_numbers(run, 3, shift);
  const NaiveMoments moments(xs, 3, [run](size_t i) { return i / run; });
  LayerNormalizationAttributes a;
  a.axis = -2;
  Numbers expected, inverse, rms;
  for (size_t i = 0; i < xs.size(); ++i) {
    const size_t row = i / run;
    const double mean = moments.mean[row];
    const double deviation = std::sqrt(moments.variance[row] + 1e-5);
    if (i % run == 0) inverse.push_back(1 / deviation);
    expected.push_back((xs[i] - mean) / deviation * scales[i % run] +
                       (with_shift ? shifts[i % run] : 0));
    const double square = moments.variance[row] + mean * mean;
    rms.push_back(xs[i] / std::sqrt(square + 1e-5) * scales[i % run]);
  }
  // epsilon is a float attribute: for doubles it differs from 1e-5 in the ninth digit.
  const double tolerance = 4 * epsilon_of<T>() + 1e-9;
  Node node;
  node.input<T>(dims, x).template input<T>({1, 2, columns}, scale);
  if (with_shift) node.input<T>({2, columns}, shift);
  node.output<T>(dims).template output<float>({3, 1, 1}).template output<float>({3, 1, 1});
  node.attributes(a).isa(isa);
  ASSERT_TRUE(node.run(kernel_name("LayerNormalization", {data_type_of<T>})).ok());
  expect_near<T>(node.result<T>(), expected, tolerance, tolerance);
  expect_near<float>(node.result<float>(1), moments.mean, 1e-6, 1e-7);
  expect_near<float>(node.result<float>(2), inverse, 1e-6, 0);

  Node root;
  root.input<T>(dims, x).template input<T>({2, columns}, scale).template output<T>(dims);
  root.attributes(a).isa(isa);
  ASSERT_TRUE(root.run(kernel_name("RMSNormalization", {data_type_of<T>, data_type_of<T>})).ok());
  expect_near<T>(root.result<T>(), rms, tolerance, tolerance);
}

TEST(Normalization, TrailingAxes) {
  for (bool with_shift : {false, true}) {
    for (const Isa isa : cpu::available_isas()) {
      for (const int32_t columns : {3, 4, 10, 19, 31, 32, 33, 75}) {
        expect_layer_normalization<float>(with_shift, columns, isa);
        expect_layer_normalization<double>(with_shift, columns, isa);
        expect_layer_normalization<Float16>(with_shift, columns, isa);
      }
    }
  }
  Node node;
  node.input<float>({2, 3}, std::vector<float>(6)).input<float>({2}, {1, 1}).output<float>({2, 3});
  LayerNormalizationAttributes a;
  EXPECT_EQ(node.attributes(a).check("LayerNormalization<float>").code(), Code::kWrongExtent);
  a.axis = 2;
  EXPECT_EQ(node.attributes(a).check("LayerNormalization<float>").code(), Code::kIndexOutOfRange);
}

template <class T>
void expect_norms_of_rows(int32_t columns, int p, Isa isa) {
  constexpr int32_t kRows = 131;  // of which the third is 0
  const Dims dims = {kRows, columns};
  const auto n = static_cast<size_t>(columns);
  std::vector<T> x;
  Numbers xs = random_numbers(int64_t{kRows} * columns, 1, x);
  for (size_t i = 2 * n; i < 3 * n; ++i) x[i] = T(0.0F), xs[i] = 0;
  Numbers normed, expected;
  const NaiveMoments moments(xs, kRows, [n](size_t i) { return i / n; });
  for (size_t row = 0; row < kRows; ++row) {
    double sum = 0;
    for (size_t i = row * n; i < (row + 1) * n; ++i)
      sum += p == 1 ? std::fabs(xs[i]) : xs[i] * xs[i];
    const double norm = p == 1 ? sum : std::sqrt(sum);
    const double deviation = std::sqrt(moments.variance[row]) + 1e-9;
    for (size_t i = row * n; i < (row + 1) * n; ++i) {
      normed.push_back(norm == 0 ? 0 : xs[i] / norm);
      expected.push_back((xs[i] - moments.mean[row]) / deviation);
    }
  }
  const double tolerance = 4 * epsilon_of<T>();
  Node norm;
  norm.input<T>(dims, x).template output<T>(dims).in_place(0).isa(isa).threads(3);
  LpNormalizationAttributes lp;
  lp.p = p;
  ASSERT_TRUE(norm.attributes(lp).run(kernel_name("LpNormalization", {data_type_of<T>})).ok());
  expect_near<T>(norm.result<T>(), normed, tolerance, tolerance);
  if (columns == 1) return;  // a deviation of 0
  Node node;
  node.input<T>(dims, x).template output<T>(dims).isa(isa).threads(3);
  MeanVarianceNormalizationAttributes a;
  a.axes = {1, {1}};
  const std::string kernel = kernel_name("MeanVarianceNormalization", {data_type_of<T>});
  ASSERT_TRUE(node.attributes(a).run(kernel).ok());
  expect_near<T>(node.result<T>(), expected, 1e2 * tolerance, 4 * tolerance);
}

/// Several rows are taken together.
TEST(Normalization, RowsOfAnyLength) {
  for (const Isa isa : cpu::available_isas()) {
    for (const int32_t columns : {1, 2, 3, 4, 7, 8, 15, 16, 17, 33}) {
      for (const int p : {1, 2}) {
        expect_norms_of_rows<float>(columns, p, isa);
        expect_norms_of_rows<double>(columns, p, isa);
        expect_norms_of_rows<Float16>(columns, p, isa);
      }
    }
  }
}

TEST(Normalization, AnyAxes) {
  Node norm;
  norm.input<float>({2, 2, 2}, {3, 0, 4, 0, -1, 2, 2, -2}).output<float>({2, 2, 2}).in_place(0);
  LpNormalizationAttributes lp;
  lp.axis = 1;
  ASSERT_TRUE(norm.attributes(lp).run("LpNormalization<float>").ok());
  const double root5 = std::sqrt(5.0), root8 = std::sqrt(8.0);
  expect_near<float>(norm.result<float>(),
                     {0.6, 0, 0.8, 0, -1 / root5, 2 / root8, 2 / root5, -2 / root8}, 1e-7, 0);
  lp.p = 3;
  EXPECT_EQ(norm.attributes(lp).check("LpNormalization<float>").code(), Code::kInvalidValue);

  std::vector<float> x;
  const Numbers xs = random_numbers(24, 1, x);  // {2, 3, 2, 2}, over axes 0, 2, 3
  const NaiveMoments moments(xs, 3, [](size_t i) { return i / 4 % 3; });
  Numbers expected;
  for (size_t i = 0; i < xs.size(); ++i) {
    const size_t c = i / 4 % 3;
    expected.push_back((xs[i] - moments.mean[c]) / std::sqrt(moments.variance[c]));
  }
  Node node;
  node.input<float>({2, 3, 2, 2}, x).output<float>({2, 3, 2, 2}).threads(2);
  MeanVarianceNormalizationAttributes a;
  ASSERT_TRUE(node.attributes(a).run("MeanVarianceNormalization<float>").ok());
  expect_near<float>(node.result<float>(), expected, 1e-6, 1e-6);
  a.axes = {2, {0, -5}};
  EXPECT_EQ(node.attributes(a).check("MeanVarianceNormalization<float>").code(),
            Code::kIndexOutOfRange);
  a.axes.count = 9;
  EXPECT_EQ(node.attributes(a).check("MeanVarianceNormalization<float>").code(),
            Code::kCorruptPlan);
}

TEST(Normalization, ResponseAcrossChannels) {
  const Dims dims = {2, 7, 2, 3};
  std::vector<float> x;
  const Numbers xs = random_numbers(84, 1, x);
  for (float beta : {0.75f, 0.6f}) {
    for (int32_t size : {1, 4, 5, 20}) {
      Numbers expected(84);
      for_each_index(dims, [&](const Dims& index) {
        double squares = 0;
        for (int32_t c = std::max(0, index[1] - (size - 1) / 2);
             c <= std::min(6, index[1] + size / 2); ++c) {
          const auto at = static_cast<size_t>(place(dims, {index[0], c, index[2], index[3]}));
          squares += xs[at] * xs[at];
        }
        const auto at = static_cast<size_t>(place(dims, index));
        expected[at] = xs[at] / std::pow(2 + 0.5 / size * squares, static_cast<double>(beta));
      });
      for (bool last : {false, true}) {
        LrnAttributes a;
        a.alpha = 0.5f;
        a.beta = beta;
        a.bias = 2;
        a.size = size;
        a.channels_last = last ? 1 : 0;
        Node node;
        node.input<float>(last ? channels_last(dims) : dims, last ? channels_last(dims, x) : x);
        node.output<float>(last ? channels_last(dims) : dims).attributes(a);
        ASSERT_TRUE(node.run("LRN<float>").ok());
        expect_near<float>(node.result<float>(), last ? channels_last(dims, expected) : expected,
                           1e-6, 0);
      }
    }
  }
  Node node;
  node.input<float>({1, 1}, {1}).output<float>({1, 1});
  LrnAttributes a;
  a.size = 0;
  EXPECT_EQ(node.attributes(a).check("LRN<float>").code(), Code::kInvalidValue);
}

}  // namespace
}  // namespace intarsia::test
