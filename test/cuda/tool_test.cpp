// SPDX-License-Identifier: Apache-2.0
//
// What the command does with plans for CUDA, over the emulator: a Program opens and runs them.
#include <fstream>

#include "converter/tool/program.h"
#include "test/cuda/cuda_plan.h"

namespace intarsia::test {
namespace {

/// A model as a file, for what reads files.
class ModelFile {
 public:
  ModelFile(const OnnxBuilder& model, const std::string& name) : path_(name + ".onnx") {
    std::ofstream(path_, std::ios::binary) << model.bytes();
  }
  ~ModelFile() { std::filesystem::remove(path_); }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::vector<float> run(tool::Program& program) {
  program.set_inputs(program.completed({}));
  program.run();
  std::vector<float> values;
  for (const auto& [name, value] : program.outputs()) {
    const auto* data = reinterpret_cast<const float*>(value.data.get());
    values.insert(values.end(), data, data + value.size / sizeof(float));
  }
  return values;
}

tool::Program::Options on_device() {
  tool::Program::Options options;
  options.conversion = for_cuda();
  options.open_on_device = tool::open_on_device();
  return options;
}

TEST(CudaTool, AProgramRunsAsOnTheCpu) {
  auto& emulator = emulation::Emulator::get();
  emulator.reset();
  const ModelFile model(with_a_host_node(), "cuda_tool_runs");
  tool::Program cpu(model.path(), {}, {});
  EXPECT_EQ(cpu.session().graph_count(), 0);
  EXPECT_FALSE(cpu.uses_device());
  const std::vector<float> wanted = run(cpu);
  {
    tool::Program device(model.path(), {}, on_device());
    EXPECT_EQ(device.session().graph_count(), 2);
    EXPECT_TRUE(device.uses_device());
    const std::vector<float> found = run(device);
    ASSERT_EQ(found.size(), wanted.size());
    for (size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], wanted[i], 1e-3f) << i;
    EXPECT_EQ(emulator.graph_launches(), 2u);
  }
  EXPECT_EQ(emulator.held(), 0);
  EXPECT_TRUE(emulator.violations().empty());
}

TEST(CudaTool, GraphsAreLaunchedAlone) {
  auto& emulator = emulation::Emulator::get();
  emulator.reset();
  const ModelFile model(with_a_host_node(), "cuda_tool_graphs");
  tool::Program program(model.path(), {}, on_device());
  const std::vector<float> wanted = run(program);
  const uint64_t before = emulator.graph_launches();
  ASSERT_TRUE(program.session().launch_graphs(0, 3).ok());
  EXPECT_EQ(emulator.graph_launches() - before, 6u);
  EXPECT_EQ(run(program), wanted);
}

TEST(CudaTool, AnErrorOfALaunchHasItsText) {
  auto& emulator = emulation::Emulator::get();
  emulator.reset();
  const ModelFile model(two_layers(), "cuda_tool_error");
  tool::Program program(model.path(), {}, on_device());
  emulator.fail(1, 700);
  EXPECT_FALSE(program.session().launch_graphs(0, 1).ok());
  EXPECT_NE(program.failure().find("CUDA error 700: an illegal memory access was encountered"),
            std::string::npos)
      << program.failure();
}

TEST(CudaTool, APlanForCudaNeedsADevice) {
  emulation::Emulator::get().reset();
  const ModelFile model(two_layers(), "cuda_tool_refused");
  tool::Program::Options options = on_device();
  options.open_on_device = nullptr;
  try {
    tool::Program program(model.path(), {}, options);
    FAIL();
  } catch (const converter::Error& error) {
    EXPECT_NE(std::string(error.what()).find("a plan for CUDA needs intarsia::cuda::Session"),
              std::string::npos)
        << error.what();
  }
}

TEST(CudaTool, WhatDeviceCodeFindsInLaunchesAloneConcernsNoRun) {
  emulation::Emulator::get().reset();
  OnnxBuilder builder;
  builder.input("x", {2, 3, 3});
  builder.output("y");
  builder.node("Inverse", {"x"}, {"y"}).set_domain("com.microsoft");
  const ModelFile model(builder, "cuda_tool_report");
  tool::Program program(model.path(), {}, on_device());
  ASSERT_EQ(program.session().graph_count(), 1);
  const std::vector<float> wanted = run(program);
  tool::Values zeros = program.completed({});
  for (auto& [name, value] : zeros) {
    value = converter::Constant::own(DataType::kFloat, {2, 3, 3}, std::vector<std::byte>(72));
  }
  program.set_inputs(zeros);
  EXPECT_THROW(program.run(), converter::Error);
  ASSERT_TRUE(program.session().launch_graphs(0, 2).ok());
  EXPECT_EQ(run(program), wanted);
}

}  // namespace
}  // namespace intarsia::test
