// SPDX-License-Identifier: Apache-2.0
//
// Operators of one's own in the memory of their inputs: of the inputs that `in_place` names, where
// nobody reads them any more, and of no others.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "test/operators/sample_models.h"

namespace intarsia::test {
namespace {

using converter::OnnxBuilder;
using Floats = std::vector<float>;

constexpr int64_t kCount = 64;

/// The input in whose memory the last run of one of these has written; -1: in none.
int taken = -1;
void note(const KernelContext& context) {
  taken = -1;
  for (int i = 0; i < context.input_count(); ++i) {
    if (context.input(i).data == context.output(0).data) taken = i;
  }
}

/// y[i] = a[i] - b[n - 1 - i]: in the place of b it would read what it has written.
struct Against {
  static constexpr OperatorInfo info{
      .domain = "own", .name = "Against", .inputs = {"a", "b"}, .outputs = {"y"}, .in_place = {0}};
  static void run(const KernelContext& context, Input<float> a, Input<float> b, Output<float> y) {
    note(context);
    for (int64_t i = 0; i < y.size(); ++i) y[i] = a[i] - b[b.size() - 1 - i];
  }
};

/// y = the sum of all.
struct Total {
  static constexpr OperatorInfo info{.domain = "own",
                                     .name = "Total",
                                     .inputs = {"parts"},
                                     .outputs = {"y"},
                                     .in_place = InPlace::every()};
  static void run(const KernelContext& context, Variadic<Input<float>> parts, Output<float> y) {
    note(context);
    for (int64_t i = 0; i < y.size(); ++i) {
      float sum = 0;
      for (int k = 0; k < parts.size(); ++k) sum += parts[k][i];
      y[i] = sum;
    }
  }
};

/// y[i] = x[2 i]: half as long, hence never in the place of x.
struct Halved {
  static constexpr OperatorInfo info{
      .domain = "own", .name = "Halved", .inputs = {"x"}, .outputs = {"y"}, .in_place = {0}};
  template <class S>
  static Status infer(S& s) {
    Shape<typename S::Dim> y;
    y.push(floor_div(s.dim(0, 0), 2));
    return s.set_output(0, s.type(0), y);
  }
  static void run(const KernelContext& context, Input<float> x, Output<float> y) {
    note(context);
    for (int64_t i = y.size(); i-- > 0;) y[i] = x[2 * i];
  }
};

/// Runs `type` over some of h0 = Softplus(x), h1 = Tanh(h0), h2 = Softplus(h1), ..., of which those
/// in `again` are read once more behind it. The input whose memory it takes, or -1.
int taken_by(const std::string& type, const std::vector<size_t>& inputs,
             const std::vector<size_t>& again = {}) {
  const auto name = [](size_t i) { return "h" + std::to_string(i); };
  const size_t most = *std::max_element(inputs.begin(), inputs.end());
  OnnxBuilder model;
  model.input("x", {kCount});
  Floats x;
  for (int64_t i = 0; i < kCount; ++i) x.push_back(static_cast<float>(i % 7) / 4 - 1);
  std::vector<Floats> h;
  for (size_t k = 0; k <= most; ++k) {
    model.node(k % 2 == 0 ? "Softplus" : "Tanh", {k == 0 ? "x" : name(k - 1)}, {name(k)});
    Floats next;
    for (const float v : k == 0 ? x : h.back()) {
      next.push_back(k % 2 == 0 ? std::log1p(std::exp(v)) : std::tanh(v));
    }
    h.push_back(next);
  }
  std::vector<std::string> names;
  for (const size_t input : inputs) names.push_back(name(input));
  model.node(type, names, {"r"}).set_domain("own");
  model.output("y");
  model.node("Exp", {"r"}, {"y"});
  for (const size_t input : again) {
    model.output("again" + name(input));
    model.node("Exp", {name(input)}, {"again" + name(input)});
  }
  const Floats y = run_once(model, x, options_with<OperatorList<Against, Total, Halved>>());
  for (size_t i = 0; i < y.size(); ++i) {
    const Floats& first = h[inputs[0]];
    float expected = type == "Halved" ? first[2 * i] : first[i];
    if (type == "Against") expected -= h[inputs[1]][kCount - 1 - i];
    for (size_t k = 1; type == "Total" && k < inputs.size(); ++k) expected += h[inputs[k]][i];
    EXPECT_NEAR(y[i], std::exp(expected), 1e-4F * std::exp(expected)) << type << " " << i;
  }
  return taken;
}

TEST(CustomOperators, CUS_11_OnlyAnInputThatIsNamedIsTaken) {
  EXPECT_EQ(taken_by("Against", {1, 0}), 0);
  EXPECT_EQ(taken_by("Against", {0, 1}), 0);
  EXPECT_EQ(taken_by("Against", {0, 1}, {0}), -1) << "the other one is free, and not named";
  EXPECT_EQ(taken_by("Against", {0, 1}, {1}), 0);
  EXPECT_EQ(taken_by("Against", {1, 1}), -1) << "the one that is named is the other, too";
}

TEST(CustomOperators, CUS_11_AnyInputOfAVariadicOne) {
  EXPECT_EQ(taken_by("Total", {0, 1, 2}, {0, 1}), 2);
  EXPECT_EQ(taken_by("Total", {0, 1, 2}, {0, 2}), 1);
  EXPECT_EQ(taken_by("Total", {0, 1, 2}, {0, 1, 2}), -1);
  EXPECT_EQ(taken_by("Total", {1, 1}), 1) << "twice: the last that note() sees";
}

TEST(CustomOperators, CUS_11_AnInputOfAnotherSizeIsNotTaken) {
  EXPECT_EQ(taken_by("Halved", {1}), -1);
}

}  // namespace
}  // namespace intarsia::test
