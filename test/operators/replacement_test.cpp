// SPDX-License-Identifier: Apache-2.0
//
// Kernels of the program's own in the place of others (OperatorInfo::replaces). Each gives a result
// that no other kernel gives, so that a test sees which one has run.
#include "converter/plugin/operator_extension.h"
#include "core/operators/nn/conv.h"
#include "test/operators/sample_models.h"

namespace replacing {

using namespace intarsia;  // NOLINT: a user's file would do the same

/// Relu, and 1000 more.
template <class T>
struct Relu {
  static constexpr OperatorInfo info{
      .name = "Relu", .inputs = {"X"}, .outputs = {"Y"}, .in_place = {0}, .replaces = "loud"};
  static void run(Input<T> x, Output<T> y) {
    for (int64_t i = 0; i < x.size(); ++i) y[i] = x[i] > T(0) ? x[i] + T(1000) : T(0);
  }
};

struct Sigmoid : Relu<float> {
  static constexpr OperatorInfo info{
      .name = "Sigmoid", .inputs = {"X"}, .outputs = {"Y"}, .replaces = "loud"};
};

/// A convolution over one axis without padding, and half as much again as it should be.
struct Conv {
  static constexpr OperatorInfo info{
      .name = "Conv", .inputs = {"X", "W", "B"}, .outputs = {"Y"}, .replaces = "loud"};
  using Attributes = ConvAttributes;
  template <class S>
  static Status infer(S& s) {
    return ops::Conv::infer(s);
  }
  static bool supports(const KernelContext& context) {
    const auto& a = context.attributes<ConvAttributes>();
    return context.input(0).rank == 3 && a.group == 1 && a.window.pads.count == 0;
  }
  static void run(const Attributes& attributes, Input<float> x, Input<float> w,
                  Optional<Input<float>> b, Output<float> y) {
    const auto stride = attributes.window.stride(0);
    for (int64_t i = 0; i < y.size(); ++i) {
      const int64_t at = i % y.dim(2) * stride, filter = i / y.dim(2) % y.dim(1);
      const int64_t image = i / y.dim(2) / y.dim(1);
      float sum = b ? (*b)[filter] : 0;
      for (int64_t c = 0; c < x.dim(1); ++c) {
        for (int64_t k = 0; k < w.dim(2); ++k) {
          sum += x[(image * x.dim(1) + c) * x.dim(2) + at + k] *
                 w[(filter * w.dim(1) + c) * w.dim(2) + k];
        }
      }
      y[i] = sum * 1.5F;
    }
  }
};

/// The sample operator of that name, ten times as much.
struct Halve {
  static constexpr OperatorInfo info{
      .domain = "sample", .name = "Halve", .inputs = {"x"}, .outputs = {"y"}, .replaces = "loud"};
  static void run(Input<float> x, Output<float> y) {
    for (int64_t i = 0; i < y.size(); ++i) y[i] = 10 * x[i];
  }
};

/// A convolution that tells the order of axes that it is given: 1 for ONNX's.
struct Order {
  static constexpr OperatorInfo info{
      .name = "Conv", .inputs = {"X", "W", "B"}, .outputs = {"Y"}, .replaces = "order"};
  using Attributes = ConvAttributes;
  template <class S>
  static Status infer(S& s) {
    return ops::Conv::infer(s);
  }
  static void run(const Attributes& attributes, Input<float> x, Input<float> w,
                  Optional<Input<float>>, Output<float> y) {
    const bool onnx = attributes.channels_last == 0 && x.dim(1) == w.dim(1);
    for (int64_t i = 0; i < y.size(); ++i) y[i] = onnx ? 1 : -1;
  }
};

/// Relu with an object: the runs of this node.
struct Counting {
  static constexpr OperatorInfo info = Relu<float>::info;
  void run(Input<float>, Output<float> y) {
    ++runs;
    for (int64_t i = 0; i < y.size(); ++i) y[i] = static_cast<float>(runs);
  }
  Counting() { ++made; }
  static inline int made = 0;
  int runs = 0;
};

struct Versioned {
  static constexpr OperatorInfo info{.domain = "sample",
                                     .name = "Versioned",
                                     .since_version = 2,
                                     .until_version = 3,
                                     .inputs = {"x"},
                                     .outputs = {"y"},
                                     .replaces = "loud"};
  static void run(Input<float> x, Output<float> y) {
    for (int64_t i = 0; i < y.size(); ++i) y[i] = x[i] + 1000;
  }
};

// What is refused.
template <class T>
struct Quiet : Relu<T> {
  static constexpr OperatorInfo info{
      .name = "Relu", .inputs = {"X"}, .outputs = {"Y"}, .replaces = "quiet"};
};
struct Unknown {
  static constexpr OperatorInfo info{
      .name = "Rellu", .inputs = {"X"}, .outputs = {"Y"}, .replaces = "mine"};
  static void run(Input<float>, Output<float>) {}
};
struct FewOperands {
  static constexpr OperatorInfo info{
      .name = "Conv", .inputs = {"X", "W"}, .outputs = {"Y"}, .replaces = "mine"};
  static void run(Input<float>, Input<float>, Output<float>) {}
};
struct NoAttributesRead {
  static constexpr OperatorInfo info{
      .name = "LeakyRelu", .inputs = {"X"}, .outputs = {"Y"}, .replaces = "mine"};
  static void run(Input<float>, Output<float>) {}
};
struct MemberElsewhere : NoAttributesRead {
  struct Attributes {
    int32_t unused = 0;
    float alpha = 0;
    template <class V>
    void fields(V& v) {
      v("unused", unused);
      v("alpha", alpha);
    }
  };
};
/// As many bytes as there are, in another order.
struct Swapped : NoAttributesRead {
  static constexpr OperatorInfo info{
      .name = "HardSigmoid", .inputs = {"X"}, .outputs = {"Y"}, .replaces = "mine"};
  struct Attributes {
    float beta = 0.5F;
    float alpha = 0.2F;
    template <class V>
    void fields(V& v) {
      v("beta", beta);
      v("alpha", alpha);
    }
  };
};
struct View {
  static constexpr OperatorInfo info{
      .name = "Identity", .inputs = {"input"}, .outputs = {"output"}, .replaces = "mine"};
  static void run(Input<float>, Output<float>) {}
};

/// An operator that the converter makes of others: the first input, and 1000 more.
template <class T>
struct CastLike {
  static constexpr OperatorInfo info{.name = "CastLike",
                                     .inputs = {"input", {"target_type", "T2"}},
                                     .outputs = {"output"},
                                     .replaces = "loud"};
  struct Attributes {
    int32_t saturate = 1;
    template <class V>
    void fields(V& v) {
      v("saturate", saturate);
    }
  };
  static void run(Input<T> x, Input<Any>, Output<T> y) {
    for (int64_t i = 0; i < x.size(); ++i) y[i] = x[i] + T(1000);
  }
};

}  // namespace replacing

