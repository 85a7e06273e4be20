// SPDX-License-Identifier: Apache-2.0
//
// What the fusion passes put together, and that models cannot ask for it themselves.
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "test/converter/fused_model.h"

namespace intarsia::test {
namespace {

using converter::contains;
using converter::OnnxBuilder;

void add_integers(OnnxBuilder& model, const char* name, const std::vector<int64_t>& values) {
  model.initializer(name, DataType::kInt64, {static_cast<int64_t>(values.size())}, values.data(),
                    values.size() * sizeof(int64_t));
}

TEST(Fusion, TakesEpiloguesIntoOperatorsOfItsOwn) {
  OnnxBuilder model(28);
  model.input("x", {2, 3});
  model.output("y");
  model.floats("w", {3, 3}, ramp(9));
  model.floats("b", {3}, {1, 2, 3});
  model.node("MatMul", {"x", "w"}, {"p"});
  model.node("Add", {"p", "b"}, {"q"});
  model.node("Add", {"q", "x"}, {"r"});
  model.node("Relu", {"r"}, {"y"});
  EXPECT_EQ(fused(model), "intarsia:MatMul");
  const std::vector<float> x = ramp(6), w = ramp(9), y = run(model, x);
  for (size_t row = 0; row < 2; ++row) {
    for (size_t column = 0; column < 3; ++column) {
      float sum = static_cast<float>(column + 1) + x[row * 3 + column];
      for (size_t k = 0; k < 3; ++k) sum += x[row * 3 + k] * w[k * 3 + column];
      EXPECT_FLOAT_EQ(y[row * 3 + column], std::max(sum, 0.0f));
    }
  }
}

TEST(Fusion, OtherExtentsDoNotKeepAnActivationApart) {
  const auto model = [](bool read_twice) {
    OnnxBuilder builder(28);
    builder.input("x", {2, 3});
    builder.output("y");
    builder.floats("w", {3, 4}, ramp(12));
    add_integers(builder, "extents", {2, 2, 2});
    add_integers(builder, "axis", {0});
    builder.node("MatMul", {"x", "w"}, {"p"});
    builder.node("Reshape", {"p", "extents"}, {"r"});
    builder.node("Unsqueeze", {"r", "axis"}, {"u"});
    builder.node("Relu", {"u"}, {read_twice ? "a" : "y"});
    if (read_twice) builder.node("Sub", {"a", "u"}, {"y"});
    return builder;
  };
  EXPECT_EQ(fused(model(false)), "intarsia:MatMul Reshape Unsqueeze");
  EXPECT_EQ(fused(model(true)), "MatMul Reshape Unsqueeze Relu Sub");
  const std::vector<float> x = ramp(6), w = ramp(12);
  for (bool read_twice : {false, true}) {
    const std::vector<float> y = run(model(read_twice), x);
    ASSERT_EQ(y.size(), 8u);
    for (size_t i = 0; i < 8; ++i) {
      float sum = 0;
      for (size_t k = 0; k < 3; ++k) sum += x[i / 4 * 3 + k] * w[k * 4 + i % 4];
      EXPECT_FLOAT_EQ(y[i], std::max(sum, 0.0f) - (read_twice ? sum : 0.0f));
    }
  }
}

/// Masks of finite numbers leave every query something; a bias of the model's may not.
TEST(Fusion, AttentionLooksForClosedQueriesOnlyWhereThereMayBeSome) {
  const auto left = [](const char* mask, const char* bias, float closed) {
    OnnxBuilder model(17);
    model.import_opset("com.microsoft", 1);
    model.input("q", {2, 3, 4});
    model.input("k", {2, 5, 4});
    model.input("mask", {2, 5}, DataType::kInt32);
    model.input("bias", {1, 1, 3, 5});
    model.output("y");
    auto& node = model.node("MultiHeadAttention", {"q", "k", "k", "", mask, bias}, {"y"});
    node.set_domain("com.microsoft");
    OnnxBuilder::set(node, "num_heads", int64_t{2});
    OnnxBuilder::set(node, "mask_filter_value", closed);
    return fused(model);
  };
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(left("mask", "", -10000).find("ReduceMax"), std::string::npos);
  EXPECT_EQ(left("", "", -10000).find("ReduceMax"), std::string::npos);
  EXPECT_NE(left("mask", "", -infinity).find("ReduceMax"), std::string::npos);
  EXPECT_NE(left("", "bias", -10000).find("ReduceMax"), std::string::npos);
  EXPECT_NE(left("mask", "bias", -10000).find("ReduceMax"), std::string::npos);
}

/// y = Conv(x * scale + shift), of two groups. With `kept` the scaled input is an output, too.
OnnxBuilder scaled_conv(int64_t window, std::vector<int64_t> pads, bool kept) {
  OnnxBuilder model(28);
  model.input("x", {2, 4, 5, 3});
  if (kept) {
    model.output("s");
  }
  model.output("y");
  model.floats("scale", {4, 1, 1}, {2, -1, 0.5f, 3});
  model.floats("shift", {1, 4, 1, 1}, {1, 0.25f, -2, 0});
  model.floats("w", {6, 2, window, window}, ramp(12 * window * window));
  model.floats("b", {6}, ramp(6));
  model.node("Mul", {"scale", "x"}, {"t"});
  model.node("Add", {"t", "shift"}, {"s"});
  auto& conv = model.node("Conv", {"s", "w", "b"}, {"y"});
  OnnxBuilder::set(conv, "group", int64_t{2});
  OnnxBuilder::set(conv, "pads", std::move(pads));
  return model;
}

TEST(Fusion, FoldsWhatIsInFrontOfAConvolution) {
  const std::vector<float> x = ramp(2 * 4 * 5 * 3);
  for (const int64_t window : {1, 3}) {
    EXPECT_EQ(fused(scaled_conv(window, {0, 0, 0, 0}, false)), "Conv");
    EXPECT_EQ(fused(scaled_conv(window, {0, 0, 0, 0}, true)), "Mul Add Conv");
    SmallPlan plain(scaled_conv(window, {0, 0, 0, 0}, true));
    Session session = plain.open().value();
    write(session, 0, x);
    ASSERT_TRUE(session.run().ok());
    const std::vector<float> expected = read(session, 1);
    const std::vector<float> y = run(scaled_conv(window, {0, 0, 0, 0}, false), x);
    ASSERT_EQ(y.size(), expected.size());
    for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], expected[i], 2e-5);
  }
  // The padding would have to be shifted, too.
  EXPECT_EQ(fused(scaled_conv(3, {1, 0, 0, 0}, false)), "Mul Add Conv");
  // A scale alone leaves it 0.
  OnnxBuilder scale(28);
  scale.input("x", {1, 2, 4, 4});
  scale.output("y");
  scale.floats("scale", {}, {3});
  scale.floats("w", {2, 2, 3, 3}, ramp(36));
  scale.node("Mul", {"x", "scale"}, {"s"});
  OnnxBuilder::set(scale.node("Conv", {"s", "w"}, {"y"}), "pads", std::vector<int64_t>{1, 1, 1, 1});
  EXPECT_EQ(fused(scale), "Conv");
}

