// SPDX-License-Identifier: Apache-2.0
//
// Normalisations and recurrent layers against formulas in double, in all layouts and directions,
// and rejected nodes.
#include <limits>

#include "core/operators/nn/normalization.h"
#include "core/operators/recurrent/rnn.h"
#include "kernels_cpu/nn/lrn.h"
#include "kernels_cpu/nn/normalization.h"
#include "kernels_cpu/nn/normalization_axes.h"
#include "kernels_cpu/recurrent/rnn.h"
#include "test/kernels/nn/naive.h"

namespace intarsia::test {
namespace {

template <class T>
Numbers random_numbers(int64_t count, uint32_t seed, std::vector<T>& values, double low = -1) {
  std::mt19937 engine(seed);
  values = random_values<T>(count, engine, low, 1);
  return numbers_of(values);
}

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
void expect_batch_normalization(bool last) {
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
  using Kernel = cpu::BatchNormalization<T, P>;
  ASSERT_TRUE(node.run<Kernel>().ok()) << node.diagnostic().what;
  expect_near<T>(node.result<T>(), last ? channels_last(dims, expected) : expected,
                 4 * epsilon_of<T>(), 4 * epsilon_of<T>());
}

TEST(Normalization, BatchStatisticsAreInputs) {
  for (bool last : {false, true}) {
    expect_batch_normalization<float, float>(last);
    expect_batch_normalization<double, double>(last);
    expect_batch_normalization<Float16, float>(last);
    expect_batch_normalization<BFloat16, BFloat16>(last);
  }
  Node rank1;  // one channel
  rank1.input<float>({2}, {1, 2}).input<float>({1}, {2}).input<float>({1}, {1});
  rank1.input<float>({1}, {1}).input<float>({1}, {1}).output<float>({2});
  BatchNormalizationAttributes a;
  a.epsilon = 0;
  using Kernel = cpu::BatchNormalization<float, float>;
  ASSERT_TRUE(rank1.attributes(a).run<Kernel>().ok());
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
  using Kernel = cpu::BatchNormalization<float, float>;
  ASSERT_TRUE(node.attributes(a).run<Kernel>().ok()) << node.diagnostic().what;
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
  ASSERT_TRUE(last.attributes(a).run<Kernel>().ok()) << last.diagnostic().what;
  expect_near<float>(last.result<float>(), {8, -1, 10 - 2.0 / 3, -1, 10 + 2.0 / 3, -1, 12, -1},
                     1e-6, 0);
  EXPECT_EQ(last.result<float>(1), (std::vector<float>{1, 3.5f}));
  EXPECT_EQ(last.result<float>(2), (std::vector<float>{2, 0.75f}));
}

TEST(Normalization, GroupsAndInstances) {
  const Dims dims = {2, 6, 5};
  std::vector<float> x, scale, shift;
  const Numbers xs = random_numbers(60, 1, x), scales = random_numbers(6, 2, scale);
  const Numbers shifts = random_numbers(6, 3, shift);
  for (size_t groups : {3, 6}) {
    const size_t run = 30 / groups;
    const NaiveMoments moments(xs, 2 * groups, [run](size_t i) { return i / run; });
    Numbers expected;
    for (size_t i = 0; i < xs.size(); ++i) {
      const double deviation = std::sqrt(moments.variance[i / run] + 1e-5);
      expected.push_back((xs[i] - moments.mean[i / run]) / deviation * scales[i / 5 % 6] +
                         shifts[i / 5 % 6]);
    }
    Node node;
    node.input<float>(dims, x).input<float>({6}, scale).input<float>({6}, shift);
    node.output<float>(dims).threads(2).in_place(0);
    if (groups == 6) {
      node.attributes(InstanceNormalizationAttributes{});
      ASSERT_TRUE(node.run<cpu::InstanceNormalization<float>>().ok());
    } else {
      GroupNormalizationAttributes a;
      a.num_groups = static_cast<int32_t>(groups);
      ASSERT_TRUE(node.attributes(a).run<cpu::GroupNormalization<float>>().ok());
    }
    expect_near<float>(node.result<float>(), expected, 1e-6, 1e-6);
  }
  const auto code = [](int32_t groups) {
    GroupNormalizationAttributes a;
    a.num_groups = groups;
    Node node;
    node.input<float>({1, 6}, std::vector<float>(6)).input<float>({6}, std::vector<float>(6));
    node.input<float>({6}, std::vector<float>(6)).output<float>({1, 6}).attributes(a);
    return node.check<cpu::GroupNormalization<float>>().code();
  };
  EXPECT_EQ(code(2), Code::kOk);
  EXPECT_EQ(code(4), Code::kWrongExtent);
  EXPECT_EQ(code(0), Code::kInvalidValue);
}

template <class T>
void expect_layer_normalization(bool with_shift) {
  const Dims dims = {3, 2, 19};
  std::vector<T> x, scale, shift;
  const Numbers xs = random_numbers(114, 1, x), scales = random_numbers(38, 2, scale);
  const Numbers shifts = random_numbers(38, 3, shift);
  const NaiveMoments moments(xs, 3, [](size_t i) { return i / 38; });
  LayerNormalizationAttributes a;
  a.axis = -2;
  Numbers expected, inverse, rms;
  for (size_t i = 0; i < xs.size(); ++i) {
    const size_t row = i / 38;
    const double mean = moments.mean[row];
    const double deviation = std::sqrt(moments.variance[row] + 1e-5);
    if (i % 38 == 0) inverse.push_back(1 / deviation);
    expected.push_back((xs[i] - mean) / deviation * scales[i % 38] +
                       (with_shift ? shifts[i % 38] : 0));
    const double square = moments.variance[row] + mean * mean;
    rms.push_back(xs[i] / std::sqrt(square + 1e-5) * scales[i % 38]);
  }
  // epsilon is a float attribute: for doubles it differs from 1e-5 in the ninth digit.
  const double tolerance = 4 * epsilon_of<T>() + 1e-9;
  Node node;
  node.input<T>(dims, x).template input<T>({1, 2, 19}, scale);
  if (with_shift) node.input<T>({2, 19}, shift);
  node.output<T>(dims).template output<float>({3, 1, 1}).template output<float>({3, 1, 1});
  ASSERT_TRUE(node.attributes(a).template run<cpu::LayerNormalization<T>>().ok());
  expect_near<T>(node.result<T>(), expected, tolerance, tolerance);
  expect_near<float>(node.result<float>(1), moments.mean, 1e-6, 1e-7);
  expect_near<float>(node.result<float>(2), inverse, 1e-6, 0);

  Node root;
  root.input<T>(dims, x).template input<T>({2, 19}, scale).template output<T>(dims);
  using Kernel = cpu::RMSNormalization<T, T>;
  ASSERT_TRUE(root.attributes(a).template run<Kernel>().ok());
  expect_near<T>(root.result<T>(), rms, tolerance, tolerance);
}

TEST(Normalization, TrailingAxes) {
  for (bool with_shift : {false, true}) {
    expect_layer_normalization<float>(with_shift);
    expect_layer_normalization<double>(with_shift);
    expect_layer_normalization<Float16>(with_shift);
  }
  Node node;
  node.input<float>({2, 3}, std::vector<float>(6)).input<float>({2}, {1, 1}).output<float>({2, 3});
  LayerNormalizationAttributes a;
  EXPECT_EQ(node.attributes(a).check<cpu::LayerNormalization<float>>().code(), Code::kWrongExtent);
  a.axis = 2;
  EXPECT_EQ(node.attributes(a).check<cpu::LayerNormalization<float>>().code(),
            Code::kIndexOutOfRange);
}

TEST(Normalization, AnyAxes) {
  Node norm;
  norm.input<float>({2, 2, 2}, {3, 0, 4, 0, -1, 2, 2, -2}).output<float>({2, 2, 2}).in_place(0);
  LpNormalizationAttributes lp;
  lp.axis = 1;
  ASSERT_TRUE(norm.attributes(lp).run<cpu::LpNormalization<float>>().ok());
  const double root5 = std::sqrt(5.0), root8 = std::sqrt(8.0);
  expect_near<float>(norm.result<float>(),
                     {0.6, 0, 0.8, 0, -1 / root5, 2 / root8, 2 / root5, -2 / root8}, 1e-7, 0);
  lp.p = 3;
  EXPECT_EQ(norm.attributes(lp).check<cpu::LpNormalization<float>>().code(), Code::kInvalidValue);

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
  ASSERT_TRUE(node.attributes(a).run<cpu::MeanVarianceNormalization<float>>().ok());
  expect_near<float>(node.result<float>(), expected, 1e-6, 1e-6);
  a.axes = {2, {0, -5}};
  EXPECT_EQ(node.attributes(a).check<cpu::MeanVarianceNormalization<float>>().code(),
            Code::kIndexOutOfRange);
  a.axes.count = 9;
  EXPECT_EQ(node.attributes(a).check<cpu::MeanVarianceNormalization<float>>().code(),
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
        ASSERT_TRUE(node.run<cpu::LRN<float>>().ok());
        expect_near<float>(node.result<float>(), last ? channels_last(dims, expected) : expected,
                           1e-6, 0);
      }
    }
  }
  Node node;
  node.input<float>({1, 1}, {1}).output<float>({1, 1});
  LrnAttributes a;
  a.size = 0;
  EXPECT_EQ(node.attributes(a).check<cpu::LRN<float>>().code(), Code::kInvalidValue);
}

