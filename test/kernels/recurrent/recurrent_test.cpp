// SPDX-License-Identifier: Apache-2.0
//
// Recurrent layers against formulas in double, in all layouts and directions, and rejected nodes.
#include "core/operators/recurrent/rnn.h"
#include "test/kernels/gemm/harness.h"
#include "test/kernels/nn/naive.h"
#include "test/slow_build.h"

namespace intarsia::test {
namespace {

double logistic(double x) {
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
            reset.push_back(logistic(clipped(from_x(1, i) + from_h(1, i, {}))));
          }
          for (int64_t i = 0; i < hidden; ++i) {
            const auto gate = [&](int64_t g) { return from_x(g, i) + from_h(g, i, {}); };
            double next = 0;
            if (gates == 1) {
              next = std::tanh(clipped(gate(0)));
            } else if (gates == 3) {
              const double update = logistic(clipped(gate(0)));
              const double recurrent =
                  linear ? at(reset, i) * from_h(2, i, {}) : from_h(2, i, reset);
              const double candidate = std::tanh(clipped(from_x(2, i) + recurrent));
              next = (1 - update) * candidate + update * at(h, i);
            } else {
              double& cell = y_c[static_cast<size_t>(state(d, n) + i)];
              const auto peephole = [&](int64_t g) { return at(ps, (d * 3 + g) * hidden + i); };
              const double input = logistic(clipped(gate(0) + peephole(0) * cell));
              const double forget = logistic(clipped(gate(2) + peephole(2) * cell));
              cell = (coupled ? 1 - input : forget) * cell + input * std::tanh(clipped(gate(3)));
              next = logistic(clipped(gate(1) + peephole(1) * cell)) * std::tanh(cell);
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
    result.input<T>({d, 2 * rows}, b);
    const bool all = std::count(lengths.begin(), lengths.end(), time) == batch;
    if (all) {
      result.absent();  // as nearly all models have it
    } else {
      result.input<int32_t>({batch}, lengths);
    }
    result.input<T>(states, h0);
    if (with_cell) result.input<T>(states, c0).template input<T>({d, 3 * hidden}, p);
    result.output<T>(layout == 0 ? Dims{time, d, batch, hidden} : Dims{batch, time, d, hidden});
    result.output<T>(states).threads(direction + 1);
    if (with_cell) result.output<T>(states);
    return result;
  }

  void give_attributes(Node& node) const {
    RnnAttributes a;
    a.direction = direction;
    a.layout = layout;
    a.clip = clip;
    a.hidden_size = hidden;
    if (gates == 1) node.attributes(a);
    if (gates == 3) node.attributes(GruAttributes{a, linear ? 1 : 0});
    if (gates == 4) node.attributes(LstmAttributes{a, coupled ? 1 : 0});
  }
};

template <class T>
void expect_recurrence(std::string_view kernel, Recurrence<T> recurrence, double relative,
                       Isa isa = Isa::kPortable, int threads = 1) {
  static Part part(5);  // one or two of the six
  for (int32_t direction : {0, 1, 2}) {
    for (int32_t layout : {0, 1}) {
      if (!part.takes()) continue;
      recurrence.direction = direction;
      recurrence.layout = layout;
      recurrence.expect();
      Node node = recurrence.node(recurrence.gates == 4);
      node.isa(isa).threads(threads);
      if (kernel.find("computed<") == std::string_view::npos) node.constant(1).constant(2);
      recurrence.give_attributes(node);
      ASSERT_TRUE(node.run(kernel).ok()) << node.diagnostic().what;
      expect_near<T>(node.result<T>(), recurrence.y, relative, relative);
      expect_near<T>(node.result<T>(1), recurrence.y_h, relative, relative);
      if (recurrence.gates == 4) {
        expect_near<T>(node.result<T>(2), recurrence.y_c, relative, relative);
      }
    }
  }
}

TEST(Recurrent, EqualsFormulas) {
  expect_recurrence("RNN<float>", Recurrence<float>{.gates = 1}, 2e-5);
  expect_recurrence("RNN<double>", Recurrence<double>{.gates = 1, .clip = 0.3f}, 1e-12);
  expect_recurrence("RNN<float16>", Recurrence<Float16>{.gates = 1}, 2e-3);
  expect_recurrence("GRU<float>", Recurrence<float>{.gates = 3, .clip = 0.5f}, 2e-5);
  expect_recurrence("GRU<double>", Recurrence<double>{.gates = 3, .linear = true}, 1e-12);
  expect_recurrence("LSTM<float>", Recurrence<float>{.gates = 4}, 2e-5);
  expect_recurrence("LSTM<double>", Recurrence<double>{.gates = 4, .coupled = true, .clip = 0.5f},
                    1e-12);
  expect_recurrence("LSTM<bfloat16>", Recurrence<BFloat16>{.gates = 4}, 1e-2);
}

TEST(Recurrent, PackedEqualsFormulas) {
  // Hidden units that fill panels and such that do not; more steps than are projected at once.
  for (Isa isa : {Isa::kPortable, detect_isa()}) {
    for (int32_t hidden : {3, 32, 37}) {
      const auto both = [&](const std::string& rule, const Recurrence<float>& of) {
        expect_recurrence(rule + ".packed<float>", of, 2e-5, isa);
        expect_recurrence(rule + ".computed<float>", of, 2e-5, isa);
        if (of.gates > 1) expect_recurrence(rule + ".beside<float>", of, 2e-5, isa);
      };
      Recurrence<float> layer{
          .r_scale = 0.125f, .time = 27, .hidden = hidden, .lengths = {27, 13, 0}};
      layer.gates = 1;
      both("RNN", layer);
      layer.gates = 3;
      both("GRU", layer);
      layer.linear = true;
      layer.clip = 0.5f;
      both("GRU", layer);
      layer.gates = 4;
      both("LSTM", layer);
      layer.coupled = true;
      layer.clip = 0;
      both("LSTM", layer);
    }
  }
}

TEST(Recurrent, ComputedWeightsEqualFormulas) {
  for (Isa isa : cpu::available_isas()) {
    for (int32_t hidden : {3, 32, 37}) {
      Recurrence<float> layer{.r_scale = 0.125f, .time = 27, .hidden = hidden};
      layer.lengths = {27, 13, 0};
      for (int threads : {1, 3}) {
        layer.gates = 1;
        expect_recurrence("RNN.computed<float>", layer, 2e-5, isa, threads);
        layer.gates = 3;
        expect_recurrence("GRU.computed<float>", layer, 2e-5, isa, threads);
        layer.gates = 4;
        expect_recurrence("LSTM.computed<float>", layer, 2e-5, isa, threads);
      }
    }
  }
}

/// Activations have vector code of their own, or share that of the reference.
TEST(Recurrent, EachActivationEqualsTheReference) {
  for (int32_t kind = 0; kind <= kLastRnnActivation; ++kind) {
    for (float clip : {0.0f, 1.5f}) {
      const auto run = [&](std::string_view kernel, Isa isa) {
        std::mt19937 engine(1);
        RnnAttributes a;
        a.activations = {1, {kind}};
        a.activation_alpha = {1, {0.75f}};
        a.activation_beta = {1, {0.5f}};
        a.clip = clip;
        a.hidden_size = 5;
        Node node;
        node.input<float>({4, 7, 3}, random_values<float>(84, engine, -3, 3));
        node.input<float>({1, 5, 3}, random_values<float>(15, engine, -1, 1));
        node.input<float>({1, 5, 5}, random_values<float>(25, engine, -0.5f, 0.5f));
        node.output<float>({4, 1, 7, 5}).constant(1).constant(2).isa(isa).attributes(a);
        EXPECT_TRUE(node.run(kernel).ok()) << node.diagnostic().what;
        return node.result<float>();
      };
      const std::vector<float> reference = run("RNN<float>", Isa::kPortable);
      const std::vector<double> expected(reference.begin(), reference.end());
      for (Isa isa : cpu::available_isas()) {
        expect_near<float>(run("RNN.packed<float>", isa), expected, 1e-5, 1e-5);
      }
    }
  }
}

/// The hidden units of a single sequence are shared, where there are enough: no other results.
TEST(Recurrent, SharedUnitsEqualFormulasAndOneThread) {
  Recurrence<float> layer{.r_scale = 0.0625f, .time = 15, .batch = 1, .lengths = {14}};
  for (Isa isa : {Isa::kPortable, detect_isa()}) {
    for (int32_t hidden : {192, 200}) {
      if (kSlowBuild && hidden == 192) continue;
      layer.hidden = hidden;
      for (auto [kernel, gates, linear] :
           {std::tuple("RNN.packed<float>", 1, false), std::tuple("GRU.packed<float>", 3, false),
            std::tuple("GRU.packed<float>", 3, true), std::tuple("LSTM.packed<float>", 4, false)}) {
        layer.gates = gates;
        layer.linear = linear;
        expect_recurrence(kernel, layer, 2e-5, isa, 5);
        layer.expect();
        std::vector<float> alone;
        for (int threads : {1, 2, 5}) {
          Node node = layer.node(gates == 4);
          node.isa(isa).threads(threads).constant(1).constant(2);
          layer.give_attributes(node);
          ASSERT_TRUE(node.run(kernel).ok()) << node.diagnostic().what;
          if (threads == 1) alone = node.result<float>();
          EXPECT_EQ(node.result<float>(), alone) << kernel << " of " << threads << " threads";
        }
      }
    }
  }
}

/// Sequences are computed in groups, whose size depends on the threads and on the hidden units.
TEST(Recurrent, GroupsEqualFormulas) {
  for (const auto& [hidden, whole] : {std::pair(19, false), {19, true}, {32, true}, {3, false}}) {
    Recurrence<float> layer{.r_scale = 0.125f, .time = 6, .batch = 29, .hidden = hidden};
    layer.lengths.assign(static_cast<size_t>(layer.batch), layer.time);
    for (int32_t i = 0; !whole && i < layer.batch; ++i) {
      layer.lengths[static_cast<size_t>(i)] = i * 5 % 7;
    }
    for (Isa isa : {Isa::kPortable, detect_isa()}) {
      for (int threads : {1, 7}) {
        layer.gates = 1;
        expect_recurrence("RNN.packed<float>", layer, 2e-5, isa, threads);
        layer.gates = 3;
        for (bool linear : {false, true}) {
          layer.linear = linear;
          expect_recurrence("GRU.packed<float>", layer, 2e-5, isa, threads);
        }
        layer.gates = 4;
        expect_recurrence("LSTM.packed<float>", layer, 2e-5, isa, threads);
      }
      layer.expect();
      std::vector<float> alone;
      for (const char* kernel : {"LSTM.packed<float>", "LSTM.beside<float>"}) {
        for (int threads : {1, 2, 7}) {
          Node node = layer.node(true);
          node.isa(isa).threads(threads).constant(1).constant(2);
          layer.give_attributes(node);
          ASSERT_TRUE(node.run(kernel).ok()) << node.diagnostic().what;
          if (alone.empty()) alone = node.result<float>();
          EXPECT_EQ(node.result<float>(), alone) << kernel << ", " << threads << " threads";
        }
      }
    }
  }
}

void expect_without_optional_operands(std::string_view kernel) {
  // One step of an LSTM of zeros but for the candidate's weight: c = logistic(0) * tanh(1).
  Node node;
  node.input<float>({1, 1, 1}, {1}).input<float>({1, 4, 1}, {0, 0, 0, 1});
  node.input<float>({1, 4, 1}, {0, 0, 0, 0}).output<float>({1, 1, 1, 1});
  node.constant(1).constant(2);
  ASSERT_TRUE(node.attributes(LstmAttributes{}).run(kernel).ok());
  expect_near<float>(node.result<float>(), {0.5 * std::tanh(0.5 * std::tanh(1.0))}, 1e-6, 0);
}

TEST(Recurrent, OperandsMayBeLeftOut) {
  expect_without_optional_operands("LSTM<float>");
  expect_without_optional_operands("LSTM.packed<float>");
}

void expect_parameters_in_order(std::string_view kernel) {
  // Two directions of an RNN: LeakyRelu has an alpha, Affine alpha and beta, Relu would have none.
  RnnAttributes a;
  a.direction = 2;
  a.activations = {2,
                   {static_cast<int32_t>(RnnActivation::kLeakyRelu),
                    static_cast<int32_t>(RnnActivation::kAffine)}};
  a.activation_alpha = {2, {0.5f, 3}};
  a.activation_beta = {1, {10}};
  const auto run = [&] {
    Node node;
    node.input<float>({1, 1, 1}, {-2}).input<float>({2, 1, 1}, {1, 1});
    node.input<float>({2, 1, 1}, {0, 0}).output<float>({1, 2, 1, 1});
    EXPECT_TRUE(node.constant(1).constant(2).attributes(a).run(kernel).ok());
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
  expect_parameters_in_order("RNN<float>");
  expect_parameters_in_order("RNN.packed<float>");
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
    return node.run("LSTM<float>").code();
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
  EXPECT_EQ(node.check("RNN<float>").code(), Code::kCorruptPlan);
  EXPECT_EQ(node.check("RNN.packed<float>").code(), Code::kCorruptPlan);  // also: not packed
  EXPECT_STREQ(node.diagnostic().what, "bytes of the packed weights");
}

}  // namespace
}  // namespace intarsia::test
