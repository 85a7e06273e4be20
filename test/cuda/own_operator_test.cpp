// SPDX-License-Identifier: Apache-2.0
//
// CUDA kernels of a program's own: placed, captured and run as those of the library.
#include "test/cuda/own_operator.h"
#include "test/cuda/cuda_plan.h"
#include "test/operators/own_library.h"

namespace intarsia::test {
namespace {

using Floats = std::vector<float>;
using converter::contains;

/// y = Exp(Blend(Neg(x), bias)), n elements.
OnnxBuilder blend(int64_t n, bool bias) {
  OnnxBuilder model;
  model.input("x", {n});
  model.output("y");
  model.floats("b", {1}, {0.5F});
  model.node("Neg", {"x"}, {"h"});
  const std::vector<std::string> inputs =
      bias ? std::vector<std::string>{"h", "b"} : std::vector<std::string>{"h"};
  auto& node = model.node("Blend", inputs, {"s"});
  node.set_domain("own");
  OnnxBuilder::set(node, "gain", 0.25F);
  model.node("Exp", {"s"}, {"y"});
  return model;
}

/// Every kernel that a program with these operators links for the device.
template <class... Ks>
Result<cuda::Session> open(CudaPlan& plan, const ConvertOptions& options) {
  static const KernelSet library = cuda::all_kernels();
  static const KernelSet own = kernel_set<OperatorKernel<Ks>...>();
  static const std::vector<const Kernel*> both = [] {
    std::vector<const Kernel*> rows(library.kernels.begin(), library.kernels.end());
    rows.insert(rows.end(), own.kernels.begin(), own.kernels.end());
    std::sort(rows.begin(), rows.end(),
              [](const Kernel* a, const Kernel* b) { return a->key < b->key; });
    return rows;
  }();
  return cuda::Session::open(plan.plan(), plan.memory(),
                             {options.operators().kernels(), {both, {}}}, plan.options(),
                             &plan.diagnostic);
}

TEST(OwnCudaOperator, CUS_09_RunsOnTheSessionsStreamInItsGraph) {
  auto& emulator = emulation::Emulator::get();
  const ConvertOptions options = options_with<own::Operators>();
  for (const auto order : {emulation::Order::kForward, emulation::Order::kShuffled}) {
    for (const int64_t n : {1, 64, 130}) {
      for (const bool bias : {false, true}) {
        emulator.reset(order);
        CudaPlan plan(blend(n, bias), options);
        EXPECT_TRUE(plan.conversion.warnings.empty()) << plan.conversion.warnings.front();
        auto session = open<own::BlendOnDevice>(plan, options);
        ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
        EXPECT_EQ(session->graph_count(), 1) << "captured with its neighbours";
        SmallPlan cpu(blend(n, bias), options);
        auto expected = cpu.open();
        ASSERT_TRUE(expected.ok()) << cpu.text(cpu.diagnostic);
        for (const unsigned seed : {1u, 2u}) {  // what a capture kept would show in the second
          const Floats found = outputs_of(*session, seed);
          const Floats wanted = outputs_of(*expected, seed);
          ASSERT_EQ(found.size(), static_cast<size_t>(n));
          for (size_t i = 0; i < found.size(); ++i) {
            ASSERT_NEAR(found[i], wanted[i], 1e-5F * (1 + std::fabs(wanted[i]))) << i;
          }
        }
        EXPECT_TRUE(emulator.violations().empty()) << emulator.violations().front();
      }
    }
  }
}

TEST(OwnCudaOperator, CUS_09_ALaunchThatFailsNamesItsNode) {
  constexpr int kIllegalAddress = 700;
  auto& emulator = emulation::Emulator::get();
  emulator.reset();
  const ConvertOptions options = options_with<own::Operators>();
  CudaPlan plan(blend(4, true), options);
  emulator.fail(0, 0);
  ASSERT_TRUE(open<own::BlendOnDevice>(plan, options).ok()) << plan.text(plan.diagnostic);
  const int calls = emulator.calls();
  int launches = 0;
  for (int call = 1; call <= calls; ++call) {
    emulator.fail(call, kIllegalAddress);
    const auto session = open<own::BlendOnDevice>(plan, options);
    if (session.ok() || plan.diagnostic.node < 0) continue;
    launches += contains(plan.text(plan.diagnostic),
                         "(own:Blend): CUDA error 700: an illegal memory access was encountered")
                    ? 1
                    : 0;
  }
  EXPECT_EQ(launches, 2) << "Blend launches twice";
  emulator.fail(0, 0);
}

TEST(OwnCudaOperator, CUS_06_APlanNamesTheKernelOfItsDevice) {
  emulation::Emulator::get().reset();
  const ConvertOptions options = options_with<own::Operators>();
  CudaPlan plan(blend(4, true), options);
  const auto session = open<own::LoudRelu>(plan, options);
  EXPECT_EQ(session.status().code(), Code::kMissingKernel);
  EXPECT_CONTAINS(plan.text(plan.diagnostic), "own:Blend.cuda<float>");
}

TEST(OwnCudaOperator, CUS_06_WithoutAKernelForTheDeviceANodeStaysOnTheHost) {
  const CudaPlan plan(blend(4, true), options_with<OperatorList<own::BlendOnHost>>());
  ASSERT_EQ(plan.conversion.warnings.size(), 1U);
  EXPECT_CONTAINS(plan.conversion.warnings[0], "(own:Blend) runs on the CPU: no CUDA kernel");
}

TEST(OwnCudaOperator, CUS_06_WhatNoKernelServesIsAnsweredWithThoseOfEachDevice) {
  const ConvertOptions options =
      options_with<OperatorList<own::Step<int32_t>, own::StepOnDevice<int64_t>>>();
  const auto step = [](DataType type) {
    OnnxBuilder model;
    model.input("x", {3});
    model.input("step", {1}, type);
    model.output("y");
    model.node("Step", {"x", "step"}, {"y"}).set_domain("own");
    return model;
  };
  EXPECT_EQ(conversion_error(step(DataType::kInt32), options), "");
  EXPECT_EQ(conversion_error(step(DataType::kInt64), for_cuda(options)), "");
  EXPECT_EQ(conversion_error(step(DataType::kInt64), options),
            "node 'Step1' (own:Step): no kernel for T = float, I = int64 on the CPU; there are "
            "kernels for T = float, I = int32 on the CPU; T = float, I = int64 on CUDA");
}

/// y = Exp(Twice(Neg(x))); `again`: what Twice reads is an output as well.
OnnxBuilder twice(bool again) {
  OnnxBuilder model;
  model.input("x", {3});
  model.output("y");
  if (again) model.output("h");
  model.node("Neg", {"x"}, {"h"});
  model.node("Twice", {"h"}, {"t"}).set_domain("own");
  model.node("Exp", {"t"}, {"y"});
  return model;
}

TEST(OwnCudaOperator, CUS_11_AKernelOfTheDeviceAloneRunsThereInTheMemoryOfItsInput) {
  const ConvertOptions options = options_with<OperatorList<own::Twice>>();
  for (const bool again : {false, true}) {
    emulation::Emulator::get().reset();
    CudaPlan plan(twice(again), options);
    EXPECT_TRUE(plan.conversion.warnings.empty()) << plan.conversion.warnings.front();
    auto session = open<own::Twice>(plan, options);
    ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
    EXPECT_EQ(session->graph_count(), 1);
    EXPECT_EQ(own::Twice::in_place, !again);
    const Floats x{-1, 0, 0.5F};
    std::copy(x.begin(), x.end(), session->input<float>(0).value().begin());
    ASSERT_TRUE(session->run().ok());
    const auto y = session->output<float>(0).value();
    for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(y[i], std::exp(-2 * x[i]), 1e-5F) << i;
    EXPECT_TRUE(emulation::Emulator::get().violations().empty());
  }
}

TEST(OwnCudaOperator, AKernelOfTheDeviceAloneIsNotRunForConstants) {
  emulation::Emulator::get().reset();
  const ConvertOptions options = options_with<OperatorList<own::Twice>>();
  OnnxBuilder model;
  model.input("x", {3});
  model.output("y");
  model.floats("c", {3}, {1, 2, 3});
  model.node("Twice", {"c"}, {"t"}).set_domain("own");
  model.node("Add", {"t", "x"}, {"y"});
  CudaPlan plan(model, options);
  auto session = open<own::Twice>(plan, options);
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  std::fill_n(session->input<float>(0).value().begin(), 3, 0.5F);
  ASSERT_TRUE(session->run().ok());
  const auto y = session->output<float>(0).value();
  EXPECT_EQ(Floats(y.begin(), y.end()), (Floats{2.5F, 4.5F, 6.5F}));
}

TEST(OwnCudaOperator, CUS_06_WithoutAKernelForTheHostWhatStaysThereIsRefused) {
  const ConvertOptions options = options_with<OperatorList<own::Twice>>();
  const std::string refusal =
      "node 'Twice2' (own:Twice): no kernel for T = float on the CPU; there are kernels for "
      "T = float on CUDA";
  EXPECT_EQ(conversion_error(twice(false), options), refusal);
  // Its extents vary, so that it stays on the host.
  OnnxBuilder varying;
  varying.input("x", {3});
  varying.output("y");
  varying.node("NonZero", {"x"}, {"places"});
  auto& cast = varying.node("Cast", {"places"}, {"h"});
  OnnxBuilder::set(cast, "to", static_cast<int64_t>(DataType::kFloat));
  varying.node("Twice", {"h"}, {"y"}).set_domain("own");
  EXPECT_CONTAINS(conversion_error(varying, for_cuda(options)),
                  "(own:Twice): no kernel for T = float on the CPU; there are kernels for T = "
                  "float on CUDA");
}

/// y = the first `count` elements of -x, backwards, times `factor`; a factor that varies is an
/// input. A kernel of the library turns x round, by a constant of its own.
OnnxBuilder leading(int64_t count, bool varies) {
  OnnxBuilder model;
  model.input("x", {8});
  model.output("y");
  const int64_t order[] = {7, 6, 5, 4, 3, 2, 1, 0};
  model.initializer("order", DataType::kInt64, {8}, order, sizeof(order));
  model.initializer("count", DataType::kInt64, {1}, &count, sizeof(count));
  if (varies) {
    model.input("factor", {});
  } else {
    model.floats("factor", {}, {0.5F});
  }
  model.node("Gather", {"x", "order"}, {"turned"});
  model.node("Neg", {"turned"}, {"h"});
  model.node("Leading", {"h", "count", "factor"}, {"y"}).set_domain("own");
  return model;
}

TEST(OwnCudaOperator, CUS_09_NumbersOfTheHostAreConstantsOfTheModel) {
  const ConvertOptions options = options_with<own::Operators>();
  for (const int64_t count : {1, 5}) {
    emulation::Emulator::get().reset();
    CudaPlan plan(leading(count, false), options);
    ASSERT_EQ(plan.conversion.warnings.size(), 0U) << plan.conversion.warnings[0];
    auto session = open<own::LeadingOnDevice>(plan, options);
    ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
    EXPECT_EQ(session->graph_count(), 1);
    for (const float step : {1.0F, 2.0F}) {
      const auto x = session->input<float>(0).value();
      for (size_t i = 0; i < x.size(); ++i) x[i] = step * static_cast<float>(i + 1);
      ASSERT_TRUE(session->run().ok()) << plan.text(session->diagnostic());
      const auto y = session->output<float>(0).value();
      ASSERT_EQ(y.size(), static_cast<size_t>(count));
      for (size_t i = 0; i < y.size(); ++i) {
        EXPECT_EQ(y[i], -0.5F * step * static_cast<float>(8 - i)) << i;
      }
    }
    EXPECT_TRUE(emulation::Emulator::get().violations().empty());
  }
}

/// The converter never makes such a plan: here it does not ask whether the number is a constant.
TEST(OwnCudaOperator, CUS_09_APlanWhoseNumberIsNoConstantIsRefused) {
  emulation::Emulator::get().reset();
  auto extension = extension_with<own::Operators>("own");
  for (auto& row : extension->kernels) row.supports = nullptr;
  const ConvertOptions options = options_with({extension});
  CudaPlan plan(leading(3, true), options);
  EXPECT_EQ(open<own::LeadingOnDevice>(plan, options).status().code(), Code::kCorruptPlan);
  EXPECT_CONTAINS(plan.text(plan.diagnostic), "(own:Leading): a scalar that is no constant");
}

TEST(OwnCudaOperator, CUS_09_ANumberThatTheModelComputesKeepsTheNodeOnTheHost) {
  emulation::Emulator::get().reset();
  const ConvertOptions options = options_with<own::Operators>();
  CudaPlan plan(leading(3, true), options);
  ASSERT_EQ(plan.conversion.warnings.size(), 1U);
  EXPECT_CONTAINS(plan.conversion.warnings[0], "(own:Leading) runs on the CPU");
  auto session = open<own::LeadingOnDevice>(plan, options);
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  for (const float factor : {2.0F, 3.0F}) {
    std::fill_n(session->input<float>(0).value().begin(), 8, 1.0F);
    session->input<float>(1).value()[0] = factor;
    ASSERT_TRUE(session->run().ok());
    EXPECT_EQ(session->output<float>(0).value()[2], -factor);
  }
}

OnnxBuilder relu() {
  OnnxBuilder model;
  model.input("x", {3});
  model.output("y");
  model.node("Relu", {"x"}, {"y"});
  return model;
}

TEST(OwnCudaOperator, AReplacementOnTheDeviceRunsThere) {
  emulation::Emulator::get().reset();
  const ConvertOptions options = options_with<OperatorList<own::LoudRelu>>();
  CudaPlan plan(relu(), options);
  auto session = open<own::LoudRelu>(plan, options);
  ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
  const Floats x{-1, 2, 3};
  std::copy(x.begin(), x.end(), session->input<float>(0).value().begin());
  ASSERT_TRUE(session->run().ok());
  const auto y = session->output<float>(0).value();
  EXPECT_EQ(Floats(y.begin(), y.end()), (Floats{0, 1002, 1003}));
}

TEST(OwnCudaOperator, AReplacementOfTheHostKeepsTheNodeThere) {
  EXPECT_EQ(CudaPlan(relu()).summary().segments, 1U) << "the negative control";
  const CudaPlan plan(relu(), options_with<OperatorList<own::LoudReluOnHost>>());
  EXPECT_EQ(plan.summary().segments, 0U);
}

}  // namespace
}  // namespace intarsia::test