// ---- recurrent layers ----

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

/// A recurrent node with every input, and its result one scalar formula at a time.
template <class T>
struct Recurrence {
  int gates = 1;
  int32_t direction = 0, layout = 0;
  bool coupled = false, linear = false;
  float clip = 0;
  float r_scale = 1;  // many steps by large weights would magnify rounding without bound
  int32_t time = 4, batch = 3, features = 5, hidden = 37;
  std::vector<int32_t> lengths = {4, 2, 0};

  std::vector<T> x{}, w{}, r{}, b{}, h0{}, c0{}, p{};
  Numbers y{}, y_h{}, y_c{};

  int directions() const { return direction == 2 ? 2 : 1; }
  int64_t row(int64_t t, int64_t n) const { return layout == 0 ? t * batch + n : n * time + t; }
  int64_t state(int64_t d, int64_t n) const {
    return (layout == 0 ? d * batch + n : n * directions() + d) * hidden;
  }
  int64_t output(int64_t t, int64_t d, int64_t n) const {
    return (layout == 0 ? (t * directions() + d) * batch + n : row(t, n) * directions() + d) *
           hidden;
  }

  void expect() {
    const int64_t d_count = directions();
    const int64_t rows = int64_t{gates} * hidden;
    const Numbers xs = random_numbers(int64_t{time} * batch * features, 1, x);
    const Numbers ws = random_numbers(d_count * rows * features, 2, w);
    random_numbers(d_count * rows * hidden, 3, r);
    for (T& weight : r) weight = T(static_cast<float>(weight) * r_scale);
    const Numbers rs = numbers_of(r);
    const Numbers bs = random_numbers(d_count * rows * 2, 4, b);
    const Numbers hs = random_numbers(d_count * batch * hidden, 5, h0);
    const Numbers cs = random_numbers(d_count * batch * hidden, 6, c0);
    const Numbers ps = random_numbers(d_count * hidden * 3, 7, p);
    y.assign(static_cast<size_t>(time * d_count * batch * hidden), 0);
    y_h = hs;
    y_c = cs;
    const auto at = [](const Numbers& v, int64_t i) { return v[static_cast<size_t>(i)]; };
    const auto clipped = [this](double v) {
      return clip > 0 ? std::min<double>(clip, std::max<double>(-clip, v)) : v;
    };
    for (int64_t d = 0; d < d_count; ++d) {
      for (int64_t n = 0; n < batch; ++n) {
        const int64_t length = lengths[static_cast<size_t>(n)];
        for (int64_t s = 0; s < length; ++s) {
          const int64_t t = d == 1 || direction == 1 ? length - 1 - s : s;
          const Numbers h(y_h.begin() + state(d, n), y_h.begin() + state(d, n) + hidden);
          // Row i of gate g: the part of the input, and that of the state scaled by `scale`.
          const auto from_x = [&](int64_t g, int64_t i) {
            const int64_t k = g * hidden + i;
            double sum = at(bs, d * 2 * rows + k);
            for (int64_t f = 0; f < features; ++f) {
              sum += at(ws, (d * rows + k) * features + f) * at(xs, row(t, n) * features + f);
            }
            return sum;
          };
          const auto from_h = [&](int64_t g, int64_t i, const Numbers& scale) {
            const int64_t k = g * hidden + i;
            double sum = at(bs, d * 2 * rows + rows + k);
            for (int64_t f = 0; f < hidden; ++f) {
              sum += at(rs, (d * rows + k) * hidden + f) * at(h, f) *
                     (scale.empty() ? 1 : at(scale, f));
            }
            return sum;
          };
          Numbers reset;
          for (int64_t i = 0; gates == 3 && i < hidden; ++i) {
            reset.push_back(sigmoid(clipped(from_x(1, i) + from_h(1, i, {}))));
          }
          for (int64_t i = 0; i < hidden; ++i) {
            const auto gate = [&](int64_t g) { return from_x(g, i) + from_h(g, i, {}); };
            double next = 0;
            if (gates == 1) {
              next = std::tanh(clipped(gate(0)));
            } else if (gates == 3) {
              const double update = sigmoid(clipped(gate(0)));
              const double recurrent =
                  linear ? at(reset, i) * from_h(2, i, {}) : from_h(2, i, reset);
              const double candidate = std::tanh(clipped(from_x(2, i) + recurrent));
              next = (1 - update) * candidate + update * at(h, i);
            } else {
              double& cell = y_c[static_cast<size_t>(state(d, n) + i)];
              const auto peephole = [&](int64_t g) { return at(ps, (d * 3 + g) * hidden + i); };
              const double input = sigmoid(clipped(gate(0) + peephole(0) * cell));
              const double forget = sigmoid(clipped(gate(2) + peephole(2) * cell));
              cell = (coupled ? 1 - input : forget) * cell + input * std::tanh(clipped(gate(3)));
              next = sigmoid(clipped(gate(1) + peephole(1) * cell)) * std::tanh(cell);
            }
            y_h[static_cast<size_t>(state(d, n) + i)] = next;
            y[static_cast<size_t>(output(t, d, n) + i)] = next;
          }
        }
      }
    }
  }

