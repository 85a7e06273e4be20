// SPDX-License-Identifier: Apache-2.0
//
// Gradients of operators of one's own: rules as text, of other operators of one's own and of
// ONNX's.
#include <cmath>

#include "test/operators/own_library.h"
#include "test/runtime/small_plan.h"

namespace mine {

using namespace intarsia;  // NOLINT: a user's file would do the same

struct Relu {
  static constexpr OperatorInfo info{.domain = "mine",
                                     .name = "Relu",
                                     .inputs = {"x"},
                                     .outputs = {"y"},
                                     .gradient = "dx = mine.ReluBackward(y, dy)"};
  static void run(Input<float> x, Output<float> y) {
    for (int64_t i = 0; i < x.size(); ++i) y[i] = x[i] > 0 ? x[i] : 0;
  }
};

struct ReluBackward {
  static constexpr OperatorInfo info{
      .domain = "mine", .name = "ReluBackward", .inputs = {"y", "dy"}, .outputs = {"dx"}};
  static inline int runs = 0;
  static void run(Input<float> y, Input<float> dy, Output<float> dx) {
    ++runs;
    for (int64_t i = 0; i < y.size(); ++i) dx[i] = y[i] > 0 ? dy[i] : 0;
  }
};

/// y = rate a^2 b, by ONNX's operators; several calls, one of which only b needs, two inputs.
struct Product {
  static constexpr OperatorInfo info{
      .domain = "mine", .name = "Product", .inputs = {"a", "b"}, .outputs = {"y"}, .gradient = R"(
    # by the product rule
    scaled = mine.Scale<factor = @rate>(dy)
    twice = Mul(a, 2); slope = Mul(twice, b)
    da = Mul(scaled, slope)
    square = Pow(a, 2.0)
    db = Mul(square, scaled))"};
  struct Attributes {
    float rate = 1;
    template <class V>
    void fields(V& v) {
      v("rate", rate);
    }
  };
  static void run(const Attributes& attributes, Input<float> a, Input<float> b, Output<float> y) {
    for (int64_t i = 0; i < a.size(); ++i) y[i] = attributes.rate * a[i] * a[i] * b[i];
  }
};

struct Scale {
  static constexpr OperatorInfo info{.domain = "mine",
                                     .name = "Scale",
                                     .inputs = {"x"},
                                     .outputs = {"y"},
                                     .gradient = "dx = mine.Scale<factor = @factor>(dy)"};
  struct Attributes {
    float factor = 1;
    template <class V>
    void fields(V& v) {
      v("factor", factor);
    }
  };
  static void run(const Attributes& attributes, Input<float> x, Output<float> y) {
    for (int64_t i = 0; i < x.size(); ++i) y[i] = attributes.factor * x[i];
  }
};

struct Opaque {
  static constexpr OperatorInfo info{
      .domain = "mine", .name = "Opaque", .inputs = {"x"}, .outputs = {"y"}};
  static void run(Input<float> x, Output<float> y) {
    for (int64_t i = 0; i < x.size(); ++i) y[i] = x[i];
  }
};

/// Writes down what its attributes are: those that the rule of `Told` gives as literals.
struct Teller {
  static constexpr OperatorInfo info{
      .domain = "mine", .name = "Teller", .inputs = {"x"}, .outputs = {"y"}};
  struct Attributes {
    int64_t integer = 0;
    float real = 0;
    StringAttribute text;
    ListAttribute<int64_t> integers, none;
    ListAttribute<float> reals, mixed;
    ListAttribute<StringAttribute> texts;
    template <class V>
    void fields(V& v) {
      v.required("integer", integer);
      v.required("real", real);
      v.required("text", text);
      v.required("integers", integers);
      v.required("none", none);
      v.required("reals", reals);
      v.required("mixed", mixed);
      v.required("texts", texts);
    }
  };
  static inline std::vector<float> numbers;
  static inline std::vector<std::string> words;
  static void run(const Attributes& a, Input<float> x, Output<float> y) {
    numbers = {static_cast<float>(a.integer), a.real};
    for (const int64_t each : a.integers.view()) numbers.push_back(static_cast<float>(each));
    numbers.push_back(static_cast<float>(a.none.view().size()));
    for (const float each : a.reals.view()) numbers.push_back(each);
    for (const float each : a.mixed.view()) numbers.push_back(each);
    words = {std::string(a.text.view())};
    for (const StringAttribute& each : a.texts.view()) words.emplace_back(each.view());
    std::copy(x.data(), x.data() + x.size(), y.data());
  }
};
struct Told {
  static constexpr OperatorInfo info{
      .domain = "mine", .name = "Told", .inputs = {"x"}, .outputs = {"y"}, .gradient = R"(
    dx = mine::Teller<integer = -3, real = 1.5e-1, text = "a, b>", integers = [1, -20, 3],
                      none = [], reals = [.5, -2.25], mixed = [7,
                      0.5], texts = ["c", ""]>(dy))"};
  static void run(Input<float> x, Output<float> y) {
    std::copy(x.data(), x.data() + x.size(), y.data());
  }
};

/// Of a matrix as large as its transpose.
struct Turn {
  static constexpr OperatorInfo info{.domain = "mine",
                                     .name = "Turn",
                                     .inputs = {"x"},
                                     .outputs = {"y"},
                                     .gradient = "dx = Transpose<perm = [1, 0]>(dy)"};
  static void run(Input<float> x, Output<float> y) {
    for (int i = 0; i < 4; ++i) y[i] = x[i / 2 + i % 2 * 2];
  }
};

/// Rules that mean nothing.
template <int kNumber>
struct Wrong {
  static constexpr std::string_view kNames[] = {"Wrong0", "Wrong1", "Wrong2", "Wrong3", "Wrong4",
                                                "Wrong5", "Wrong6", "Wrong7", "Wrong8"};
  static constexpr std::string_view kRules[] = {"dx = Mul(dy, z)",
                                                "dx = Mul(dy x)",
                                                "dx = mine.Nothing(dy)",
                                                "dq = Neg(dy)",
                                                "dx = ReduceSum(dy)",
                                                "dx = Elu<alpha = \"1>(dy)",
                                                "dx = Elu<alpha = one>(dy)",
                                                "dx = Elu<alpha = [1, \"a\"]>(dy)",
                                                "dx = Elu<alpha = [[1], 2]>(dy)"};
  static constexpr OperatorInfo info{.domain = "mine",
                                     .name = kNames[kNumber],
                                     .inputs = {"x"},
                                     .outputs = {"y"},
                                     .gradient = kRules[kNumber]};
  static void run(Input<float> x, Output<float> y) {
    for (int64_t i = 0; i < x.size(); ++i) y[i] = x[i];
  }
};

using Operators =
    OperatorList<Relu, ReluBackward, Product, Scale, Opaque, Wrong<0>, Wrong<1>, Wrong<2>, Wrong<3>,
                 Wrong<4>, Wrong<5>, Wrong<6>, Wrong<7>, Wrong<8>, Teller, Told, Turn>;

}  // namespace mine