TEST(Fusion, ModelsCannotGiveTheOperandsOfEpilogues) {
  const auto model_of = [](const char* op, const char* domain, int inputs) {
    OnnxBuilder model(21);
    if (*domain != 0) model.import_opset(domain, 1);
    std::vector<std::string> names;
    for (int i = 0; i < inputs; ++i) {
      names.push_back("x" + std::to_string(i));
      model.input(names.back(), {1, 1, 1, 1});
    }
    model.output("y");
    model.node(op, names, {"y"}).set_domain(domain);
    return model;
  };
  EXPECT_CONTAINS(conversion_error(model_of("MatMul", "", 3)), "has 3 inputs");
  EXPECT_CONTAINS(conversion_error(model_of("Conv", "", 4)), "has 4 inputs");
  EXPECT_CONTAINS(conversion_error(model_of("Gemm", "", 4)), "has 4 inputs");
  EXPECT_CONTAINS(conversion_error(model_of("Conv", "intarsia", 4)), "is not supported");
  EXPECT_CONTAINS(conversion_error(model_of("ToHost", "intarsia", 1)), "is not supported");
  EXPECT_EQ(conversion_error(model_of("MatMul", "", 2)), "");
}

TEST(Simplification, RemovesNeutralOperandsOnly) {
  const auto left = [](const char* op, const char* a, const char* b, float number) {
    OnnxBuilder model(28);
    model.input("x", {2, 3});
    model.output("y");
    model.floats("c", {1, 1}, {number});
    model.node("Neg", {"x"}, {"n"});
    model.node(op, {a, b}, {"y"});
    return fused(model);
  };
  EXPECT_EQ(left("Sub", "n", "c", 0), "Neg");
  EXPECT_EQ(left("Sub", "c", "n", 0), "Neg Sub");
  EXPECT_EQ(left("Div", "n", "c", 1), "Neg");
  EXPECT_EQ(left("Div", "c", "n", 1), "Neg Div");
  EXPECT_EQ(left("Mul", "c", "n", 1), "Neg");
  EXPECT_EQ(left("Mul", "n", "c", 2), "Neg Mul");
  // -0 + 0 is 0, so that only -0 leaves everything as it is.
  EXPECT_EQ(left("Add", "n", "c", 0.0f), "Neg Add");
  EXPECT_EQ(left("Add", "n", "c", -0.0f), "Neg");
}