  Node node(bool with_cell) const {
    const int32_t d = directions(), rows = gates * hidden;
    const Dims states = layout == 0 ? Dims{d, batch, hidden} : Dims{batch, d, hidden};
    Node result;
    result.input<T>(layout == 0 ? Dims{time, batch, features} : Dims{batch, time, features}, x);
    result.input<T>({d, rows, features}, w).template input<T>({d, rows, hidden}, r);
    result.input<T>({d, 2 * rows}, b).template input<int32_t>({batch}, lengths);
    result.input<T>(states, h0);
    if (with_cell) result.input<T>(states, c0).template input<T>({d, 3 * hidden}, p);
    result.output<T>(layout == 0 ? Dims{time, d, batch, hidden} : Dims{batch, time, d, hidden});
    result.output<T>(states).threads(direction + 1);
    if (with_cell) result.output<T>(states);
    return result;
  }

  RnnAttributes attributes() const {
    RnnAttributes a;
    a.direction = direction;
    a.layout = layout;
    a.clip = clip;
    a.hidden_size = hidden;
    return a;
  }
};

template <class K, class T>
void expect_recurrence(Recurrence<T> recurrence, double relative, Isa isa = Isa::kPortable) {
  for (int32_t direction : {0, 1, 2}) {
    for (int32_t layout : {0, 1}) {
      recurrence.direction = direction;
      recurrence.layout = layout;
      recurrence.expect();
      Node node = recurrence.node(recurrence.gates == 4);
      node.isa(isa).constant(1).constant(2);
      const RnnAttributes a = recurrence.attributes();
      if (recurrence.gates == 1) node.attributes(a);
      if (recurrence.gates == 3) node.attributes(GruAttributes{a, recurrence.linear ? 1 : 0});
      if (recurrence.gates == 4) node.attributes(LstmAttributes{a, recurrence.coupled ? 1 : 0});
      ASSERT_TRUE(node.run<K>().ok()) << node.diagnostic().what;
      expect_near<T>(node.result<T>(), recurrence.y, relative, relative);
      expect_near<T>(node.result<T>(1), recurrence.y_h, relative, relative);
      if (recurrence.gates == 4) {
        expect_near<T>(node.result<T>(2), recurrence.y_c, relative, relative);
      }
    }
  }
}

