// SPDX-License-Identifier: Apache-2.0
//
// A whole model over the emulator equals the CPU's plan within 1e-3 of the output's scale:
//
//     test_cuda_model FOLDER      with FOLDER/model.onnx
#include "test/cuda/cuda_plan.h"

namespace intarsia::test {
namespace {

std::string folder;

std::vector<float> result_of(const ConvertOptions& options, bool on_device) {
  const auto result = converter::convert_file(folder + "/model.onnx", options);
  const auto* conversion = std::get_if<converter::Conversion>(&result);
  if (conversion == nullptr) {
    ADD_FAILURE() << std::get<converter::ConversionFailure>(result).text();
    return {};
  }
  for (const std::string& warning : conversion->warnings) ADD_FAILURE() << warning;
  const converter::PlanSummary& summary = conversion->plan.summary;
  tool::AlignedBytes plan(conversion->plan.bytes.size()), arena(summary.arena_bytes);
  std::copy(conversion->plan.bytes.begin(), conversion->plan.bytes.end(), plan.span().begin());
  DeviceBytes device_arena(summary.device_arena_bytes), weights(summary.device_weights_bytes);
  emulation::Stream stream;
  cuda::Options session_options;
  session_options.stream = &stream;
  Diagnostic diagnostic;
  auto session =
      cuda::Session::open(plan.span(), {arena.span(), device_arena.span(), weights.span()},
                          {tool::all_kernels(), cuda::all_kernels()}, session_options, &diagnostic);
  EXPECT_TRUE(session.ok()) << tool::describe_text(diagnostic, plan.span());
  EXPECT_EQ(session->graph_count(), on_device ? 1 : 0);
  return session.ok() ? outputs_of(*session, 1) : std::vector<float>();
}

TEST(CudaModel, EqualsTheCpuAsOneGraph) {
  auto& emulator = emulation::Emulator::get();
  emulator.reset();
  const std::vector<float> wanted = result_of({}, false);
  const std::vector<float> found = result_of(for_cuda(), true);
  EXPECT_EQ(emulator.graph_launches(), 1u);
  EXPECT_TRUE(emulator.violations().empty()) << emulator.violations().front();
  ASSERT_EQ(found.size(), wanted.size());
  float scale = 0, largest = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    scale = std::max(scale, std::fabs(wanted[i]));
    largest = std::max(largest, std::fabs(found[i] - wanted[i]));
  }
  RecordProperty("relative_error", std::to_string(largest / scale));
  EXPECT_GT(scale, 0.01f);
  EXPECT_LE(largest, 1e-3f * scale);
}

}  // namespace
}  // namespace intarsia::test

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (argc != 2) return 2;
  intarsia::test::folder = argv[1];
  return RUN_ALL_TESTS();
}
