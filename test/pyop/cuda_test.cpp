// SPDX-License-Identifier: Apache-2.0
//
// Python operators in plans for CUDA: they compute on the host, and the converter plans the copies.
#include "test/cuda/cuda_plan.h"
#include "test/pyop/pyop_fixture.h"

namespace intarsia::test {
namespace {

using Floats = std::vector<float>;

/// y = -Class(-x)
OnnxBuilder between_device_nodes(OnnxBuilder model, const char* type, const char* domain) {
  model.input("x", {2, 3});
  model.node("Neg", {"x"}, {"a"});
  model.node(type, {"a"}, {"b"}).set_domain(domain);
  model.node("Neg", {"b"}, {"y"});
  model.output("y");
  return model;
}

void expect_host_arrays(const OnnxBuilder& model, const converter::ConvertOptions& options,
                        std::span<const Service> services) {
  for (const auto order : {emulation::Order::kForward, emulation::Order::kShuffled}) {
    emulation::Emulator::get().reset(order);
    CudaPlan plan(model, options);
    ASSERT_EQ(plan.conversion.warnings.size(), 1U) << "one node on the host";
    EXPECT_CONTAINS(plan.conversion.warnings[0], "runs on the CPU");
    cuda::Options on_device = plan.options();
    on_device.host.services = services;
    auto session =
        cuda::Session::open(plan.plan(), plan.memory(), {kernels_with_pyop(), cuda::all_kernels()},
                            on_device, &plan.diagnostic);
    ASSERT_TRUE(session.ok()) << plan.text(plan.diagnostic);
    EXPECT_EQ(session->graph_count(), 2) << "before and behind the operator";
    for (const float step : {1.0F, 2.0F}) {
      const auto x = session->input<float>(0).value();
      for (size_t i = 0; i < x.size(); ++i) x[i] = step * static_cast<float>(i);
      ASSERT_TRUE(session->run().ok()) << plan.text(session->diagnostic());
      const auto y = session->output<float>(0).value();
      for (size_t i = 0; i < y.size(); ++i)
        EXPECT_EQ(y[i], 3 * step * static_cast<float>(i) - 1) << i;
    }
    EXPECT_TRUE(emulation::Emulator::get().violations().empty());
  }
}

constexpr const char* kTriples = R"(
import numpy
class Triples:
    domain = "user"
    inputs, outputs = ["x: float32"], ["y"]
    def infer(self, inputs):
        return inputs[0]
    def compute(self, x):
        assert type(x) is numpy.ndarray and x.shape == (2, 3) and x.flags.c_contiguous
        assert not x.flags.writeable
        return 3 * x + 1
    def forward(self, inputs):
        return self.compute(inputs[0])
)";

TEST_F(Pyop, OFK_13_OnCudaAPyOpGetsHostArrays) {
  module(kTriples);
  OnnxBuilder model;
  OnnxBuilder whole = between_device_nodes(model, "PyOp", "pyop");
  auto& node = *whole.graph().mutable_node(1);
  OnnxBuilder::set(node, "module", module_.c_str());
  OnnxBuilder::set(node, "class_name", "Triples");
  for (const char* side : {"input_types", "output_types"}) {
    OnnxBuilder::set(node, side, std::vector<int64_t>{1});
  }
  expect_host_arrays(whole, allowed(), services());
}

TEST_F(Pyop, OFK_13_OnCudaAnOperatorOfAFileGetsHostArrays) {
  module(kTriples);
  converter::ConvertOptions options;
  options.library = converter::load_operators({(folder_ / (module_ + ".py")).string()}, {});
  expect_host_arrays(between_device_nodes(OnnxBuilder(), "Triples", "user"), options, services());
}

}  // namespace
}  // namespace intarsia::test