namespace intarsia::test {
namespace {

using converter::contains;
using converter::ConvertOptions;
using converter::OnnxBuilder;

constexpr int kForward = 0, kBackward = 1;

using Names = std::vector<std::string>;

ConvertOptions options_for(const std::string& y, const Names& xs) {
  ConvertOptions options = options_with<mine::Operators>();
  options.gradients.push_back({y, xs});
  return options;
}

onnx::NodeProto& own(OnnxBuilder& model, const std::string& type, const Names& inputs,
                     const std::string& output) {
  auto& node = model.node(type, inputs, {output});
  node.set_domain("mine");
  return node;
}

void run(SmallPlan& plan, Session& session, int entry) {
  ASSERT_TRUE(session.run(entry).ok()) << plan.text(session.diagnostic());
}

TEST(OwnGradients, OFK_8_ABackwardOperatorOfOnesOwn) {
  OnnxBuilder model;
  model.input("x", {4});
  own(model, "Relu", {"x"}, "y");
  model.output("y");
  SmallPlan plan(model, options_for("y", {"x"}));
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  mine::ReluBackward::runs = 0;
  write(*session, 0, {-2, 0, 1, 2});
  run(plan, *session, kForward);
  EXPECT_EQ(mine::ReluBackward::runs, 0);
  EXPECT_EQ(read(*session, 0, kForward), (std::vector<float>{0, 0, 1, 2}));
  write(*session, 0, {10, 20, 30, 40}, kBackward);
  run(plan, *session, kBackward);
  EXPECT_EQ(read(*session, 0, kBackward), (std::vector<float>{0, 0, 30, 40}));
  EXPECT_EQ(mine::ReluBackward::runs, 1);
}

/// x is read twice, by two operators of one's own: both gradients are added.
TEST(OwnGradients, OFK_8_SeveralNodesSeveralInputsAndSeveralReaders) {
  for (const bool rated : {true, false}) {
    OnnxBuilder model;
    model.input("x", {3});
    model.input("b", {3});
    auto& product = own(model, "Product", {"x", "b"}, "p");
    if (rated) OnnxBuilder::set(product, "rate", 0.5f);
    own(model, "Relu", {"x"}, "r");
    model.node("Add", {"p", "r"}, {"y"});
    model.output("y");
    SmallPlan plan(model, options_for("y", {"x", "b"}));
    auto session = plan.open();
    ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
    const std::vector<float> x{1, -2, 3}, b{4, 5, -6}, dy{1, 10, 100};
    write(*session, 0, x);
    write(*session, 1, b);
    run(plan, *session, kForward);
    write(*session, 0, dy, kBackward);
    run(plan, *session, kBackward);
    const float rate = rated ? 0.5f : 1;
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_FLOAT_EQ(read(*session, 0, kBackward)[i],
                      dy[i] * (rate * 2 * x[i] * b[i] + (x[i] > 0 ? 1.f : 0.f)));
      EXPECT_FLOAT_EQ(read(*session, 1, kBackward)[i], dy[i] * rate * x[i] * x[i]);
    }
  }
}

/// What only the other input needs is not computed.
TEST(OwnGradients, OFK_8_OnlyWhatIsNeededIsWritten) {
  OnnxBuilder model;
  model.input("x", {3});
  model.input("b", {3});
  own(model, "Product", {"x", "b"}, "y");
  model.output("y");
  const auto nodes = [&](const Names& xs) {
    ConvertOptions options = options_for("y", xs);
    options.passes = {};
    SmallPlan plan(model, options);
    auto session = plan.open();
    EXPECT_TRUE(session.ok()) << plan.text(plan.diagnostic);
    return plan_info(plan.plan()).value().node_count;
  };
  EXPECT_LT(nodes({"b"}), nodes({"x", "b"}));
  EXPECT_LT(nodes({"x"}), nodes({"x", "b"}));
}

/// Convolution, an operator of one's own, a loss: against central differences.
TEST(OwnGradients, OFK_9_AChainAgreesWithDifferences) {
  OnnxBuilder model;
  model.input("x", {1, 2, 5, 5});
  std::vector<float> w(36);
  for (size_t i = 0; i < w.size(); ++i) w[i] = 0.3f * std::sin(static_cast<float>(i));
  model.floats("w", {2, 2, 3, 3}, w);
  model.node("Conv", {"x", "w"}, {"c"});
  own(model, "Relu", {"c"}, "r");
  own(model, "Product", {"r", "c"}, "p");
  OnnxBuilder::set(model.node("ReduceMean", {"p"}, {"loss"}), "keepdims", int64_t{0});
  model.output("loss");
  SmallPlan plan(model, options_for("loss", {"x"}));
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  std::vector<float> x(50);
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::cos(2.f * static_cast<float>(i));
  const auto loss_at = [&](const std::vector<float>& at) {
    write(*session, 0, at);
    EXPECT_TRUE(session->run(kForward).ok());
    return static_cast<double>(read(*session, 0, kForward)[0]);
  };
  static_cast<void>(loss_at(x));
  run(plan, *session, kBackward);
  const std::vector<float> gradient = read(*session, 0, kBackward);
  for (size_t i = 0; i < x.size(); ++i) {
    constexpr float kStep = 1e-2f;
    std::vector<float> more = x, less = x;
    more[i] += kStep;
    less[i] -= kStep;
    const double expected = (loss_at(more) - loss_at(less)) / (2 * static_cast<double>(kStep));
    EXPECT_NEAR(gradient[i], expected, 1e-3) << i;
  }
}

/// The rule of the backward operator is its own.
TEST(OwnGradients, GradientsOfGradients) {
  OnnxBuilder model(28);
  model.import_opset("ai.onnx.preview.training", 1);
  model.input("x", {3});
  own(model, "Scale", {"x"}, "s");
  model.node("Mul", {"s", "s"}, {"q"});
  model.node("ReduceSum", {"q"}, {"first"});
  auto& gradient = model.node("Gradient", {"x"}, {"dx"});
  gradient.set_domain("ai.onnx.preview.training");
  OnnxBuilder::attribute(gradient, "xs", onnx::AttributeProto::STRINGS).add_strings("x");
  OnnxBuilder::set(gradient, "y", "first");
  model.node("Mul", {"dx", "dx"}, {"second"});
  model.output("second");
  OnnxBuilder::set(*model.graph().mutable_node(0), "factor", 3.f);
  SmallPlan plan(model, options_for("second", {"x"}));
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  write(*session, 0, {1, 2, -1});
  run(plan, *session, kForward);
  write(*session, 0, {1, 1, 1}, kBackward);
  run(plan, *session, kBackward);
  // first = 9 x^2, dx = 18 x, second = 324 x^2.
  EXPECT_EQ(read(*session, 0, kBackward), (std::vector<float>{648, 1296, -648}));
}

TEST(OwnGradients, OFK_10_WithoutARuleTheOperatorIsNamed) {
  const auto error = [](const std::string& type) {
    OnnxBuilder model;
    model.input("x", {4});
    own(model, type, {"x"}, "y");
    model.output("y");
    return conversion_error(model, options_for("y", {"x"}));
  };
  EXPECT_CONTAINS(error("Opaque"), "(mine:Opaque): the operator has no gradient rule");
  EXPECT_CONTAINS(error("Wrong0"), "reads 'z', which is neither an input nor an output");
  EXPECT_CONTAINS(error("Wrong1"), "the formula 'dx = Mul(dy x)' has 'x)', expected ')'");
  EXPECT_CONTAINS(error("Wrong2"),
                  "operator mine:Nothing, which a rule of this node writes, is not");
  EXPECT_CONTAINS(error("Wrong3"), "its gradient: input 0 ('x') has none");
  EXPECT_CONTAINS(error("Wrong4"), "the rule gives input 0 one of extents [1], expected [4]");
  EXPECT_CONTAINS(error("Wrong5"), "expected a text that ends with '\"'");
  EXPECT_CONTAINS(error("Wrong6"), "has 'one>(dy)', expected a number");
  EXPECT_CONTAINS(error("Wrong7"), "expected numbers or texts in a list, not both");
  EXPECT_CONTAINS(error("Wrong8"), "expected numbers or texts in a list");
}

TEST(OwnGradients, AttributesMayBeLiterals) {
  const auto gradient = [](const std::string& type) {
    OnnxBuilder model;
    model.input("x", {2, 2});
    own(model, type, {"x"}, "y");
    model.output("y");
    SmallPlan plan(model, options_for("y", {"x"}));
    auto session = plan.open();
    EXPECT_TRUE(session.ok()) << plan.text(plan.diagnostic);
    if (!session.ok()) return std::vector<float>();
    write(*session, 0, {1, 2, 3, 4});
    run(plan, *session, kForward);
    write(*session, session->find_input("y_grad", kBackward).value(), {5, 6, 7, 8}, kBackward);
    run(plan, *session, kBackward);
    return read(*session, 0, kBackward);
  };
  EXPECT_EQ(gradient("Turn"), (std::vector<float>{5, 7, 6, 8}));
  EXPECT_EQ(gradient("Told"), (std::vector<float>{5, 6, 7, 8}));
  EXPECT_EQ(mine::Teller::numbers,
            (std::vector<float>{-3, 0.15F, 1, -20, 3, 0, 0.5F, -2.25F, 7, 0.5F}));
  EXPECT_EQ(mine::Teller::words, (Names{"a, b>", "c", ""}));
}

}  // namespace
}  // namespace intarsia::test
