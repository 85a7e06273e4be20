// SPDX-License-Identifier: Apache-2.0
//
// DynamicLSTM against formulas in double, and its kernels against each other to the bit. Beside
// ONNX Runtime: test/nodes/contrib_quantized_test.py.
#include <cmath>

#include "core/operators/recurrent/rnn.h"
#include "test/kernels/gemm/harness.h"
#include "test/kernels/nn/naive.h"

namespace intarsia::test {
namespace {

double sigmoid(double x) {
  return 1 / (1 + std::exp(-x));
}

/// Numbers as the nearest ones that a byte can stand for, such that their range and 0 is 0 to 255.
Numbers rounded(const Numbers& x) {
  float low = 0, high = 0;
  for (const double v : x) {
    low = std::min(low, static_cast<float>(v));
    high = std::max(high, static_cast<float>(v));
  }
  const float scale = high > low ? (high - low) / 255 : 1, zero = std::nearbyint(-low / scale);
  Numbers result;
  for (const double v : x) {
    const float code = std::nearbyint(static_cast<float>(v) / scale) + zero;
    result.push_back((std::clamp(code, 0.0f, 255.0f) - zero) * scale);
  }
  return result;
}

template <class B>
struct Dynamic {
  int32_t direction = 0, time = 5, batch = 3, features = 6, hidden = 20;
  std::vector<int32_t> lengths = {5, 2, 0};  // empty: none are given
  std::vector<float> x{}, bias{}, h0{}, c0{}, w_scale{}, r_scale{};
  std::vector<B> w{}, r{}, w_zero{}, r_zero{};
  Numbers y{}, y_h{}, y_c{};

  int directions() const { return direction == 2 ? 2 : 1; }
  int64_t rows() const { return 4 * int64_t{hidden}; }
  int32_t length(int64_t n) const {
    return lengths.empty() ? time : lengths[static_cast<size_t>(n)];
  }

  void expect() {
    const int64_t d_count = directions(), lanes = d_count * rows();
    std::mt19937 engine(3);
    const auto codes = [&](int64_t count) {
      return random_values<B>(count, engine, std::is_signed_v<B> ? -127 : 0, 127);
    };
    const Numbers xs = random_numbers(int64_t{time} * batch * features, 1, x);
    const Numbers bs = random_numbers(2 * lanes, 2, bias);
    y_h = random_numbers(d_count * batch * hidden, 3, h0);
    y_c = random_numbers(d_count * batch * hidden, 4, c0);
    w = codes(lanes * features);
    r = codes(lanes * hidden);
    w_zero = codes(lanes);
    r_zero = codes(lanes);
    // So small that a code which rounding makes another is within the tolerance.
    w_scale = random_values<float>(lanes, engine, 0.0005, 0.002);
    r_scale = random_values<float>(lanes, engine, 0.0001, 0.0002);
    const auto at = [](const auto& v, int64_t i) {
      return static_cast<double>(v[static_cast<size_t>(i)]);
    };
    const auto number = [&](const std::vector<B>& codes_of, const std::vector<B>& zeros,
                            const std::vector<float>& scales, int64_t lane, int64_t k, int64_t i) {
      return (at(codes_of, lane * k + i) - at(zeros, lane)) * at(scales, lane);
    };
    int32_t longest = 0;
    for (int64_t n = 0; n < batch; ++n) longest = std::max(longest, length(n));
    const Numbers seen = rounded({xs.begin(), xs.begin() + int64_t{longest} * batch * features});
    y.assign(static_cast<size_t>(time * d_count * batch * hidden), 0);
    for (int64_t d = 0; d < d_count; ++d) {
      for (int32_t s = 0; s < longest; ++s) {
        // A state counts in the step after the one that has made it.
        Numbers states(y_h.begin() + d * batch * hidden, y_h.begin() + (d + 1) * batch * hidden);
        for (int64_t i = 0; i < batch * hidden; ++i) {
          if (s > length(i / hidden)) states[static_cast<size_t>(i)] = 0;
        }
        states = rounded(states);
        for (int64_t n = 0; n < batch; ++n) {
          if (s >= length(n)) continue;
          const int64_t t = d == 1 || direction == 1 ? length(n) - 1 - s : s;
          for (int64_t i = 0; i < hidden; ++i) {
            const auto gate = [&](int64_t g) {
              const int64_t lane = d * rows() + g * hidden + i;
              double sum = at(bs, d * 2 * rows() + g * hidden + i) +
                           at(bs, d * 2 * rows() + rows() + g * hidden + i);
              for (int64_t f = 0; f < features; ++f) {
                sum += number(w, w_zero, w_scale, lane, features, f) *
                       at(seen, (t * batch + n) * features + f);
              }
              for (int64_t f = 0; f < hidden; ++f) {
                sum += number(r, r_zero, r_scale, lane, hidden, f) * at(states, n * hidden + f);
              }
              return sum;
            };
            const auto state = static_cast<size_t>((d * batch + n) * hidden + i);
            y_c[state] = sigmoid(gate(2)) * y_c[state] + sigmoid(gate(0)) * std::tanh(gate(3));
            y_h[state] = sigmoid(gate(1)) * std::tanh(y_c[state]);
            y[static_cast<size_t>(((t * d_count + d) * batch + n) * hidden + i)] = y_h[state];
          }
        }
      }
    }
  }