TEST(Simplification, EqualConstantsAreOneUnlessTheyMayBeWeights) {
  const auto left = [](const auto& constants) {
    OnnxBuilder model(28);
    model.input("x", {2, 3});
    model.output("y");
    const char* op = constants(model);
    model.node(op, {"x", "c"}, {"a"});
    model.node(op, {"x", "d"}, {"b"});
    model.node("Mul", {"a", "b"}, {"y"});
    return fused(model);
  };
  EXPECT_EQ(left([](OnnxBuilder& model) {
              add_integers(model, "c", {3, 2});
              add_integers(model, "d", {3, 2});
              return "Reshape";
            }),
            "Reshape Mul");
  EXPECT_EQ(left([](OnnxBuilder& model) {
              add_integers(model, "c", {3, 2});
              add_integers(model, "d", {3, -1});
              return "Reshape";
            }),
            "Reshape Reshape Mul");
  const auto subtracted = [&](const std::vector<float>& c, const std::vector<float>& d) {
    return left([&](OnnxBuilder& model) {
      model.floats("c", {static_cast<int64_t>(c.size())}, c);
      model.floats("d", {static_cast<int64_t>(d.size())}, d);
      return "Sub";
    });
  };
  EXPECT_EQ(subtracted({2}, {2}), "Sub Mul");
  EXPECT_EQ(subtracted({2}, {3}), "Sub Sub Mul");
  EXPECT_EQ(subtracted({1, 2, 3}, {1, 2, 3}), "Sub Sub Mul");
}

TEST(Simplification, ConditionsThatChooseOneOperandEverywhereVanish) {
  const auto left = [](const std::vector<uint8_t>& condition, std::vector<int64_t> extents,
                       const char* a, const char* b) {
    OnnxBuilder model(28);
    model.input("x", {2, 3});
    model.output("y");
    model.floats("c", {}, {5});
    model.initializer("choice", DataType::kBool, std::move(extents), condition.data(),
                      condition.size());
    model.node("Neg", {"x"}, {"n"});
    model.node("Where", {"choice", a, b}, {"w"});
    model.node("Abs", {"w"}, {"y"});
    return fused(model);
  };
  EXPECT_EQ(left({1, 1, 1}, {3}, "n", "c"), "Neg Abs");
  EXPECT_EQ(left({0, 0}, {2, 1}, "c", "n"), "Neg Abs");
  EXPECT_EQ(left({1, 0, 1}, {3}, "n", "c"), "Neg Where Abs");
  EXPECT_EQ(left({0, 0, 0}, {3}, "n", "c"), "Neg Where Abs") << "another shape";
  EXPECT_EQ(left({1}, {1, 1, 1}, "n", "c"), "Neg Where Abs") << "one axis more";
}