namespace intarsia::test {
namespace {

using converter::contains;
using converter::OnnxBuilder;
using Floats = std::vector<float>;

template <class... Ks>
std::shared_ptr<const converter::Extension> extension_of(const char* name) {
  return extension_with<OperatorList<Ks...>>(name);
}
template <class... Ks>
converter::ConvertOptions with() {
  return options_with({extension_of<Ks...>("mine")});
}
template <class... Ks>
std::string refusal() {
  try {
    with<Ks...>();
  } catch (const converter::Error& error) {
    return error.what();
  }
  return "";
}

OnnxBuilder relu() {
  OnnxBuilder model;
  model.input("x", {3});
  model.output("y");
  model.node("Relu", {"x"}, {"y"});
  return model;
}

TEST(Replacement, CUS_06_AKernelOfOnesOwnTakesThePlaceOfABuiltInOne) {
  EXPECT_EQ(run_once(relu(), {-1, 2, 3}, {}), (Floats{0, 2, 3})) << "the negative control";
  EXPECT_EQ(run_once(relu(), {-1, 2, 3}, with<replacing::Relu<float>>()), (Floats{0, 1002, 1003}));
}

TEST(Replacement, OtherTypesKeepTheirKernels) {
  SmallPlan plan(relu(), with<replacing::Relu<double>>());
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  write(*session, 0, {-1, 2, 3});
  ASSERT_TRUE(session->run().ok());
  EXPECT_EQ(read(*session, 0), (Floats{0, 2, 3}));
}

TEST(Replacement, APlanNamesTheKernelThatABuildLacks) {
  SmallPlan plan(relu(), with<replacing::Relu<float>>());
  Diagnostic diagnostic;
  const auto session =
      Session::open(plan.plan(), plan.arena(), tool::all_kernels(), {}, &diagnostic);
  EXPECT_EQ(session.status().code(), Code::kMissingKernel);
  EXPECT_CONTAINS(plan.text(diagnostic), "Relu.loud<float>");
}

/// y = Relu(Conv(x) + 1): what passes would make one node.
OnnxBuilder convolution(const std::vector<int64_t>& weights = {1, 1, 2}) {
  OnnxBuilder model;
  model.input("x", {1, 1, 5});
  model.output("y");
  model.floats("w", weights, {1, 2});
  model.floats("b", {1}, {-7});
  model.floats("one", {1}, {1});
  OnnxBuilder::set(model.node("Conv", {"x", "w", "b"}, {"c"}), "strides", std::vector<int64_t>{2});
  model.node("Add", {"c", "one"}, {"s"});
  model.node("Relu", {"s"}, {"y"});
  return model;
}

TEST(Replacement, NothingIsFusedWithTheNodeOfAReplacement) {
  const Floats x{1, 2, 3, 4, 5};
  // 1 + 2 2 - 7 + 1, 3 + 4 2 - 7 + 1
  EXPECT_EQ(run_once(convolution(), x, {}), (Floats{0, 5}));
  EXPECT_EQ(run_once(convolution(), x, with<replacing::Conv>()), (Floats{0, 7}));
  EXPECT_EQ(run_once(convolution(), x, with<replacing::Relu<float>>()), (Floats{0, 1005}));
  EXPECT_EQ(run_once(convolution(), x, with<replacing::Conv, replacing::Relu<float>>()),
            (Floats{0, 1007}));
}

TEST(Replacement, APatternThatPassesKnowKeepsTheNode) {
  // x * Sigmoid(x) is Swish, unless Sigmoid has a kernel of its own.
  OnnxBuilder model;
  model.input("x", {1});
  model.output("y");
  model.node("Sigmoid", {"x"}, {"s"});
  model.node("Mul", {"x", "s"}, {"y"});
  EXPECT_EQ(run_once(model, {2}, with<replacing::Sigmoid>()), (Floats{2004}));
}

TEST(Replacement, WhatItDoesNotSupportTheOthersServe) {
  OnnxBuilder model;
  model.input("x", {1, 1, 3});
  model.output("y");
  model.floats("w", {1, 1, 2}, {1, 1});
  OnnxBuilder::set(model.node("Conv", {"x", "w"}, {"y"}), "pads", std::vector<int64_t>{1, 0});
  EXPECT_EQ(run_once(model, {1, 2, 3}, with<replacing::Conv>()), (Floats{1, 3, 5}));
}

TEST(Replacement, ShapesGradientsAndConstantsAreTheOperators) {
  OnnxBuilder model;
  symbol(model.input("x", {0}), 0, "n");
  model.output("y");
  model.node("Relu", {"x"}, {"y"});
  converter::ConvertOptions options = with<replacing::Relu<float>>();
  options.dims["n"] = converter::DimRange{1, 8};
  options.gradients.push_back({"y", {"x"}});
  SmallPlan plan(model, options);
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  const int32_t extents[] = {2};
  ASSERT_TRUE(session->resize_input(0, extents).ok());
  write(*session, 0, {-1, 2});
  ASSERT_TRUE(session->run().ok()) << plan.text(session->diagnostic());
  EXPECT_EQ(read(*session, 0), (Floats{0, 1002}));
  ASSERT_TRUE(session->resize_input(0, extents, 1).ok());
  write(*session, 0, {5, 7}, 1);  // the gradient of y
  ASSERT_TRUE(session->run(1).ok()) << plan.text(session->diagnostic());
  EXPECT_EQ(read(*session, 0, 1), (Floats{0, 7}));

  OnnxBuilder constant;
  constant.input("x", {2});
  constant.output("y");
  constant.floats("c", {2}, {-1, 2});
  constant.node("Relu", {"c"}, {"r"});
  constant.node("Add", {"r", "x"}, {"y"});
  EXPECT_EQ(run_once(constant, {0, 0}, with<replacing::Relu<float>>()), (Floats{0, 2}))
      << "folded by the yardstick";
}

TEST(Replacement, AnOperatorOfAnotherLibraryToo) {
  OnnxBuilder model;
  model.input("x", {4});
  model.output("y");
  sample_node(model, "Halve", {"x"}, {"y"});
  const converter::ConvertOptions options =
      options_with({extension_of<replacing::Halve>("mine"), extension_of<sample::Halve>("theirs")});
  EXPECT_EQ(run_once(model, {1, 2, 3, 4}, options), (Floats{10, 20, 30, 40}));
}

TEST(Replacement, AnOperatorThatIsMadeOfOthersBecomesANode) {
  for (const DataType type : {DataType::kFloat, DataType::kDouble}) {
    OnnxBuilder model;
    model.input("x", {2}, type);
    model.input("like", {1}, type);
    model.output("y");
    model.node("CastLike", {"x", "like"}, {"y"});
    SmallPlan plan(model, with<replacing::CastLike<float>, replacing::CastLike<double>>());
    auto session = plan.open();
    ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
    std::memset(session->input_port(0).value().tensor.data, 0, 8);
    ASSERT_TRUE(session->run().ok());
    const TensorView y = session->output_port(0).value().tensor;
    EXPECT_EQ(type == DataType::kFloat ? y.as<float>()[0] : y.as<double>()[0], 1000);
  }
}

TEST(Replacement, TheOrderOfAxesIsOnnxs) {
  OnnxBuilder model;
  model.input("x", {1, 8, 16, 16});
  model.output("y");
  model.floats("w", {16, 8, 3, 3}, Floats(16 * 8 * 9, 1));
  model.floats("v", {4, 16, 3, 3}, Floats(4 * 16 * 9, 1));
  model.node("Conv", {"x", "w"}, {"h"});
  model.node("Relu", {"h"}, {"r"});
  model.node("Conv", {"r", "v"}, {"y"});
  EXPECT_EQ(run_once(model, Floats(8 * 16 * 16, 1), with<replacing::Order>()),
            Floats(4 * 12 * 12, 1));
}

TEST(Replacement, WithAStateANodeIsNeitherFoldedNorMerged) {
  OnnxBuilder model;
  model.input("x", {1});
  model.output("y");
  model.floats("c", {1}, {5});
  model.node("Relu", {"x"}, {"a"});
  model.node("Relu", {"x"}, {"b"});
  model.node("Relu", {"c"}, {"d"});
  model.node("Sum", {"a", "b", "d"}, {"y"});
  SmallPlan plan(model, with<replacing::Counting>());
  replacing::Counting::made = 0;
  auto session = plan.open();
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  for (const float expected : {3.0F, 6.0F}) {
    write(*session, 0, {7});
    ASSERT_TRUE(session->run().ok());
    EXPECT_EQ(read(*session, 0), Floats{expected});
  }
  EXPECT_EQ(replacing::Counting::made, 3);
}

TEST(Replacement, AnotherVersionKeepsItsKernel) {
  const converter::ConvertOptions options =
      options_with({extension_of<replacing::Versioned>("mine"),
                    extension_of<sample::Versioned2, sample::Versioned5>("theirs")});
  for (const auto& [version, expected] : {std::pair(2, 1001.0F), std::pair(5, 6.0F)}) {
    OnnxBuilder model;
    model.input("x", {1});
    model.output("y");
    sample_node(model, "Versioned", {"x"}, {"y"}, version);
    EXPECT_EQ(run_once(model, {1}, options), Floats{expected}) << version;
  }
}

TEST(Replacement, TwoForOneKernelAreAmbiguous) {
  const auto load = [](const auto& second) {
    try {
      converter::OperatorLibrary({extension_of<replacing::Relu<float>>("one"), second});
    } catch (const converter::Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(load(extension_of<replacing::Quiet<float>>("two")),
            "one and two both replace the kernels of Relu: Relu.loud<float>, Relu.quiet<float>; "
            "load one of the two libraries only");
  EXPECT_EQ(load(extension_of<replacing::Quiet<double>>("two")), "");
  // In one library the order is that of preference.
  EXPECT_EQ(run_once(relu(), {-1, 2, 3}, with<replacing::Relu<float>, replacing::Quiet<float>>()),
            (Floats{0, 1002, 1003}));
}

TEST(Replacement, WhatDoesNotAgreeWithTheOperatorIsRefused) {
  EXPECT_EQ(refusal<replacing::Unknown>(),
            "mine: info.replaces: there is no operator Rellu whose kernels could be replaced; "
            "names like it: Relu; leave out info.replaces to define it");
  EXPECT_EQ(refusal<replacing::FewOperands>(),
            "mine: the kernel that replaces those of Conv: its inputs are [X, W], the operator's "
            "are [X, W, optional B]; take them all, in this order");
  EXPECT_EQ(refusal<replacing::NoAttributesRead>(),
            "mine: the kernel that replaces those of LeakyRelu: its Attributes are not laid out as "
            "the operator's: 4 bytes, alpha (4 bytes at 0); use the operator's own struct, from a "
            "header of core/operators/");
  EXPECT_CONTAINS(refusal<replacing::MemberElsewhere>(), "alpha (4 bytes at 0)");
  EXPECT_CONTAINS(refusal<replacing::Swapped>(), "alpha (4 bytes at 0), beta (4 bytes at 4)");
  EXPECT_EQ(refusal<replacing::View>(),
            "mine: info.replaces: no kernel executes Identity: its output is its input's memory; "
            "give the operator another domain");
}

}  // namespace
}  // namespace intarsia::test