TEST(Recurrent, EqualsFormulas) {
  expect_recurrence<cpu::RNN<float>>(Recurrence<float>{.gates = 1}, 2e-5);
  expect_recurrence<cpu::RNN<double>>(Recurrence<double>{.gates = 1, .clip = 0.3f}, 1e-12);
  expect_recurrence<cpu::RNN<Float16>>(Recurrence<Float16>{.gates = 1}, 2e-3);
  expect_recurrence<cpu::GRU<float>>(Recurrence<float>{.gates = 3, .clip = 0.5f}, 2e-5);
  expect_recurrence<cpu::GRU<double>>(Recurrence<double>{.gates = 3, .linear = true}, 1e-12);
  expect_recurrence<cpu::LSTM<float>>(Recurrence<float>{.gates = 4}, 2e-5);
  expect_recurrence<cpu::LSTM<double>>(
      Recurrence<double>{.gates = 4, .coupled = true, .clip = 0.5f}, 1e-12);
  expect_recurrence<cpu::LSTM<BFloat16>>(Recurrence<BFloat16>{.gates = 4}, 1e-2);
}

TEST(Recurrent, PackedEqualsFormulas) {
  // Hidden units that fill panels and such that do not; more steps than are projected at once.
  for (Isa isa : {Isa::kPortable, detect_isa()}) {
    for (int32_t hidden : {32, 37}) {
      Recurrence<float> layer{
          .r_scale = 0.125f, .time = 27, .hidden = hidden, .lengths = {27, 13, 0}};
      layer.gates = 1;
      expect_recurrence<cpu::RNNPacked>(layer, 2e-5, isa);
      layer.gates = 3;
      expect_recurrence<cpu::GRUPacked>(layer, 2e-5, isa);
      layer.linear = true;
      layer.clip = 0.5f;
      expect_recurrence<cpu::GRUPacked>(layer, 2e-5, isa);
      layer.gates = 4;
      expect_recurrence<cpu::LSTMPacked>(layer, 2e-5, isa);
      layer.coupled = true;
      layer.clip = 0;
      expect_recurrence<cpu::LSTMPacked>(layer, 2e-5, isa);
    }
  }
}