// -- Spellings of one operator
// ---------------------------------------------------------------------------

/// y = x * 1/2 * (1 + Tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))
OnnxBuilder tanh_gelu(bool power, float cubic = 0.044715f) {
  OnnxBuilder model(28);
  model.input("x", {2, 5});
  model.output("y");
  model.floats("three", {}, {3});
  model.floats("c", {}, {cubic});
  model.floats("root", {}, {0.7978845608f});
  model.floats("one", {}, {1});
  model.floats("half", {}, {0.5f});
  if (power) {
    model.node("Pow", {"x", "three"}, {"x3"});
  } else {
    model.node("Mul", {"x", "x"}, {"x2"});
    model.node("Mul", {"x2", "x"}, {"x3"});
  }
  model.node("Mul", {"c", "x3"}, {"a"});
  model.node("Add", {"x", "a"}, {"b"});
  model.node("Mul", {"b", "root"}, {"d"});
  model.node("Tanh", {"d"}, {"t"});
  model.node("Add", {"t", "one"}, {"e"});
  model.node("Mul", {"x", "half"}, {"h"});
  model.node("Mul", {"h", "e"}, {"y"});
  return model;
}

TEST(Fusion, RecognizesGeluByTanh) {
  for (bool power : {true, false}) {
    EXPECT_EQ(fused(tanh_gelu(power)), "Gelu");
    const std::vector<float> x = ramp(10), y = run(tanh_gelu(power), x);
    for (size_t i = 0; i < x.size(); ++i) {
      const double inner = 0.7978845608 * (x[i] + 0.044715 * x[i] * x[i] * x[i]);
      EXPECT_NEAR(y[i], x[i] * 0.5 * (1 + std::tanh(inner)), 1e-6);
    }
  }
  EXPECT_CONTAINS(fused(tanh_gelu(true, 0.05f)), "Tanh");
}

OnnxBuilder erf_gelu(const char* scaling, float number, const char* half_first) {
  OnnxBuilder model(28);
  model.input("x", {2, 5});
  model.output("y");
  model.floats("c", {}, {number});
  model.floats("one", {}, {1});
  model.floats("half", {}, {0.5f});
  model.node(scaling, {"x", "c"}, {"d"});
  model.node("Erf", {"d"}, {"t"});
  model.node("Add", {"t", "one"}, {"e"});
  const std::string first = half_first;
  model.node("Mul", {first, "e"}, {"f"});
  model.node("Mul", {"f", first == "x" ? "half" : "x"}, {"y"});
  return model;
}

TEST(Fusion, RecognizesGeluByErf) {
  EXPECT_EQ(fused(erf_gelu("Div", 1.41421356f, "x")), "Gelu");
  EXPECT_EQ(fused(erf_gelu("Mul", 0.70710678f, "half")), "Gelu");
  EXPECT_CONTAINS(fused(erf_gelu("Div", 1.5f, "x")), "Erf");
  EXPECT_CONTAINS(fused(erf_gelu("Mul", 1.41421356f, "x")), "Erf");
}

/// How a gate of x + shift, cut to [0, most], is made into x * gate / part.
struct HardSwish {
  bool clip = true;  ///< Clip, else Relu and Min.
  /// The operations behind the gate g: their operands are g, x, c = part and r = 1 / part.
  std::vector<std::array<const char*, 3>> steps;
  float shift = 3, most = 6, part = 6;
  std::vector<int64_t> constant = {};
};

OnnxBuilder hard_swish(const HardSwish& form) {
  OnnxBuilder model(28);
  model.input("x", {2, 9});
  model.output("y");
  model.floats("shift", {}, {form.shift});
  model.floats("zero", {}, {0});
  model.floats("most", {}, {form.most});
  model.floats("c", form.constant, {form.part});
  model.floats("r", form.constant, {1 / form.part});
  model.node("Add", {"shift", "x"}, {"a"});
  if (form.clip) {
    model.node("Clip", {"a", "zero", "most"}, {"g"});
  } else {
    model.node("Relu", {"a"}, {"b"});
    model.node("Min", {"most", "b"}, {"g"});
  }
  for (size_t i = 0; i < form.steps.size(); ++i) {
    const auto& [op, left, right] = form.steps[i];
    model.node(op, {left, right}, {i + 1 == form.steps.size() ? "y" : "t"});
  }
  return model;
}