  Node node() const {
    const int32_t d = directions(), lanes = 4 * hidden;
    Node result;
    result.input<float>({time, batch, features}, x).template input<B>({d, lanes, features}, w);
    result.input<B>({d, lanes, hidden}, r).template input<float>({d, 2 * lanes}, bias);
    if (lengths.empty()) {
      result.absent();
    } else {
      result.input<int32_t>({batch}, lengths);
    }
    result.input<float>({d, batch, hidden}, h0);
    result.input<float>({d, batch, hidden}, c0).absent();
    result.input<float>({d, lanes}, w_scale).template input<B>({d, lanes}, w_zero);
    result.input<float>({d, lanes}, r_scale).template input<B>({d, lanes}, r_zero);
    result.output<float>({time, d, batch, hidden}).template output<float>({d, batch, hidden});
    result.output<float>({d, batch, hidden});
    for (const int constant : {1, 2, 9, 11}) result.constant(constant);
    LstmAttributes attributes;
    attributes.rnn.direction = direction;
    result.attributes(attributes);
    return result;
  }
};

template <class B>
void expect_formula(Dynamic<B> layer, const std::string& type) {
  for (const int32_t direction : {0, 1, 2}) {
    layer.direction = direction;
    layer.expect();
    for (const Isa isa : cpu::available_byte_isas()) {
      SCOPED_TRACE(std::string(cpu::isa_name(isa)) + ", direction " + std::to_string(direction));
      std::vector<float> first;
      for (const std::string variant : {"", ".packed"}) {
        for (const int threads : {1, 2, 5}) {
          Node node = layer.node();
          node.isa(isa).threads(threads);
          ASSERT_TRUE(node.run("intarsia:DynamicLSTM" + variant + "<" + type + ">").ok())
              << node.diagnostic().what;
          expect_near<float>(node.result<float>(), layer.y, 1e-3, 1e-3);
          expect_near<float>(node.result<float>(1), layer.y_h, 1e-3, 1e-3);
          expect_near<float>(node.result<float>(2), layer.y_c, 1e-3, 1e-3);
          if (first.empty()) first = node.result<float>();
          EXPECT_EQ(node.result<float>(), first) << variant << " of " << threads << " threads";
        }
      }
      if (::testing::Test::HasFailure()) return;
    }
  }
}

TEST(DynamicLstm, EqualsFormula) {
  expect_formula(Dynamic<int8_t>{}, "int8");
  expect_formula(Dynamic<uint8_t>{}, "uint8");
  expect_formula(Dynamic<int8_t>{.time = 14, .batch = 1, .hidden = 16, .lengths = {13}}, "int8");
  // Units that threads share, of one sequence and of several.
  expect_formula(Dynamic<uint8_t>{.time = 3, .batch = 1, .hidden = 260, .lengths = {3}}, "uint8");
  expect_formula(Dynamic<int8_t>{.time = 3,
                                 .batch = 14,
                                 .features = 3,
                                 .hidden = 261,
                                 .lengths = {3, 3, 1, 2, 0, 3, 3, 2, 1, 3, 3, 3, 2, 3}},
                 "int8");
  // Sequences that threads share, several steps of which are projected at once.
  expect_formula(Dynamic<int8_t>{.time = 17, .batch = 5, .hidden = 120, .lengths = {}}, "int8");
}

TEST(DynamicLstm, Refused) {
  Node lacks;
  lacks.input<float>({1, 1, 1}, {1}).input<int8_t>({1, 4, 1}, {1, 1, 1, 1});
  lacks.input<int8_t>({1, 4, 1}, {1, 1, 1, 1}).output<float>({1, 1, 1, 1});
  EXPECT_EQ(lacks.attributes(LstmAttributes{}).check("intarsia:DynamicLSTM<int8>").code(),
            Code::kInvalidValue);
  Node one;  // a scale for all rows
  one.input<float>({1, 1, 1}, {1}).input<int8_t>({1, 4, 1}, {1, 1, 1, 1});
  one.input<int8_t>({1, 4, 1}, {1, 1, 1, 1});
  for (int absent = 3; absent < 8; ++absent) one.absent();
  one.input<float>({1, 1}, {1}).input<int8_t>({1, 4}, {0, 0, 0, 0});
  one.input<float>({1, 4}, {1, 1, 1, 1}).input<int8_t>({1, 4}, {0, 0, 0, 0});
  one.output<float>({1, 1, 1, 1});
  EXPECT_EQ(one.attributes(LstmAttributes{}).check("intarsia:DynamicLSTM<int8>").code(),
            Code::kWrongExtent);
}

}  // namespace
}  // namespace intarsia::test