template <class Lstm>
void expect_without_optional_operands() {
  // One step of an LSTM of zeros but for the candidate's weight: c = sigmoid(0) * tanh(1).
  Node node;
  node.input<float>({1, 1, 1}, {1}).input<float>({1, 4, 1}, {0, 0, 0, 1});
  node.input<float>({1, 4, 1}, {0, 0, 0, 0}).output<float>({1, 1, 1, 1});
  node.constant(1).constant(2);
  ASSERT_TRUE(node.attributes(LstmAttributes{}).run<Lstm>().ok());
  expect_near<float>(node.result<float>(), {0.5 * std::tanh(0.5 * std::tanh(1.0))}, 1e-6, 0);
}

TEST(Recurrent, OperandsMayBeLeftOut) {
  expect_without_optional_operands<cpu::LSTM<float>>();
  expect_without_optional_operands<cpu::LSTMPacked>();
}

template <class Rnn>
void expect_parameters_in_order() {
  // Two directions of an RNN: LeakyRelu has an alpha, Affine alpha and beta, Relu would have none.
  RnnAttributes a;
  a.direction = 2;
  a.activations = {2,
                   {static_cast<int32_t>(RnnActivation::kLeakyRelu),
                    static_cast<int32_t>(RnnActivation::kAffine)}};
  a.activation_alpha = {2, {0.5f, 3}};
  a.activation_beta = {1, {10}};
  const auto run = [&a] {
    Node node;
    node.input<float>({1, 1, 1}, {-2}).input<float>({2, 1, 1}, {1, 1});
    node.input<float>({2, 1, 1}, {0, 0}).output<float>({1, 2, 1, 1});
    EXPECT_TRUE(node.constant(1).constant(2).attributes(a).run<Rnn>().ok());
    return node.result<float>();
  };
  EXPECT_EQ(run(), (std::vector<float>{-1, 4}));
  a.activations[0] = static_cast<int32_t>(RnnActivation::kRelu);
  EXPECT_EQ(run(), (std::vector<float>{0, 9}));  // Affine takes the first alpha, 0.5
  a.activations[0] = static_cast<int32_t>(RnnActivation::kHardSigmoid);
  a.activation_alpha.count = 0;
  a.activation_beta.count = 0;
  EXPECT_NEAR(run()[0], 0.1, 1e-7);  // 0.2 * -2 + 0.5
}