TEST(Fusion, RecognizesHardSwishAndHardSigmoid) {
  const std::vector<float> x = {-9,   -3, -2.5, -1, -0.25f, 0, 0.5f, 1.75f, 2,
                                2.9f, 3,  3.5f, 4,  8,      9, 1e9,  -1e9,  1};
  const auto gate = [](float value) { return std::fmin(std::fmax(double{value} + 3, 0), 6) / 6; };
  for (const HardSwish& form : std::vector<HardSwish>{
           {.steps = {{"Mul", "x", "g"}, {"Div", "t", "c"}}},
           {.steps = {{"Mul", "g", "x"}, {"Mul", "r", "t"}}},
           {.steps = {{"Div", "g", "c"}, {"Mul", "x", "t"}}},
           {.clip = false, .steps = {{"Mul", "g", "r"}, {"Mul", "t", "x"}}},
           {.clip = false, .steps = {{"Mul", "x", "g"}, {"Div", "t", "c"}}, .constant = {1, 1}},
       }) {
    EXPECT_EQ(fused(hard_swish(form)), "HardSwish");
    const std::vector<float> y = run(hard_swish(form), x);
    for (size_t i = 0; i < x.size(); ++i) {
      EXPECT_NEAR(y[i], x[i] * gate(x[i]), 1e-6 * std::fmax(1, std::fabs(x[i])));
    }
  }
  const HardSwish sigmoid{.steps = {{"Div", "g", "c"}}};
  EXPECT_EQ(fused(hard_swish(sigmoid)), "HardSigmoid");
  const std::vector<float> y = run(hard_swish(sigmoid), x);
  for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(y[i], gate(x[i]), 1e-6);
  // What was spelled out is an epilogue all the same.
  OnnxBuilder product(28);
  product.input("p", {2, 3});
  product.output("y");
  product.floats("w", {3, 3}, ramp(9));
  product.floats("three", {}, {3});
  product.floats("zero", {}, {0});
  product.floats("six", {}, {6});
  product.node("MatMul", {"p", "w"}, {"x"});
  product.node("Add", {"x", "three"}, {"a"});
  product.node("Clip", {"a", "zero", "six"}, {"g"});
  product.node("Mul", {"x", "g"}, {"t"});
  product.node("Div", {"t", "six"}, {"y"});
  EXPECT_EQ(fused(product), "intarsia:MatMul");
  // Another gate is a HardSigmoid of its own.
  EXPECT_EQ(fused(hard_swish({.steps = {{"Div", "g", "c"}, {"Mul", "x", "t"}}, .shift = 2})),
            "HardSigmoid Mul");
}

TEST(Fusion, LeavesWhatIsNoHardSwish) {
  const auto left = [](HardSwish form) { return fused(hard_swish(form)); };
  const std::vector<std::array<const char*, 3>> steps = {{"Mul", "x", "g"}, {"Div", "t", "c"}};
  EXPECT_EQ(left({.steps = steps, .shift = 2.5f}), "Add Clip Mul Div");
  EXPECT_EQ(left({.steps = steps, .most = 5}), "Add Clip Mul Div");
  EXPECT_EQ(left({.steps = steps, .part = 5}), "Add Clip Mul Div");
  EXPECT_EQ(left({.steps = {{"Mul", "x", "g"}, {"Div", "c", "t"}}}), "Add Clip Mul Div");
  EXPECT_EQ(left({.steps = {{"Div", "g", "c"}}, .most = 5}), "Add Clip Div");
  // The result has more axes than x.
  EXPECT_EQ(left({.steps = steps, .constant = {1, 1, 1}}), "Add Clip Mul Div");
}

/// scale * P * Q' for P and Q of x, whose heads are axis 1, or axis 2 as they come from a layer.
struct ScoresModel {
  bool heads_last = false;
  std::string scale = "Mul";  // of the product; "before": of Q
  std::vector<int64_t> factors = {};
  bool read_twice = false;
  int rank = 4;

  OnnxBuilder build() const {
    OnnxBuilder model(28);
    const std::vector<int64_t> extents{2, 3, 4, 5};
    model.input("x", {extents.end() - rank, extents.end()});
    model.output("y");
    model.floats("c", factors, std::vector<float>(factors.size() == 1 ? 4 : 1, 0.25f));
    const auto transpose = [&](const char* x, const char* y, std::vector<int64_t> perm) {
      model.set(model.node("Transpose", {x}, {y}), "perm", perm);
    };
    std::vector<int64_t> turn{0, 1, 3, 2};
    if (rank == 2) turn = {1, 0};
    if (heads_last) transpose("x", "p", {0, 2, 1, 3}), turn = {0, 2, 3, 1};
    if (scale == "before") model.node("Mul", {"c", "x"}, {"q"});
    transpose(scale == "before" ? "q" : "x", "t", turn);
    model.node("MatMul", {heads_last ? "p" : "x", "t"}, {scale == "before" ? "s" : "r"});
    if (scale != "before") model.node(scale, {"r", "c"}, {"s"});
    if (read_twice) model.node("Add", {"s", "r"}, {"u"});
    model.node("Relu", {read_twice ? "u" : "s"}, {"y"});
    return model;
  }

  std::vector<double> expected(const std::vector<float>& x) const {
    const size_t h = rank == 2 ? 1 : heads_last ? 4 : 3, m = heads_last ? 3 : 4;
    const size_t head = heads_last ? 5 : 20, row = heads_last ? 20 : 5;
    std::vector<double> y;
    for (size_t i = 0; i < (rank == 2 ? 1 : 2) * h * m * m; ++i) {
      const size_t from = i / (h * m * m) * 60 + i / (m * m) % h * head;
      double sum = 0;
      for (size_t k = 0; k < 5; ++k) {
        sum += x[from + i / m % m * row + k] * x[from + i % m * row + k];
      }
      y.push_back(std::max(0.0, sum * (scale == "Div" ? 4 : 0.25)));
    }
    return y;
  }
};

/// Attributes are floats: a factor that they do not hold stays a node.
TEST(Fusion, DoublesKeepTheirFactors) {
  const auto left = [](double factor) {
    OnnxBuilder model;
    model.input("x", {2, 3}, DataType::kDouble);
    model.output("y");
    model.initializer("c", DataType::kDouble, {}, &factor, sizeof factor);
    model.node("Transpose", {"x"}, {"t"});
    model.node("MatMul", {"x", "t"}, {"p"});
    model.node("Mul", {"p", "c"}, {"y"});
    return fused(model);
  };
  EXPECT_EQ(left(0.25), "Gemm");
  EXPECT_EQ(left(0.1), "Gemm Mul");
}

TEST(Fusion, ProductsTakeTransposesAndFactors) {
  const std::pair<ScoresModel, std::string> cases[] = {
      {{}, "intarsia:ScaledMatMul"},
      {{.scale = "Div"}, "intarsia:ScaledMatMul"},
      {{.scale = "before"}, "intarsia:ScaledMatMul"},
      {{.factors = {1, 1}}, "intarsia:ScaledMatMul"},
      {{.heads_last = true}, "Transpose intarsia:ScaledMatMul"},
      {{.heads_last = true, .scale = "before"}, "Transpose intarsia:ScaledMatMul"},
      {{.rank = 2}, "intarsia:Gemm"}};
  for (const auto& [form, operators] : cases) {
    EXPECT_EQ(fused(form.build()), operators);
    const std::vector<float> x = ramp(form.rank == 2 ? 20 : 120), y = run(form.build(), x);
    const std::vector<double> expected = form.expected(x);
    ASSERT_EQ(y.size(), expected.size());
    for (size_t i = 0; i < y.size(); ++i) EXPECT_NEAR(y[i], expected[i], 1e-5) << operators;
  }
}

TEST(Fusion, LeavesFactorsThatAreNotOneAndProductsThatAreReadTwice) {
  EXPECT_CONTAINS(fused(ScoresModel{.factors = {4}}.build()), "Mul");
  EXPECT_CONTAINS(fused(ScoresModel{.read_twice = true}.build()), "Mul");
}