TEST(Recurrent, ActivationParametersAreConsumedInOrder) {
  expect_parameters_in_order<cpu::RNN<float>>();
  expect_parameters_in_order<cpu::RNNPacked>();
}

TEST(Recurrent, RefusesContradictions) {
  const auto code = [](void (*spoil)(LstmAttributes&), int32_t length, int32_t rows) {
    LstmAttributes a;
    spoil(a);
    Node node;
    node.input<float>({2, 1, 1}, {1, 1});
    node.input<float>({1, rows, 1}, std::vector<float>(static_cast<size_t>(rows)));
    node.input<float>({1, 4, 1}, {0, 0, 0, 0}).absent().input<int32_t>({1}, {length});
    node.output<float>({2, 1, 1, 1}).attributes(a);
    return node.run<cpu::LSTM<float>>().code();
  };
  using A = LstmAttributes;
  EXPECT_EQ(code([](A&) {}, 2, 4), Code::kOk);
  EXPECT_EQ(code([](A&) {}, 3, 4), Code::kIndexOutOfRange);
  EXPECT_EQ(code([](A&) {}, -1, 4), Code::kIndexOutOfRange);
  EXPECT_EQ(code([](A&) {}, 2, 5), Code::kWrongExtent);
  EXPECT_EQ(code([](A& a) { a.rnn.hidden_size = 2; }, 2, 4), Code::kWrongExtent);
  EXPECT_EQ(code([](A& a) { a.rnn.direction = 3; }, 2, 4), Code::kCorruptPlan);
  EXPECT_EQ(code([](A& a) { a.rnn.layout = -1; }, 2, 4), Code::kInvalidValue);
  EXPECT_EQ(code([](A& a) { a.rnn.activations.count = 2; }, 2, 4), Code::kInvalidValue);
  EXPECT_EQ(code([](A& a) { a.rnn.activations.count = -3; }, 2, 4), Code::kCorruptPlan);
  EXPECT_EQ(code([](A& a) { a.rnn.activations = {3, {0, 1, 11}}; }, 2, 4), Code::kCorruptPlan);
  EXPECT_EQ(code([](A& a) { a.rnn.activation_alpha.count = 7; }, 2, 4), Code::kCorruptPlan);

  Node node;  // a plan that reserves no workspace
  node.input<float>({1, 1, 1}, {1}).input<float>({1, 1, 1}, {1}).input<float>({1, 1, 1}, {1});
  node.output<float>({1, 1, 1, 1}).attributes(RnnAttributes{});
  EXPECT_EQ(node.check<cpu::RNN<float>>().code(), Code::kCorruptPlan);
  EXPECT_EQ(node.check<cpu::RNNPacked>().code(), Code::kCorruptPlan);  // also: not packed
  EXPECT_STREQ(node.diagnostic().what, "bytes of the packed weights");
}

}  // namespace
}  // namespace intarsia::test