struct LayerNorm {
  bool power = true;
  bool bias = true;
  bool keepdims = true;
  std::vector<int64_t> axes = {-1};
  std::vector<int64_t> scale = {4};
  /// Axis of the variance where it is not that of the mean.
  std::vector<int64_t> others = {0};
};

OnnxBuilder layer_norm(const LayerNorm& form) {
  OnnxBuilder model(28);
  model.input("x", {2, 3, 4});
  model.output("y");
  int64_t count = 1;
  for (int64_t extent : form.scale) count *= extent;
  model.initializer("axes", DataType::kInt64, {static_cast<int64_t>(form.axes.size())},
                    form.axes.data(), form.axes.size() * 8);
  model.floats("two", {}, {2});
  model.floats("epsilon", {}, {0.25f});
  model.floats("scale", form.scale, ramp(count));
  model.floats("bias", form.scale, ramp(count));
  const auto mean = [&](const char* x, const char* y) {
    auto& node = model.node("ReduceMean", {x, "axes"}, {y});
    if (!form.keepdims) model.set(node, "keepdims", int64_t{0});
  };
  mean("x", "m");
  if (!form.keepdims) {
    model.node("Unsqueeze", {"m", "axes"}, {"k"});
  }
  model.node("Sub", {"x", form.keepdims ? "m" : "k"}, {"d"});
  if (form.power) {
    model.node("Pow", {"d", "two"}, {"s"});
  } else {
    model.node("Mul", {"d", "d"}, {"s"});
  }
  model.initializer("others", DataType::kInt64, {1}, form.others.data(), 8);
  auto& variance = model.node("ReduceMean", {"s", form.others[0] == 0 ? "axes" : "others"}, {"v"});
  model.set(variance, "keepdims", int64_t{1});
  model.node("Add", {"v", "epsilon"}, {"w"});
  model.node("Sqrt", {"w"}, {"r"});
  model.node("Div", {"d", "r"}, {"n"});
  model.node("Mul", {"n", "scale"}, {form.bias ? "p" : "y"});
  if (form.bias) model.node("Add", {"p", "bias"}, {"y"});
  return model;
}

TEST(Fusion, RecognizesLayerNormalization) {
  for (const LayerNorm& form :
       {LayerNorm{}, LayerNorm{.power = false}, LayerNorm{.bias = false},
        LayerNorm{.axes = {1, 2}, .scale = {3, 4}}, LayerNorm{.axes = {2}, .scale = {1, 1, 4}}}) {
    EXPECT_EQ(fused(layer_norm(form)), "LayerNormalization");
    const std::vector<float> x = ramp(24), y = run(layer_norm(form), x);
    const size_t width = form.axes.size() == 2 ? 12 : 4;
    const std::vector<float> factors = ramp(static_cast<int64_t>(width));
    for (size_t begin = 0; begin < x.size(); begin += width) {
      double mean = 0, square = 0;
      for (size_t i = 0; i < width; ++i) mean += x[begin + i] / static_cast<double>(width);
      for (size_t i = 0; i < width; ++i) square += std::pow(x[begin + i] - mean, 2);
      const double root = std::sqrt(square / static_cast<double>(width) + 0.25);
      for (size_t i = 0; i < width; ++i) {
        const double shift = form.bias ? factors[i] : 0;
        EXPECT_NEAR(y[begin + i], (x[begin + i] - mean) / root * factors[i] + shift, 1e-5);
      }
    }
  }
}

TEST(Fusion, LeavesWhatIsNoLayerNormalization) {
  // The first axes, or a scale along others.
  EXPECT_CONTAINS(fused(layer_norm({.axes = {1}, .scale = {1, 3, 1}})), "Sqrt");
  EXPECT_CONTAINS(fused(layer_norm({.axes = {2}, .scale = {3, 4}})), "Sqrt");
  EXPECT_CONTAINS(fused(layer_norm({.axes = {2}, .others = {1}})), "Sqrt");
}

}  // namespace
}  // namespace intarsia::test
